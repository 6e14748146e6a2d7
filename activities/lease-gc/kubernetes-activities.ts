import type { V1Lease } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { pauseSentence, type PauseSubject } from '../../domain/kernel/pause.ts';
import { quotaPauseSubject } from '../../domain/kernel/target.ts';
import { evaluateLease, type Surroundings } from '../../domain/lease-gc/evaluate-lease.ts';
import { carrierOfLease, isFileLease, leaseSelector, targetOfLease } from '../../domain/quota-resize/model/lease.ts';
import { failure } from '../kernel/failure.ts';
import { type PauseOptions, readPauses } from '../kernel/pause.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { statusCode, withKubernetesFailures } from '../kubernetes/failure.ts';
import { listAll } from '../kubernetes/list.ts';
import { deleteLease, lastWritten, replaceLease } from '../kubernetes/lease-object.ts';
import type { LeaseGcActivities, LeaseGcResult } from './interface.ts';

interface LeaseGcOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  /** The workflow ids of all running quota resizes. */
  readonly runningQuotaResizes: () => Promise<ReadonlySet<string>>;
  readonly log: Pick<Logger, 'info'>;
}

/** The garbage collection of Leases; during a pause it collects nothing. */
export function createLeaseGcActivities(options: LeaseGcOptions): LeaseGcActivities {
  return { ensureOldLeasesCollected: withKubernetesFailures(({ cluster }) => collect(options, cluster)) };
}

async function collect(options: LeaseGcOptions, cluster: string): Promise<LeaseGcResult> {
  const { kubernetes, systemNamespace: namespace, log } = options;
  // The Leases are listed first: what is created after this list is not evaluated against the later lists.
  const leases = await listAll((range) =>
    kubernetes.coordination.listNamespacedLease({ namespace, labelSelector: leaseSelector, ...range }),
  );
  const paused = (await readPauses(options))({ controller: 'lease-gc' });
  if (paused !== null) {
    log.info({ leases: leases.length }, `no Lease is collected: ${pauseSentence(paused)}`);
    return { kept: leases.length, deleted: [], unlocked: [] };
  }
  const surroundings = await readSurroundings(options, cluster);
  const deleted: string[] = [];
  const unlocked: string[] = [];
  for (const lease of leases) {
    const name = lease.metadata?.name ?? '';
    const evaluation = evaluateLease(lease, lastWritten(lease), surroundings, Date.now());
    if (evaluation.kind === 'keep') continue;
    // Checked for each Lease, because a collection may take long and a pause must take effect during it.
    const pauseOf = await readPauses(options);
    if (pauseSubjectsOf(lease, cluster).some((subject) => pauseOf(subject) !== null)) continue;
    // An unlocked Lease keeps its annotations, including the decision, so that the next workflow finds the pull
    // request.
    const isGone = evaluation.kind === 'delete' || isFileLease(lease);
    if (!(await asRead(isGone ? deleteLease(options, lease) : replaceLease(options, lease, null)))) continue;
    (evaluation.kind === 'delete' ? deleted : unlocked).push(name);
    log.info(
      { lease: name, holder: lease.spec?.holderIdentity, why: evaluation.why },
      `Lease ${evaluation.kind === 'delete' ? 'deleted' : 'unlocked'}`,
    );
  }
  return { kept: leases.length - deleted.length - unlocked.length, deleted, unlocked };
}

/**
 * The pauses that apply to a write of a Lease: those of the garbage collection, and of the quotas whose lock and memory
 * the Lease is.
 */
function pauseSubjectsOf(lease: V1Lease, cluster: string): readonly PauseSubject[] {
  const target = targetOfLease(lease);
  if (target === null) return [{ controller: 'lease-gc' }, { controller: 'quota-resize' }];
  const quotas = [target.quota, carrierOfLease(lease) ?? target.quota];
  return [
    { controller: 'lease-gc', namespace: target.namespace },
    ...quotas.map((quota) => quotaPauseSubject('quota-resize', { cluster, namespace: target.namespace, quota })),
  ];
}

async function readSurroundings(
  { kubernetes, systemNamespace, runningQuotaResizes }: LeaseGcOptions,
  cluster: string,
): Promise<Surroundings> {
  const [namespaces, quotas, running] = await Promise.all([
    listAll((range) => kubernetes.core.listNamespace(range)),
    listAll((range) => kubernetes.core.listResourceQuotaForAllNamespaces(range)),
    runningQuotaResizes(),
  ]);
  const names = new Set(namespaces.map((item) => item.metadata?.name ?? ''));
  if (!names.has(systemNamespace)) {
    throw failure({
      type: 'KubernetesUnavailable',
      message: `no Lease is collected: the list of namespaces lacks ${systemNamespace}, where the Leases are, so it is not believed`,
    });
  }
  return {
    cluster,
    namespaces: names,
    quotas: new Set(quotas.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)),
    running,
  };
}

/** Whether the write succeeded; false when the Lease has changed since it was read. */
async function asRead(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    const code = statusCode(error);
    if (code === 409 || code === 404) return false;
    throw error;
  }
}
