/** Observations, memories and decisions for tests of the state machine: a plain case each, with what a test changes. */
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import type { Seen } from '../../../../domain/quota-resize/model/episode-observation.ts';
import type {
  Decision,
  DecisionFacts,
  LimitChange,
  LockedDecision,
  Merge,
  MergedDecision,
  OpenDecision,
  PullRequestRef,
} from '../../../../domain/quota-resize/model/decision.ts';
import {
  emptyMemory,
  IDLE,
  type Merged,
  type Open,
  type ResizeMemory,
  stateOf,
  type SteadyDemand,
} from '../../../../domain/quota-resize/model/memory.ts';
import type {
  LeaseRecord,
  PullRequestObservation,
  QuotaObservation,
  WorkloadDemand,
} from '../../../../domain/quota-resize/model/observation.ts';
import { BUILT_IN_GUARDRAIL } from '../../../../domain/quota-resize/policy/guardrail.ts';
import type { PolicyDefaults, ResizePolicy } from '../../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../../domain/quota-resize/policy/resolve.ts';
import type { ResizeTimings } from '../../../../domain/quota-resize/model/timings.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** 2026-11-20T10:00:00Z */
export const NOW = Date.UTC(2026, 10, 20, 10);

/** The defaults of the configuration. */
export const timings: ResizeTimings = {
  demandSettle: 2 * SECOND,
  settle: MINUTE,
  updateInterval: 10 * MINUTE,
  needGone: 10 * MINUTE,
  holdRetry: 5 * MINUTE,
  syncOverdue: 20 * MINUTE,
  recommendationRepeat: 24 * HOUR,
};

/** A policy that may do everything, with the annotations of the namespace (without their prefix). */
export function policy(
  annotations: Readonly<Record<string, string>> = {},
  defaults: Partial<PolicyDefaults> = {},
): ResizePolicy {
  const annotated = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`resizer.io/${key}`, value]));
  const base: PolicyDefaults = {
    mode: 'propose',
    dryRun: false,
    threshold: '80',
    increment: '20',
    cooldown: 3_600_000,
    autoMerge: true,
    maxStep: '2',
    burst: 'settle',
    steps: {},
    approval: 'none',
    approvalReminder: 24 * HOUR,
    approvalTimeout: null,
    freezeUntil: null,
    mergeWindows: [],
    rejectionCooldown: 24 * HOUR,
    guardrails: [BUILT_IN_GUARDRAIL],
  };
  return resolvePolicy({
    defaults: { ...base, ...defaults },
    namespace: { name: 'team-a', annotations: annotated },
    quotaAnnotations: undefined,
  }).policy;
}

export function lease(changed: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    name: 'state-team-a-compute',
    holder: null,
    holderIsAbandoned: false,
    lastModified: null,
    lastRecommendation: null,
    rejections: [],
    decision: null,
    ...changed,
  };
}

/** A quota of `requests.cpu: 10` of which 9 are used: it needs 12. */
export function observation(changed: Partial<QuotaObservation> = {}): QuotaObservation {
  return {
    namespace: 'present',
    quota: quota(),
    usage: 'off',
    policy: policy(),
    warnings: [],
    timings,
    pause: null,
    demand: [],
    contradictions: [],
    mergeHold: null,
    otherQuotas: [],
    candidates: [],
    lease: lease(),
    ...changed,
  };
}

export function quota(
  changed: Partial<NonNullable<QuotaObservation['quota']>> = {},
): NonNullable<QuotaObservation['quota']> {
  return { uid: 'uid-1', hard: { 'requests.cpu': '10' }, used: { 'requests.cpu': '9' }, ...changed };
}

/** The quota with this much cpu used, and this limit. */
export function cpu(used: string, hard = '10'): NonNullable<QuotaObservation['quota']> {
  return quota({ hard: { 'requests.cpu': hard }, used: { 'requests.cpu': used } });
}

