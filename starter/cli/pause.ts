/** `headroom pause`, `resume` and `pauses`: what Headroom may not write for, kept in a ConfigMap with the operator's rights. */
import type { Command } from 'commander';
import { controllerNames } from '../../domain/kernel/controllers.ts';
import { PAUSE_EVERYTHING, PAUSES, type PauseScope } from '../../domain/kernel/pause.ts';
import { storePause, upgradePause } from '../../domain/kernel/stored-pause.ts';
import { lightsOutId, quotaResizeId, quotaUsageId } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import type { Config } from '../config.ts';
import { withClient } from './connection.ts';
import { CommandFailed, print, type SharedOptions, userName } from './shared.ts';

/** A pause that Headroom itself may write: of everything is people's, with kubectl. */
type WrittenScope = Exclude<PauseScope, { kind: 'everything' }>;

interface Flags {
  readonly namespace?: string;
  readonly controller?: string;
  readonly by?: string;
  readonly reason?: string;
}

/** Adds the commands to `headroom`; `run` runs one with the configuration. */
export function addPauseCommands(
  program: Command,
  run: (command: (config: Config) => Promise<void>) => Promise<void>,
  shared: () => SharedOptions,
): void {
  for (const name of ['pause', 'resume'] as const) {
    const words =
      name === 'pause'
        ? 'stop writing for a quota, a namespace or a controller until resume; it holds where nothing runs, too'
        : 'go on after a pause';
    program
      .command(name)
      .description(words)
      .argument('[target]', 'the ResourceQuota, <namespace>/<quota>; a schedule with --controller lights-out')
      .option('--namespace <name>', 'everything in this namespace')
      .option('--controller <name>', `${controllerNames.join(', ')}; alone: all that it does`)
      .option('--by <name>', 'who says so (default: your user name)')
      .option('--reason <text>', 'why; everybody who asks is shown it')
      .action(
        async (target: string | undefined, flags: Flags) =>
          await run(async (config) => await write(config, name, scopeOf(target, flags), flags, shared())),
      );
  }
  program
    .command('pauses')
    .description('what is paused now, by whom and why')
    .action(async () => await run(async (config) => await list(config, shared())));
}

/** @throws {CommandFailed} where not exactly one thing is named, or one that there is not. */
function scopeOf(target: string | undefined, { namespace, controller }: Flags): WrittenScope {
  if (controller !== undefined && !controllerNames.some((known) => known === controller)) {
    throw new CommandFailed(`"${controller}" is no controller. The controllers are ${controllerNames.join(', ')}.`);
  }
  if (namespace !== undefined && target === undefined && controller === undefined) {
    return { kind: 'namespace', namespace };
  }
  if (namespace === undefined && target === undefined && controller !== undefined) {
    return { kind: 'controller', controller };
  }
  if (namespace !== undefined || target === undefined) {
    throw new CommandFailed('Name one thing: a target such as team-a/compute, --namespace NAME, or --controller NAME.');
  }
  const name = controller ?? 'quota-resize';
  const parts = target.split('/');
  const isRight = parts.every((part) => part !== '') && parts.length === (name === 'lights-out' ? 1 : 2);
  if (!isRight) {
    const form = name === 'lights-out' ? '<schedule>' : '<namespace>/<quota>, such as team-a/compute';
    throw new CommandFailed(`"${target}" is not ${form}.`);
  }
  return { kind: 'target', controller: name, name: target };
}

