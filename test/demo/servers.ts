import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { unlessInterrupted } from './interrupt.ts';
import { demoFiles } from './repository.ts';

const CLUSTER = 'demo';

/** The quota that the demo's story is about. */
export const target: QuotaTarget = { cluster: CLUSTER, namespace: 'team-a', quota: 'compute' };

/**
 * The servers and processes of `make demo` and `make dev`: Kubernetes, Temporal, the forge over the GitOps repository with
 * three teams, the syncer, and (unless `headroom` is false) worker and starter. An interrupt while they start ends the
 * process, and the servers with it.
 */
export async function startDemoServers(options: {
  readonly log: (message: string) => void;
  readonly interrupt: AbortSignal;
  readonly headroom?: boolean;
}): Promise<Stack> {
  const processes = options.headroom === false ? 0 : 1;
  return await unlessInterrupted(
    options,
    async () =>
      await startStack({
        ownServers: true,
        cluster: CLUSTER,
        files: demoFiles,
        forge: { checks: 'pass', checkDelayMs: 1500, validate: false },
        env: {
          HEADROOM_MODE: 'propose',
          ENABLE_AUTO_MERGE: 'true',
          'timings.checksPollMin': '500ms',
          'timings.syncPoll': '500ms',
        },
        workers: processes,
        starters: processes,
        log: options.log,
      }),
  );
}

/** Where to look, for people: one address a line. */
export function addresses({ temporal, forge, controlPlane }: Stack, pullRequestUrl: string | null): string {
  const workflows = `${temporal.uiUrl}/namespaces/${temporal.namespace}/workflows`;
  return [
    ['Temporal UI', pullRequestUrl === null ? workflows : `${workflows}/${encodeURIComponent(quotaResizeId(target))}`],
    ['Temporal', `TEMPORAL_ADDRESS=${temporal.address} CLUSTER_NAME=${CLUSTER}`],
    ['Pull request', pullRequestUrl ?? `${forge.url}/acme/gitops/pulls`],
    ['Clone', `git clone ${forge.cloneUrl}`],
    ['Kubernetes', `KUBECONFIG=${controlPlane.adminKubeconfig}`],
  ]
    .map(([what, where]) => `${what?.padEnd(14)} ${where}`)
    .join('\n');
}

/** The arguments of a command that knows only these words; anything else ends it with a sentence and 2. */
export function readSwitches<Name extends string>(existing: readonly Name[]): Readonly<Record<Name, boolean>> {
  const given = process.argv.slice(2);
  const unknown = given.filter((argument) => !existing.some((name) => argument === name));
  if (unknown.length > 0) {
    const allowed = existing.length === 0 ? 'there are none' : `there is ${existing.join(', ')}`;
    console.error(`unknown argument ${unknown.join(' ')}: ${allowed}`);
    process.exit(2);
  }
  return Object.fromEntries(existing.map((name) => [name, given.includes(name)])) as Record<Name, boolean>;
}
