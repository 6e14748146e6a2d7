import type { V1Namespace, V1ResourceQuota } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { maskList, readableList } from '../../../domain/kernel/resource-list.ts';
import type { PauseInForce, PauseSubject } from '../../../domain/kernel/pause.ts';
import { quotaPauseSubject, type QuotaTarget } from '../../../domain/kernel/target.ts';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import { holdOfDecision } from '../../../domain/quota-resize/decide/unattended-hold.ts';
import { mergeHold, nextClosing } from '../../../domain/quota-resize/policy/merge-window.ts';
import type {
  QuotaObservation,
  OtherQuota,
  UsageContradiction,
} from '../../../domain/quota-resize/model/observation.ts';
import type { PolicyDefaults, ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { unreadableWarnings } from '../../../domain/quota-resize/policy/totals.ts';
import { isUnderPressure } from '../../../domain/quota-resize/sizing/over-threshold.ts';
import type { SourceCandidate } from '../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type { ResizeTimings } from '../../../domain/quota-resize/model/timings.ts';
import { summarized } from '../../../domain/quota-resize/demand/summary.ts';
import { countsPods } from '../../../domain/quota-usage/usage.ts';
import { isExceeded } from '../../../domain/quota-resize/demand/unmet-demand.ts';
import type { UsageMode } from '../../../domain/quota-usage/mode.ts';
import { JUST_READ_MS, type PauseOptions, readPauses, readPausesFor } from '../../kernel/pause.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { orNull } from '../../kubernetes/failure.ts';
import { listAll } from '../../kubernetes/list.ts';
import { isSame, readContradictions } from './counted-usage.ts';
import { readDemand } from './demand.ts';
import { type CandidateInput, type CandidateOptions, readCandidates } from '../source/source-candidates.ts';
import type { LeaseStore } from '../lease/lease.ts';
import { NamespaceView } from './namespace-view.ts';
import { hardOf, policyOf, withUnattendedLimits } from './policy-of-quota.ts';
import type { RecentObservations } from './recent-observations.ts';
import { readSharing } from './sharing.ts';
import type { SeenQuota, Surroundings } from './surroundings.ts';
import { readTotals, type Totals } from './totals.ts';

interface ObserveQuotaOptions {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
  readonly systemNamespace: string;
  readonly pauses: PauseOptions['pauses'];
  readonly timings: ResizeTimings;
  readonly leases: LeaseStore;
  readonly usage: UsageMode;
  readonly candidates: CandidateOptions | null;
  readonly recent: RecentObservations;
  readonly log: Pick<Logger, 'warn'>;
}

/** Everything in the cluster that a decision about a quota depends on. Only reads. */
export async function observeQuota(options: ObserveQuotaOptions, target: QuotaTarget): Promise<QuotaObservation> {
  const { kubernetes, timings, leases, usage, recent } = options;
  const begun = recent.begin();
  const [namespace, pauseOf, { raises, needed = {}, ...lease }] = await Promise.all([
    orNull(kubernetes.core.readNamespace({ name: target.namespace })),
    readPausesFor(options, quotaPauseSubject('quota-resize', target)),
    leases.read(target),
  ]);
  const pause = pauseOf(quotaPauseSubject('quota-resize', target));
  const presence = presenceOf(namespace);
  const policies = (quota: V1ResourceQuota | null) =>
    policyOf(options.policyDefaults, target.namespace, namespace, quota);
  const seen =
    presence === 'present'
      ? await observeNamespace(options, target, (quota) => policies(quota).policy)
      : { ...NOTHING, quota: await readQuota(kubernetes, target) };
  const { quota, demand, contradictions } = seen;
  const now = Date.now();
  if (namespace !== null) recent.add(target, { namespace, surroundings: seen }, begun);
  // A fresh read: a paused other quota must not be proposed again and again because of a pause state from before.
  const pauseOfOther = seen.otherQuotas.length === 0 ? pauseOf : await readPauses(options, JUST_READ_MS);
  const { policy: annotated, warnings } = policies(quota);
  const isRaised = seen.demand.length > 0 || (quota !== null && isUnderPressure(limitsOf(quota), annotated));
  const totals = isRaised || lease.decision !== null ? await readTotals(options, annotated) : null;
  const policy =
    quota === null
      ? annotated
      : withUnattendedLimits(annotated, hardOf(quota), raises, {
          now,
          totals: totals?.(target, hardOf(quota), lease.decision) ?? [],
        });
  const batched = presence === 'present' ? await readBatched(kubernetes, target, lease.decision) : [];
  const sharing = quota === null ? null : await readSharing(options, target, annotated, lease);
  const facts: Omit<QuotaObservation, 'mergeHold'> = {
    namespace: presence,
    quota: quota === null ? null : limitsOf(quota),
    usage,
    policy,
    // Of the first ones people are told first, and these are about other quotas.
    warnings: [...unreadableWarnings(policy.unattended ?? []), ...warnings],
    timings,
    pause,
    demand,
    ...(seen.demandReadAt === undefined ? {} : { demandAge: Date.now() - seen.demandReadAt }),
    ...(seen.doubted.length === 0 ? {} : { doubted: seen.doubted }),
    ...(seen.unsettled.length === 0 ? {} : { unsettled: seen.unsettled }),
    contradictions,
    otherQuotas: await inParallel(OTHER_QUOTAS_AT_ONCE, seen.otherQuotas, (otherQuota) =>
      readOtherQuota({ ...options, totals, owner: lease.decision }, target, otherQuota, pauseOfOther),
    ),
    ...(batched.length === 0 ? {} : { batched }),
    candidates: quota === null || presence !== 'present' ? [] : await candidatesOf(options, { target, quota, policy }),
    lease,
    ...(sharing === null ? {} : { sharing }),
  };
  const closesAt = lease.decision?.pullRequest ? nextClosing(policy, now) : null;
  return summarized({
    ...facts,
    mergeHold: mergeHold(policy, now) ?? holdOfDecision(facts, target, needed, now),
    ...(closesAt === null ? {} : { mergeWindowClosesAt: closesAt }),
  });
}

/** The quotas that a merged decision raised too, as they are now. */
async function readBatched(
  kubernetes: Kubernetes,
  { namespace }: QuotaTarget,
  decision: Decision | null,
): Promise<NonNullable<QuotaObservation['batched']>> {
  const { merge = null, batchedQuotas = [] } = decision ?? {};
  if (merge === null || batchedQuotas.length === 0) return [];
  const names = batchedQuotas.map(({ quota }) => quota);
  return (await listQuotas(kubernetes, namespace)).flatMap((quota) => {
    const { name = '', uid = '' } = quota.metadata ?? {};
    return names.includes(name) ? [{ quota: name, uid, hard: hardOf(quota) }] : [];
  });
}

async function candidatesOf(
  { candidates }: ObserveQuotaOptions,
  input: CandidateInput,
): Promise<readonly SourceCandidate[]> {
  return candidates === null ? [] : await readCandidates(candidates, input);
}

/** Other quotas whose Leases are read in parallel. */
const OTHER_QUOTAS_AT_ONCE = 4;

/** How often the demand is read again in one pass while a rolling update is running. */
const DEMAND_READINGS = 3;

const NO_CONTRADICTIONS: ReadonlyMap<string, readonly UsageContradiction[]> = new Map();

const NOTHING: Surroundings = {
  quota: null,
  demand: [],
  doubted: [],
  unsettled: [],
  contradictions: [],
  otherQuotas: [],
};

/**
 * The quotas of the namespace with demand that matches their usage: a pod created during the reading is either in
 * `used` or missing, never both. After several readings the last one is used, which may demand too little but never too
 * much.
 */
export async function observeNamespace(
  { kubernetes, log, usage }: Pick<ObserveQuotaOptions, 'kubernetes' | 'log' | 'usage'>,
  target: QuotaTarget,
  policyOf: (quota: V1ResourceQuota) => ResizePolicy,
): Promise<Surroundings> {
  const relist = () => listQuotas(kubernetes, target.namespace);
  for (let reading = 1; ; reading += 1) {
    const quotas = await relist();
    const quota = quotas.find(({ metadata }) => metadata?.name === target.quota);
    if (quota === undefined) return NOTHING;
    const readAt = Date.now();
    const view = new NamespaceView(kubernetes, target.namespace);
    // They are compared with the status of the quotas.
    if (usage === 'off' && quotas.some(({ spec }) => countsPods(spec ?? {}))) view.expectAllPods();
    const { byQuota: demandOf, doubted, unsettled } = await readDemand(log, view, quotas);
    const seen = quotas.map((object): SeenQuota => {
      const demand = demandOf.get(object.metadata?.name ?? '') ?? [];
      return { object, policy: policyOf(object), demand, contradictions: [] };
    });
    const demand = demandOf.get(target.quota) ?? [];
    // In the modes with counted usage the status does not tell who lacks room, so any demand is kept for now.
    const isShort = ({ object, demand: missing }: Pick<SeenQuota, 'object' | 'demand'>): boolean =>
      usage === 'off' ? isExceeded(limitsOf(object), missing) : missing.length > 0;
    const otherQuotas = isShort({ object: quota, demand })
      ? seen.filter((other) => other.object !== quota && other.policy.enabled && isShort(other))
      : [];
    const isAsked = demand.length > 0 || isUnderPressure(limitsOf(quota), policyOf(quota));
    if (!isAsked) return { ...NOTHING, quota, doubted };

    const asked = [quota, ...otherQuotas.map(({ object }) => object)];
    if (demand.length > 0 && reading < DEMAND_READINGS && !isSame(asked, await relist())) continue;
    const contradictions = usage === 'off' ? await readContradictions(view, asked, relist) : NO_CONTRADICTIONS;
    const contradictionsOf = ({ metadata }: V1ResourceQuota) => contradictions.get(metadata?.name ?? '') ?? [];
    return {
      quota,
      demand,
      ...(demand.length === 0 ? {} : { demandReadAt: readAt }),
      doubted,
      unsettled,
      contradictions: contradictionsOf(quota),
      otherQuotas: otherQuotas
        .map((otherQuota) => ({ ...otherQuota, contradictions: contradictionsOf(otherQuota.object) }))
        .toSorted((a, b) => ((a.object.metadata?.name ?? '') < (b.object.metadata?.name ?? '') ? -1 : 1)),
    };
  }
}

async function readOtherQuota(
  options: ObserveQuotaOptions & { readonly totals: Totals | null; readonly owner: Decision | null },
  namespaceTarget: QuotaTarget,
  { object, policy, demand, contradictions }: SeenQuota,
  pauseOf: (subject: PauseSubject) => PauseInForce | null,
): Promise<OtherQuota> {
  const name = object.metadata?.name ?? '';
  const target = { ...namespaceTarget, quota: name };
  const { raises, needed: _, ...lease } = await options.leases.read(target);
  const candidates = await candidatesOf(options, { target, quota: object, policy });
  // A paused quota is not raised by another quota's pull request either.
  const enabled = policy.enabled && pauseOf(quotaPauseSubject('quota-resize', target)) === null;
  const hard = hardOf(object);
  const isBatched = options.owner?.batchedQuotas?.some(({ quota }) => quota === name) === true;
  const bounded = withUnattendedLimits({ ...policy, enabled }, hard, raises, {
    now: Date.now(),
    totals: options.totals?.(target, hard, lease.decision ?? (isBatched ? options.owner : null)) ?? [],
  });
  return { name, quota: limitsOf(object), policy: bounded, demand, contradictions, candidates, lease };
}

/** The quotas of a namespace, without those that are being deleted. */
async function listQuotas(kubernetes: Kubernetes, namespace: string): Promise<readonly V1ResourceQuota[]> {
  const quotas = await listAll((range) => kubernetes.core.listNamespacedResourceQuota({ namespace, ...range }));
  return quotas.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
}

/** The quota; null when it does not exist or is being deleted. */
export async function readQuota(kubernetes: Kubernetes, target: QuotaTarget): Promise<V1ResourceQuota | null> {
  const { quota: name, namespace } = target;
  const quota = await orNull(kubernetes.core.readNamespacedResourceQuota({ name, namespace }));
  return quota === null || quota.metadata?.deletionTimestamp !== undefined ? null : quota;
}

/** The limits of a quota that can be read, and what Kubernetes says is used of them. */
export function limitsOf(quota: V1ResourceQuota): NonNullable<QuotaObservation['quota']> {
  const hard = hardOf(quota);
  return {
    uid: quota.metadata?.uid ?? '',
    hard,
    used: maskList(readableList(quota.status?.used ?? {}), Object.keys(hard)),
  };
}

function presenceOf(namespace: V1Namespace | null): QuotaObservation['namespace'] {
  if (namespace === null) return 'gone';
  const isTerminating =
    namespace.metadata?.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating';
  return isTerminating ? 'terminating' : 'present';
}