async function write(
  config: Config,
  name: 'pause' | 'resume',
  scope: WrittenScope,
  { by = userName(), reason = '' }: Flags,
  { output }: SharedOptions,
): Promise<void> {
  const { options, keyOf, readPauseConfigMaps, writePause, createPauses } = await connect(config);
  const key = keyOf(scope);
  const { pauses } = await readPauseConfigMaps(options);
  const before = pauses?.[key];
  const what = wordsOf(scope);
  if (name === 'resume' && before === undefined)
    throw new CommandFailed(`Not paused: ${what}. headroom pauses shows what is.`);
  if (name === 'pause' && before !== undefined) {
    throw new CommandFailed(`Paused already by ${upgradePause(before).by}: ${what}. headroom pauses shows since when.`);
  }
  if (pauses === null) await createPauses();
  const pause = name === 'pause' ? { by, reason, at: Date.now() } : null;
  await writePause(options, scope, pause);
  await nudge(config, scope);
  const answer =
    pause === null ? `Resumed by ${by}: ${what}.` : `Paused by ${by}: ${what}. Nothing is written for it until resume.`;
  if (output === 'json') print({ key, pause: pause === null ? null : JSON.parse(storePause(pause)), answer });
  else console.log(answer);
}

/** What runs for a target is to show it at once; the pause holds without it. */
async function nudge(config: Config, scope: WrittenScope): Promise<void> {
  if (scope.kind !== 'target') return;
  const cluster = config.kubernetes.clusterName;
  const [namespace = '', quota = ''] = scope.name.split('/');
  const ids: Readonly<Record<string, string>> = {
    'quota-resize': quotaResizeId({ cluster, namespace, quota }),
    'quota-usage': quotaUsageId({ cluster, namespace, quota }),
    'lights-out': lightsOutId({ cluster, schedule: scope.name }),
  };
  const id = ids[scope.controller];
  if (id === undefined) return;
  await withClient(config, async (client) => await client.workflow.getHandle(id).signal('reconcileNow', {})).catch(
    () => {},
  );
}

async function list(config: Config, { output }: SharedOptions): Promise<void> {
  const { options, readPauseConfigMaps } = await connect(config);
  const { everything, pauses } = await readPauseConfigMaps(options);
  const isEverything = everything !== null && everything.data['paused']?.trim().toLowerCase() !== 'false';
  const rows = [
    ...(isEverything
      ? [
          {
            key: PAUSE_EVERYTHING,
            by: everything.data['by'] ?? 'unknown',
            reason: everything.data['reason'] ?? '',
            at: everything.createdAt,
          },
        ]
      : []),
    ...Object.entries(pauses ?? {}).map(([key, text]) => ({ key, ...upgradePause(text) })),
  ].map(({ at, ...row }) => ({ ...row, since: at === null ? null : formatInstant(at) }));
  if (output === 'json') return print(rows);
  if (rows.length === 0) console.log('Nothing is paused.');
  const width = Math.max(0, ...rows.map(({ key }) => key.length));
  for (const { key, by, reason, since } of rows) {
    console.log(`${key.padEnd(width)}  by ${by}  since ${since ?? 'unknown'}${reason === '' ? '' : `  ${reason}`}`);
  }
}

function wordsOf(scope: WrittenScope): string {
  if (scope.kind === 'target') return `${scope.controller} of ${scope.name}`;
  return scope.kind === 'namespace' ? `the namespace ${scope.namespace}` : `the controller ${scope.controller}`;
}

/** The client of Kubernetes takes its time to load, which the other commands need not wait for. */
async function connect(config: Config) {
  const [{ connectKubernetes }, { loadKubeConfig }, pause] = await Promise.all([
    import('../../activities/kubernetes/kubernetes.ts'),
    import('../../platform/kubernetes/kubernetes-access.ts'),
    import('../../activities/kernel/pause.ts'),
  ]);
  const { systemNamespace, kubeconfig, context } = config.kubernetes;
  const access = { kubeconfig, context, requestTimeoutMs: config.timings.requestTimeout };
  const kubernetes = connectKubernetes(loadKubeConfig(access, process.env));
  const createPauses = async (): Promise<void> => {
    const body = { metadata: { name: PAUSES } };
    await kubernetes.core.createNamespacedConfigMap({ namespace: systemNamespace, body });
  };
  return { ...pause, options: { kubernetes, systemNamespace }, createPauses };
}
