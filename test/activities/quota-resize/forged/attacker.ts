/**
 * Whoever may schedule activities: no workflow, and any input. The API server, its roles and policies and the forge are
 * real, and so are the gate, the Leases and their locks.
 */
import { pino } from 'pino';
import { createFileLocks } from '../../../../activities/quota-resize/lease/file-lock.ts';
import { LeaseStore } from '../../../../activities/quota-resize/lease/lease.ts';
import { createMergeGate, type MergeGate } from '../../../../activities/quota-resize/pull-request/merge-gate.ts';
import { createGuardrailReader } from '../../../../activities/quota-resize/pull-request/policy-guard.ts';
import { createPullRequestEnds } from '../../../../activities/quota-resize/pull-request/pull-request-ends.ts';
import type { OrphanActivities, QuotaResizeActivities } from '../../../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import type { Decision, OpenDecision } from '../../../../domain/quota-resize/model/decision.ts';
import type { RecordedRaise } from '../../../../domain/quota-resize/policy/recorded-raise.ts';
import type { PolicyDefaults } from '../../../../domain/quota-resize/policy/policy.ts';
import { BUILT_IN_GUARDRAIL, type Guardrail } from '../../../../domain/quota-resize/policy/guardrail.ts';
import { defaults } from '../../../domain/quota-resize/policy/policies.ts';
import { type Cluster, namespaceOf, quotaOf, SYSTEM_NAMESPACE } from '../../kubernetes/cluster.ts';
import { change, decide, type GitOps, policy } from '../gitops-fixture.ts';

const RESOURCE = 'requests.cpu';

/** What the platform allows in these tests: a limit doubles in a day, and a person's name is verified. */
export const STRICT: Guardrail = {
  ...BUILT_IN_GUARDRAIL,
  name: 'strict',
  growthPerDay: '2',
  growthPerWeek: '2',
  approvalBy: 'verified',
};

/** The file of a quota in the GitOps repository, and what is in it. */
export function manifestOf(namespace: string, cpu: string): Readonly<Record<string, string>> {
  const lines = [
    'apiVersion: v1',
    'kind: ResourceQuota',
    `metadata: {name: compute, namespace: ${namespace}}`,
    `spec: {hard: {${RESOURCE}: "${cpu}"}}`,
  ];
  return { [pathOf(namespace)]: `${lines.join('\n')}\n` };
}

function pathOf(namespace: string): string {
  return `quotas/${namespace}/quota.yaml`;
}

/** What happens between the steps of a merge; each of them is called by every attempt. */
interface Meanwhile {
  afterRecorded?: () => Promise<unknown>;
  afterExpected?: () => Promise<void>;
}

/** The activities of a worker, and what an attacker makes of them for one quota. */
export interface Attacker {
  readonly target: QuotaTarget;
  readonly activities: Attackable;
  readonly leases: LeaseStore;
  readonly meanwhile: Meanwhile;
  /** A pull request for a decision that nobody but the attacker has made, recorded in the Lease. */
  readonly opened: (to: string, more?: Partial<Decision>) => Promise<OpenDecision>;
  /** The outcome of a merge, or the message of the failure that refused it. */
  readonly merged: (decision: OpenDecision) => Promise<string>;
  /** Has the cluster follow Git, as Argo CD and Flux do, and returns the limit. */
  readonly synced: () => Promise<string>;
  /** The limit in Git. */
  readonly inGit: () => Promise<string>;
  readonly raises: () => Promise<readonly RecordedRaise[]>;
}

type Attackable = Pick<
  QuotaResizeActivities,
  | 'observeSource'
  | 'observeQuota'
  | 'ensurePullRequest'
  | 'ensurePullRequestRebuilt'
  | 'ensureMerged'
  | 'ensureDequeued'
  | 'ensureComment'
  | 'ensurePullRequestClosed'
  | 'ensureBranchDeleted'
  | 'ensureLeaseAcquired'
  | 'ensureLeaseUpdated'
  | 'ensureLeaseReleased'
  | 'ensureLeaseSynced'
  | 'ensureSyncRecorded'
  | 'ensureBatchedQuotasReleased'
  | 'ensureRecommendation'
  | 'ensureQuotaEvent'
> &
  Pick<OrphanActivities, 'ensureOrphanEnded'>;

interface Circumstances {
  readonly guardrail?: Guardrail;
  /** The installation's, in milliseconds. */
  readonly cooldown?: number;
  /** What the quota needs; absent: as much as the guardrail allows. Null: nothing. */
  readonly needs?: string | null;
}