/** A ReplicaSet that misses this much. */
export function demand(total: Readonly<Record<string, string>>, changed: Partial<WorkloadDemand> = {}): WorkloadDemand {
  return {
    workload: { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' },
    basis: 'workload',
    missing: 2,
    surge: 0,
    total,
    lastSeen: NOW,
    ...changed,
  };
}

export function change(changed: Partial<LimitChange> = {}): LimitChange {
  return {
    resource: 'requests.cpu',
    from: '10',
    to: '12',
    used: '9',
    demand: '0',
    reason: 'Usage is 9 of 10 CPU (90 %), and the threshold is 80 %.',
    ...changed,
  };
}

export const HEAD = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334';
export const URL = 'https://git.example/acme/gitops/pull/7';

/** Pull request #7, opened an hour ago. */
export function ref(changed: Partial<PullRequestRef> = {}): PullRequestRef {
  return {
    number: 7,
    url: URL,
    repository: 'acme/gitops',
    branch: 'headroom/prod/team-a/compute/0a1b2c3d',
    base: 'main',
    path: 'managed-resources/prod/team-a/quota.yaml',
    headSha: HEAD,
    openedAt: NOW - HOUR,
    pushedAt: NOW - HOUR,
    ...changed,
  };
}

/** The decision to raise cpu from 10 to 12, not on GitHub yet. */
export function decision(changed: Partial<DecisionFacts> = {}): LockedDecision {
  return {
    id: '0a1b2c3d',
    quotaUid: 'uid-1',
    decidedAt: NOW - HOUR,
    changes: [change()],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: null,
    merge: null,
    ...changed,
  };
}

export function openDecision(changed: Partial<DecisionFacts & Pick<OpenDecision, 'pullRequest'>> = {}): OpenDecision {
  return { ...decision(), pullRequest: ref(), ...changed };
}

export function mergedDecision(changed: Partial<Merge> = {}, facts: Partial<DecisionFacts> = {}): MergedDecision {
  const merge = { sha: 'f00', at: NOW - MINUTE, by: 'headroom-bot', limits: { 'requests.cpu': '12' }, ...changed };
  return { ...openDecision(), ...facts, merge };
}

/** Pull request #7 as GitHub shows it: open, clean, one check passed. */
export function pullRequest(changed: Partial<PullRequestObservation> = {}): PullRequestObservation {
  return {
    number: 7,
    url: URL,
    state: 'open',
    headSha: HEAD,
    headIsOurs: true,
    mergeability: 'clean',
    checks: { total: 1, pending: [], failing: [] },
    hasRequiredChecks: false,
    closedBy: 'unknown',
    merge: null,
    ...changed,
  };
}

/** What a test says of a memory: fields of it, and of the state that it is in. */
export type Remembered = Partial<ResizeMemory> & {
  /** The state is the one that this decision is in, unless a whole state is given; idle without either. */
  readonly decision?: Decision | null;
  readonly demand?: SteadyDemand | null;
} & Partial<Omit<Open, 'kind' | 'decision'>> &
  Partial<Pick<Merged, 'overdue'>>;

const stateFields = ['approval', 'rejection', 'awaiting', 'demandGoneSince', 'closing', 'overdue'] as const;

/** A memory in the state that its decision is in, with the fields of that state; a field of another state is a mistake. */
export function memory(changed: Remembered = {}): ResizeMemory {
  const { decision: held, demand: steady, ...rest } = changed;
  const given = Object.fromEntries(stateFields.flatMap((key) => (key in rest ? [[key, rest[key]] as const] : [])));
  const others = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !stateFields.some((field) => field === key)),
  ) as Partial<ResizeMemory>;
  const before = others.state ?? (held ? stateOf(held) : IDLE);
  const demanded = steady === undefined ? before : { ...before, demand: steady };
  const misplaced = Object.keys({ ...given, ...(steady === undefined ? {} : { demand: steady }) }).filter(
    (key) => !(key in before),
  );
  if (misplaced.length > 0) throw new Error(`${demanded.kind} has no ${misplaced.join(', ')}`);
  return { ...emptyMemory(), quotaUid: 'uid-1', ...others, state: { ...demanded, ...given } };
}

/** A need of 12 cpu that has stood still long enough. */
export const settledNeed: SteadyDemand = {
  digest: 'requests.cpu=12',
  since: NOW - HOUR,
  firstSeen: NOW - HOUR,
};

/** One look with a decision in hand that holds its Lease. */
export function seenWith(
  held: Decision,
  pull: PullRequestObservation | null,
  changed: Partial<QuotaObservation> = {},
): Seen {
  const locked = lease({ holder: `headroom/${held.id}`, decision: held });
  return { observation: observation({ lease: locked, ...changed }), pullRequest: pull };
}

/** The verdict on an open pull request of the plain decision. */
export function decideOpenAt(
  now: number,
  changed: {
    readonly observed?: Partial<QuotaObservation>;
    readonly pull?: Partial<PullRequestObservation>;
    readonly memory?: Remembered;
    readonly decision?: Parameters<typeof openDecision>[0];
  } = {},
): readonly [ResizeMemory, Verdict] {
  const held = openDecision(changed.decision);
  const seen = seenWith(held, pullRequest(changed.pull), changed.observed);
  return afterWords(seen, memory({ decision: held, ...changed.memory }), now);
}

/** Decides until nothing is left to tell people: what is done or waited for then. */
function afterWords(seen: Seen, remembered: ResizeMemory, now: number): readonly [ResizeMemory, Verdict] {
  let current = remembered;
  for (let words = 0; words < 10; words += 1) {
    const [next, verdict] = decide(seen, current, now);
    if (verdict.kind !== 'notify') return [next, verdict];
    current = applyOutcome.emitted(next, verdict.about);
  }
  throw new Error('it never stops talking');
}
