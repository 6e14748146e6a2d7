/** `headroom pause`, `resume` and `pauses`: what Headroom may not write for, kept in a ConfigMap with the operator's rights. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ControllerName, controllerNames } from '../../domain/kernel/controllers.ts';
import { PAUSE_EVERYTHING, type PauseScope } from '../../domain/kernel/pause.ts';
import {
  isShortenedPauseKey,
  pauseOfEverything,
  scopeOfPauseKey,
  storePause,
  upgradePause,
} from '../../domain/kernel/stored-pause.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { columns } from './columns.ts';
import type { CommandTools, LoadedConfig, TargetForm } from './controller.ts';
import { namespaceArgument } from './names.ts';
import { addWhoAndWhy, checkedBy, targetCommand, type WhoAndWhy } from './operator-commands.ts';
import { controllers } from './registry.ts';
import { CommandFailed, userName } from './shared.ts';

/** A pause that commands may write: of everything is people's, with kubectl. */
type TargetScope = Extract<PauseScope, { kind: 'target' }> & { readonly controller: ControllerName };
type WrittenScope = Exclude<PauseScope, { kind: 'everything' | 'target' }> | TargetScope;

interface PauseFlags extends WhoAndWhy {
  readonly ignoreNotFound?: boolean;
}

interface Flags extends PauseFlags {
  readonly namespace?: string;
  readonly controller?: string;
}

type Verb = 'pause' | 'resume';
const VERBS: readonly Verb[] = ['pause', 'resume'];

/** The controller that is meant where none is named. */
const [DEFAULT_CONTROLLER] = controllerNames;

export function addPauseCommands(program: Command, tools: CommandTools): void {
  const others = controllerNames.flatMap((name) => {
    const { target } = controllers[name];
    return target === undefined || name === DEFAULT_CONTROLLER ? [] : [`a <${target.argument}> of ${name}`];
  });
  const { argument = '', description = '' } = controllers[DEFAULT_CONTROLLER].target ?? {};
  for (const verb of VERBS) {
    const command = program
      .command(verb)
      .description(
        verb === 'pause'
          ? 'stop writing for one target, a namespace or a controller until resume; it holds where nothing runs, too'
          : 'go on after a pause',
      )
      .argument('[target]', `${description}, <${argument}>; with --controller ${others.join(' or ')}`)
      .option('--namespace <name>', 'everything in this namespace', namespaceArgument)
      .addOption(controllerOption());
    addPauseOptions(verb, command).action(async (target: string | undefined, flags: Flags) => {
      const scope = checkedBy(command, () => scopeOf(target, flags));
      await tools.run(async (loaded) => await write(loaded, verb, { ...flags, scope }, tools));
    });
  }
  program
    .command('pauses')
    .description('what is paused now, by whom and why')
    .action(async () => await tools.run(async (loaded) => await list(loaded, tools)));
}

/** Whether the controller fits the other arguments is checked where all of them are read. */
function controllerOption(): Option {
  const option = new Option(
    '--controller <name>',
    'the controller of the target; without a target, the whole controller',
  );
  option.argChoices = [...controllerNames];
  return option;
}

function addPauseOptions(verb: Verb, command: Command): Command {
  const options = addWhoAndWhy(command);
  return verb === 'pause' ? options.option('--ignore-not-found', 'also pause what does not exist yet') : options;
}

/** The same for one target of a controller that has commands of its own. */
export function addTargetPauseCommands(
  parent: Command,
  controller: ControllerName,
  target: TargetForm,
  tools: CommandTools,
): void {
  for (const verb of VERBS) {
    const command = targetCommand(parent, verb, target).description(
      verb === 'pause' ? `stop writing for ${target.description} until resume` : 'go on after a pause',
    );
    addPauseOptions(verb, command).action(
      async (name: string, flags: PauseFlags) =>
        await tools.run(async (loaded) => {
          const scope: TargetScope = { kind: 'target', controller, name };
          await write(loaded, verb, { ...flags, scope }, tools);
        }),
    );
  }
}

/** @throws {InvalidArgumentError} where not exactly one thing is named, or one that there is not. */
export function scopeOf(target: string | undefined, { namespace, controller }: Flags): WrittenScope {
  const named = controllerNames.find((name) => name === controller);
  if (controller !== undefined && named === undefined) {
    throw new InvalidArgumentError(`"${controller}" is no controller: there is ${controllerNames.join(', ')}`);
  }
  if (namespace !== undefined && target === undefined && controller === undefined) {
    return { kind: 'namespace', namespace };
  }
  if (namespace === undefined && target === undefined && named !== undefined) {
    const { pausedOtherwise } = controllers[named];
    if (pausedOtherwise !== undefined) throw new InvalidArgumentError(pausedOtherwise);
    return { kind: 'controller', controller: named };
  }
  if (namespace !== undefined || target === undefined) {
    throw new InvalidArgumentError(
      'name one thing: a target such as team-a/compute, --namespace NAME, or --controller NAME',
    );
  }
  return targetScope(named ?? DEFAULT_CONTROLLER, target);
}