/** A quota of 10 CPU in a namespace of its own, whose file is in the repository, and somebody who wants more. */
export async function attack(
  cluster: Cluster,
  gitops: GitOps,
  namespace: string,
  { guardrail = STRICT, cooldown = 0, needs = guardrail.max['cpu'] ?? '100000000' }: Circumstances = {},
): Promise<Attacker> {
  const target = { cluster: 'test', namespace, quota: 'compute' };
  const need = needs === null ? {} : { 'resizer.io/cpu-min': needs };
  await cluster.create(namespaceOf(namespace), quotaOf(namespace, { [RESOURCE]: '10' }, target.quota, {}, need));
  const { core } = cluster.admin;
  const named = { name: target.quota, namespace };
  const quotaUid = (await core.readNamespacedResourceQuota(named)).metadata?.uid ?? '';
  const policyDefaults = { ...defaults, mode: 'propose', cooldown, guardrails: [guardrail] } as const;
  const meanwhile: Meanwhile = {};
  const { leases, activities } = workerOf(cluster, gitops, policyDefaults, meanwhile);
  const candidates = [{ from: 'template', path: `quotas/${namespace}`, learntFrom: 'the path template' }] as const;
  const inGit = async (): Promise<string> => {
    const text = (await gitops.forge.readFile('main', pathOf(namespace))) ?? '';
    return /requests\.cpu: "?([0-9a-z]+)/.exec(text)?.[1] ?? '';
  };

  return {
    target,
    activities,
    leases,
    meanwhile,
    inGit,
    async opened(to, more = {}) {
      const from = await inGit();
      const limits = { [RESOURCE]: to };
      const source = await activities.observeSource({ target, limits, candidates });
      if (source.kind !== 'found') throw new Error(source.message);
      const decision = decide([change(RESOURCE, from, to)], { quotaUid, source, ...more });
      await activities.ensureLeaseAcquired({ target, decision });
      const candidatesByQuota = [{ quota: target.quota, candidates }];
      const outcome = await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
      if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
      const open: OpenDecision = { ...decision, pullRequest: outcome.pullRequest, merge: null };
      await activities.ensureLeaseUpdated({ target, decision: open });
      return open;
    },
    async merged(decision) {
      try {
        return (await activities.ensureMerged({ target, decision })).kind;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    async synced() {
      const limit = await inGit();
      const quota = await core.readNamespacedResourceQuota(named);
      await core.replaceNamespacedResourceQuota({
        ...named,
        body: Object.assign(quota, { spec: { hard: { [RESOURCE]: limit } } }),
      });
      return limit;
    },
    raises: async () => (await leases.read(target)).raises,
  };
}

/** The activities as a worker has them, with the API server and the forge. */
function workerOf(
  { worker: kubernetes, activities }: Cluster,
  gitops: GitOps,
  policyDefaults: PolicyDefaults,
  meanwhile: Meanwhile,
): { readonly leases: LeaseStore; readonly activities: Attackable } {
  const log = pino({ level: 'silent' });
  const shared = { kubernetes, systemNamespace: SYSTEM_NAMESPACE, log };
  const ends = createPullRequestEnds(gitops.worker().repositories);
  const leases = new LeaseStore({ ...shared, abandonedHolder: null, ends });
  const inCluster = activities({ policyDefaults, ends });
  const inGit = gitops.worker({
    mergeGate: interrupted(createMergeGate({ ...shared, policyDefaults, leases, ends, usage: 'off' }), meanwhile),
    guardrailOf: createGuardrailReader({ kubernetes, policyDefaults }),
    fileLocks: createFileLocks({ ...shared, leases, timings: { holdRetry: 300_000, fileWait: 86_400_000 } }),
    decisions: leases,
    orphans: { observeQuota: inCluster.observeQuota },
  });
  return { leases, activities: { ...inCluster, ...inGit.activities } };
}

function interrupted(gate: MergeGate, meanwhile: Meanwhile): MergeGate {
  return {
    ...gate,
    async recorded(target, decisionId) {
      const decision = await gate.recorded(target, decisionId);
      await meanwhile.afterRecorded?.();
      return decision;
    },
    async merging(target, decision, merge, reviews) {
      const merging: typeof merge = async (checked, expect) =>
        await merge(checked, async () => {
          const expected = await expect();
          await meanwhile.afterExpected?.();
          return expected;
        });
      return await gate.merging(target, decision, merging, reviews);
    },
  };
}