function targetScope(controller: ControllerName, name: string): TargetScope {
  const { target, pausedOtherwise } = controllers[controller];
  if (target === undefined) {
    throw new InvalidArgumentError(
      pausedOtherwise ?? `${controller} has no targets: use --controller ${controller} alone for the whole controller`,
    );
  }
  if (!target.isTarget(name)) throw new InvalidArgumentError(`"${name}" is not ${target.expected}`);
  return { kind: 'target', controller, name };
}

async function write(
  ofCommand: LoadedConfig,
  verb: Verb,
  { scope, by: given, reason = '', ignoreNotFound = false }: PauseFlags & { readonly scope: WrittenScope },
  { io, output, shared }: CommandTools,
): Promise<void> {
  const by = given ?? userName(io.env);
  const what = wordsOf(scope);
  // The client of Kubernetes takes its time to load, which the other commands need not wait for.
  const { keepPause, endPause, keyOf } = await import('./kept-pauses.ts');
  const { confirmedCluster } = await import('./confirmed-cluster.ts');
  const { loaded, notes } = await confirmedCluster(ofCommand);
  const pause = { by, reason, at: Date.now() };
  if (verb === 'pause') {
    if (!ignoreNotFound) await assertExists(loaded, scope);
    const before = await keepPause(loaded, scope, pause);
    if (before !== null) {
      throw new CommandFailed(`Paused already by ${before.by}: ${what}. headroom pauses shows since when.`);
    }
  } else if (!(await endPause(loaded, scope))) {
    throw new CommandFailed(`Not paused: ${what}. headroom pauses shows what is.`);
  }
  const [kept, answer] =
    verb === 'pause'
      ? [pause, `Paused by ${by}: ${what}. Nothing is written for it until resume.`]
      : [null, `Resumed by ${by}: ${what}.`];
  if (shared().output === 'json') {
    output.json({ key: keyOf(scope), pause: kept === null ? null : JSON.parse(storePause(kept)), answer });
  } else output.line(answer);
  for (const note of notes) output.note(note);
}

/** A misspelled name would pause nothing, unnoticed. */
async function assertExists(loaded: LoadedConfig, scope: WrittenScope): Promise<void> {
  if (scope.kind === 'target') await controllers[scope.controller].target?.assertExists?.(loaded, scope.name);
  if (scope.kind !== 'namespace') return;
  const quotas = await import('./quotas.ts');
  await quotas.assertExists(loaded, { namespace: scope.namespace, quota: null });
}

async function list(ofCommand: LoadedConfig, { output, shared }: CommandTools): Promise<void> {
  const { readPauses } = await import('./kept-pauses.ts');
  const { confirmedCluster } = await import('./confirmed-cluster.ts');
  const { loaded, notes } = await confirmedCluster(ofCommand);
  const { everything, pauses } = await readPauses(loaded);
  for (const note of notes) output.note(note);
  const ofEverything = pauseOfEverything({ everything });
  const rows = [
    ...(ofEverything === null ? [] : [{ key: PAUSE_EVERYTHING, ...ofEverything, isKnown: true }]),
    ...Object.entries(pauses ?? {}).map(([key, text]) => ({ key, ...upgradePause(text), isKnown: isKnownKey(key) })),
  ].map(({ at, ...row }) => ({ ...row, since: at === null ? null : formatInstant(at) }));
  if (shared().output === 'json') return output.json(rows);
  if (rows.length === 0) return output.line('Nothing is paused.');
  const lines = columns(
    rows.map(({ key, by, reason, since, isKnown }) => [
      key,
      `by ${by}`,
      `since ${since ?? 'unknown'}`,
      [...(isKnown ? [] : ['STOPS NOTHING: Headroom reads no such key']), ...(reason === '' ? [] : [reason])].join(
        ', ',
      ),
    ]),
  );
  output.line(lines.join('\n'));
}

/** Whether a key is that of a pause. People may write keys by hand, and those of another form stop nothing. */
export function isKnownKey(key: string): boolean {
  const scope = scopeOfPauseKey(key);
  if (scope === null) return false;
  if (scope.kind === 'namespace') return true;
  const { target, pausedOtherwise } = controllers[scope.controller];
  if (scope.kind === 'controller') return pausedOtherwise === undefined;
  return target !== undefined && (isShortenedPauseKey(key) || target.isTarget(scope.name));
}

function wordsOf(scope: WrittenScope): string {
  if (scope.kind === 'target') return `${scope.controller} of ${scope.name}`;
  return scope.kind === 'namespace' ? `the namespace ${scope.namespace}` : `the controller ${scope.controller}`;
}
