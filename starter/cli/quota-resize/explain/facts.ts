/** What would happen to a quota now, and why: the facts that `headroom explain` prints, as JSON or in words. */
import { percentOf } from '../../../../domain/kernel/percent.ts';
import { isZero, parseQuantity } from '../../../../domain/kernel/quantity.ts';
import { addLists, type ResourceList } from '../../../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import { type EpochMs, formatInstant, MINUTE_MS } from '../../../../domain/kernel/time.ts';
import { emitted } from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { usageFacts } from '../../../../domain/quota-resize/demand/counted-usage.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { notProvedOf } from '../../../../domain/quota-resize/decide/left-to-people.ts';
import { type Decision, decidedLimits } from '../../../../domain/quota-resize/model/decision.ts';
import {
  emptyMemory,
  IDLE,
  isUnmerged,
  type ResizeMemory,
  stateOf,
} from '../../../../domain/quota-resize/model/memory.ts';
import {
  cappedRequirement,
  computeRequirement,
  describeChange,
  outgrows,
} from '../../../../domain/quota-resize/sizing/requirement.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import {
  incrementFor,
  maximumFor,
  minimumFor,
  settingFor,
  stepFor,
  thresholdFor,
} from '../../../../domain/quota-resize/policy/policy.ts';
import { unattendedSentence } from '../../../../domain/quota-resize/policy/unattended-limit.ts';
import { hydrate } from '../../../../domain/quota-resize/decide/hydrate.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { unmetDemand } from '../../../../domain/quota-resize/demand/unmet-demand.ts';
import type { Proposal, Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import type { UsageMode } from '../../../../domain/quota-usage/mode.ts';
import type { ResizeStatus } from '../../../../workflows/quota-resize/messages.ts';
import { withoutLinks } from '../../shared.ts';
import type { ScaledWorkload } from './hypothetical-cluster.ts';
import type { SettingsSource } from '../../settings-in-force.ts';
import {
  type From,
  fromOf,
  fromOfProcess,
  fromText,
  policyEntries,
  type PolicyEntry,
  type Provenance,
} from './layers.ts';

/** A number of the policy, with where it comes from. */
interface Sourced {
  readonly value: string;
  readonly from: From;
}

/** One limit of the quota. Quantities are canonical, shares and percentages are in percent. */
export interface ResourceFacts {
  readonly resource: string;
  /** Null while nobody has counted it. */
  readonly used: string | null;
  readonly hard: string;
  /** used ÷ hard, rounded down to a tenth; null of a limit of 0. */
  readonly share: string | null;
  readonly threshold: Sourced;
  readonly increment: Sourced;
  readonly minimum: Sourced | null;
  readonly maximum: Sourced | null;
  readonly step: Sourced | null;
  /** What was refused and is still missing. */
  readonly missing: string;
  /** The limit that it would be raised to; null where it is left as it is. */
  readonly proposed: string | null;
  readonly why: string;
}

/** A step at a moment, provided that nothing changes until then. */
interface Step {
  /** RFC 3339. */
  readonly at: string;
  readonly phase: Verdict['phase'];
  readonly reason: Verdict['reason'] | 'FirstObservation';
  readonly detail: string;
}

/** All of it; this is what `--output json` prints. */
export interface Explanation {
  readonly target: QuotaTarget;
  /** When it was looked at, RFC 3339. */
  readonly at: string;
  /** The assumptions of `--what-if`; null without any. */
  readonly whatIf: { readonly used: ResourceList; readonly replicas: readonly ScaledWorkload[] } | null;
  readonly resources: readonly ResourceFacts[];
  /** Whose numbers `used` are: in modes `audit` and `own` they are counted from the objects. */
  readonly usage: {
    readonly mode: UsageMode;
    readonly from: From;
    /** Where the status says something else than was counted, or nothing could be counted, one sentence each. */
    readonly notes: readonly string[];
  };
  /** Which workloads miss what, one sentence each. */
  readonly evidence: readonly string[];
  /** What the proposal leaves out and why, one sentence each. */
  readonly notes: readonly string[];
  readonly policy: readonly PolicyEntry[];
  /** The platform's guardrail for the namespace, and what it allows without a person, one sentence each. */
  readonly guardrail: readonly string[];
  /** Whose settings the defaults of the policy, the mode of counting and the repositories are. */
  readonly settings: SettingsSource;
  /** The episode that runs now; null when none does, or when Temporal could not be asked. */
  readonly episode: Pick<ResizeStatus, 'phase' | 'reason' | 'detail' | 'since'> | null;
  /** Why nothing is known of an episode, where Temporal could not be asked. */
  readonly episodeUnknown: string | null;
  readonly next: readonly Step[];
  /** What comes after the last step, one sentence each. */
  readonly afterwards: readonly string[];
  /** Where the quota would be looked for in Git, in order, as far as the cluster tells. */
  readonly locations: readonly string[];
  /** Other quotas of the namespace that miss room for the same workloads. */
  readonly otherQuotas: readonly string[];
  readonly lease: { readonly name: string; readonly holder: string | null; readonly lastModified: string | null };
  /** What in the annotations is not understood, and what could not be read. */
  readonly warnings: readonly string[];
}

export interface ExplainInput {
  readonly target: QuotaTarget;
  readonly observation: QuotaObservation;
  readonly whatIf: Explanation['whatIf'];
  readonly status: ResizeStatus | null;
  readonly episodeUnknown: string | null;
  readonly provenance: Provenance;
  readonly settings: SettingsSource;
  /** What could not be read. */
  readonly troubles: readonly string[];
  readonly now: EpochMs;
}

export function explain(input: ExplainInput): Explanation {
  const { target, observation, whatIf, status, episodeUnknown, provenance, settings, troubles, now } = input;
  const memory = hydrate(observation, remembered(status));
  const requirement = computeRequirement(observation, memory.lastChange);
  const { steps, last } = foresee(observation, memory, status, requirement, now);
  return {
    target,
    at: formatInstant(now),
    whatIf,
    resources: resourceFacts(observation, memory, requirement, provenance),
    usage: {
      mode: observation.usage,
      from: fromOfProcess('quotaUsage.mode', provenance),
      notes: usageFacts(observation, memory.lastChange),
    },
    evidence: requirement?.evidence ?? [],
    notes: requirement?.notes ?? cappedRequirement(observation, memory.lastChange),
    policy: policyEntries(observation.policy, provenance),
    guardrail: guardrailFacts(observation),
    settings,
    episode: status === null ? null : episodeOf(status),
    episodeUnknown,
    next: steps,
    afterwards: last === null ? [] : afterwards(observation, last, provenance),
    locations: [
      ...observation.candidates.map(locationOf),
      ...notProvedIn(status?.decision ?? observation.lease.decision),
    ],
    otherQuotas: observation.otherQuotas.map(({ name }) => name),
    lease: {
      name: observation.lease.name,
      holder: observation.lease.holder,
      lastModified: observation.lease.lastModified === null ? null : formatInstant(observation.lease.lastModified),
    },
    warnings: [...observation.warnings, ...(observation.doubted ?? [])].map(({ message }) => message).concat(troubles),
  };
}

function guardrailFacts({ policy, quota }: QuotaObservation): readonly string[] {
  return [
    `The guardrail of this namespace is ${policy.guardrail.name}.`,
    ...Object.entries(quota?.hard ?? {}).flatMap(
      ([resource, limit]) => unattendedSentence(policy, resource, parseQuantity(limit)) ?? [],
    ),
  ];
}

/** `clusters/prod of acme/gitops at main: the path template`, or why the search ends there. */
function locationOf({ repository, ref, refBy, path, field, learntFrom, problem }: SourceCandidate): string {
  if (problem !== undefined) return problem;
  const where = path === undefined || path === '' ? 'all' : path;
  const named =
    refBy === undefined ? '' : ' (a branch that an annotation names: a person merges, unless it is protected)';
  const branch = ref === undefined ? '' : ` at ${ref}${named}`;
  const value = field === undefined ? '' : `, ${field}`;
  return `${where} of ${repository ?? 'every configured repository'}${branch}${value}: ${learntFrom}`;
}

/** What is not proved about the place that the present decision writes to. */
function notProvedIn(decision: Decision | null): readonly string[] {
  const notProved = decision === null ? null : notProvedOf(decision);
  return notProved === null ? [] : [`decision ${decision?.id ?? ''} is ${notProved}. A person merges it`];
}

/** What a running episode tells of its memory; the Lease adds the rest. */
function remembered(status: ResizeStatus | null): ResizeMemory {
  if (status === null) return emptyMemory();
  const { decision, approval, rejections } = status;
  return { ...emptyMemory(), state: rememberedState(decision, approval), rejections: rejections };
}

function rememberedState(
  decision: ResizeStatus['decision'],
  approval: ResizeStatus['approval'],
): ResizeMemory['state'] {
  if (decision === null) return IDLE;
  const state = stateOf(decision);
  return isUnmerged(state) ? { ...state, approval } : state;
}

function episodeOf({ phase, reason, detail, since }: ResizeStatus): NonNullable<Explanation['episode']> {
  return { phase, reason, detail: withoutLinks(detail), since };
}

/** Holds that end by themselves, after which the next step can be computed. */
const PASSING: readonly string[] = ['DemandDebouncing', 'CoolingDown'];
const MOST_STEPS = 5;

/** What the state machine does now, and after each hold that ends by itself. */
function foresee(
  observation: QuotaObservation,
  memory: ResizeMemory,
  status: ResizeStatus | null,
  requirement: Proposal | null,
  now: EpochMs,
): { readonly steps: readonly Step[]; readonly last: Verdict | null } {
  const { state } = memory;
  if (state.kind === 'Open' && observation.quota !== null) {
    const { decision } = state;
    return {
      steps: [inReview(decision.pullRequest, decidedLimits(decision), observation, status, requirement, now)],
      last: null,
    };
  }
  const steps: Step[] = [];
  let carried = memory;
  let at = now;
  for (;;) {
    const [after, verdict] = decide({ observation: observation, pullRequest: null }, carried, at);
    const { phase, reason, detail } = verdict;
    const before = steps.at(-1);
    // While a demand settles it is observed every now and then, which is one step for whoever reads.
    if (before?.phase !== phase || before.reason !== reason) {
      steps.push({ at: formatInstant(at), phase, reason, detail: withoutLinks(detail) });
    }
    const later = goesOn(verdict, after, at);
    if (later === null || steps.length === MOST_STEPS) return { steps, last: verdict };
    ({ memory: carried, at } = later);
  }
}

/** The memory and the moment of the next step; null when the state machine acts, ends, or waits for something else. */
function goesOn(
  verdict: Verdict,
  memory: ResizeMemory,
  at: EpochMs,
): { readonly memory: ResizeMemory; readonly at: EpochMs } | null {
  // After the one notification, the episode continues at once.
  if (verdict.kind === 'notify') return { memory: emitted(memory, verdict.about), at };
  const until = verdict.kind === 'hold' && PASSING.includes(verdict.reason) ? verdict.wait.until : undefined;
  return until === undefined || until <= at ? null : { memory, at: until };
}

/** A pull request is open: the result depends on GitHub and people, which are not queried here. */
function inReview(
  pullRequest: { readonly number: number; readonly url: string },
  decided: ResourceList,
  observation: QuotaObservation,
  status: ResizeStatus | null,
  requirement: Proposal | null,
  now: EpochMs,
): Step {
  const grown =
    requirement !== null && outgrows(requirement, decided, observation.policy)
      ? `; more is required than its values, so it would be updated (${requirement.changes.map(describeChange).join('; ')})`
      : '';
  const learntFrom =
    status === null
      ? `pull request #${pullRequest.number} (${pullRequest.url}) is open; what comes next depends on its checks and on people`
      : withoutLinks(status.detail);
  const { phase, reason } = status ?? { phase: 'AwaitingChecks', reason: 'Adopted' };
  return { at: formatInstant(now), phase, reason, detail: `${learntFrom}${grown}` };
}

function resourceFacts(
  observation: QuotaObservation,
  memory: ResizeMemory,
  requirement: Proposal | null,
  provenance: Provenance,
): readonly ResourceFacts[] {
  if (observation.quota === null) return [];
  const { hard, used } = observation.quota;
  const { policy } = observation;
  const missing = unmetDemand(observation, memory.lastChange).reduce<ResourceList>(
    (sum, entry) => addLists(sum, entry.total),
    {},
  );
  const notes = requirement?.notes ?? cappedRequirement(observation, memory.lastChange);
  return Object.keys(hard)
    .toSorted()
    .map((resource): ResourceFacts => {
      const limit = hard[resource] ?? '0';
      const counted = Object.hasOwn(used, resource) ? (used[resource] ?? null) : null;
      const change = requirement?.changes.find((candidate) => candidate.resource === resource);
      const sourced = (name: 'threshold' | 'increment' | 'min' | 'max', value: string | undefined): Sourced | null => {
        if (value === undefined) return null;
        const setting = settingFor(policy, name, resource);
        return { value, from: fromOf(setting.name, setting.source, provenance) };
      };
      const step = stepFor(policy, resource);
      const share = counted === null ? null : percentOf(parseQuantity(counted), parseQuantity(limit));
      const threshold = thresholdFor(policy, resource);
      return {
        resource,
        used: counted,
        hard: limit,
        share,
        threshold: sourced('threshold', threshold) as Sourced,
        increment: sourced('increment', incrementFor(policy, resource)) as Sourced,
        minimum: sourced('min', minimumFor(policy, resource)),
        maximum: sourced('max', maximumFor(policy, resource)),
        step:
          step === undefined
            ? null
            : { value: step, from: fromOf('steps', policy.sources['steps'] ?? 'default', provenance) },
        missing: missing[resource] ?? '0',
        proposed: change?.to ?? null,
        why:
          change?.reason ??
          noteOn(notes, resource) ??
          calm({ used: counted, hard: limit, share, threshold, missing: missing[resource] ?? '0' }),
      };
    });
}

/** What is said of a resource that is not raised. */
function noteOn(notes: readonly string[], resource: string): string | undefined {
  return notes.find((note) => note.startsWith(`${resource} `) || note.startsWith(`${resource}:`));
}

function calm(row: {
  readonly used: string | null;
  readonly hard: string;
  readonly share: string | null;
  readonly threshold: string;
  readonly missing: string;
}): string {
  if (isZero(parseQuantity(row.hard))) return 'A limit of 0 is deliberate, so no threshold raises it.';
  if (row.used === null) return 'Its usage has not been counted yet.';
  const refused = isZero(parseQuantity(row.missing))
    ? 'No workload needs more of it.'
    : 'What workloads still need fits.';
  return `Usage is ${row.share} %, below the threshold of ${row.threshold} %. ${refused}`;
}

/** What follows the last step, as far as the policy tells. */
function afterwards(observation: QuotaObservation, last: Verdict, provenance: Provenance): readonly string[] {
  const { policy, mergeHold } = observation;
  if (last.kind === 'recommend') {
    const mode = fromOf('mode', policy.sources['mode'] ?? 'default', provenance);
    return [
      `that is all: the mode is observe (${fromText(mode)}), so nothing is written to GitHub`,
      `the cooldown lasts ${policy.cooldown / MINUTE_MS} min`,
    ];
  }
  if (last.kind !== 'propose') return [];
  const { approvalRequirement } = last.proposal;
  const autoMerge = fromOf('auto-merge', policy.sources['auto-merge'] ?? 'default', provenance);
  const early = approvalRequirement?.before === 'pull-request';
  const approval =
    approvalRequirement === null ? [] : [`it waits for approve or reject: ${approvalRequirement.message}`];
  return [
    ...(early ? approval : []),
    'Headroom finds the quota in Git, and opens a pull request that changes the value there',
    'it waits for the checks',
    ...(early ? [] : approval),
    policy.autoMerge.byForge === true
      ? `GitHub's auto-merge is enabled while a review or a check is missing, otherwise it is merged when GitHub says that it is clean (auto-merge is github: ${fromText(autoMerge)})`
      : policy.autoMerge.allowed
        ? `it is merged when GitHub says that it is clean (auto-merge is on: ${fromText(autoMerge)})`
        : `a person merges it: auto-merge is off (${fromText(autoMerge)})`,
    ...(policy.autoMerge.allowed && mergeHold !== null ? [`not merged now: ${mergeHold.detail}`] : []),
    `the cluster follows, and the cooldown lasts ${policy.cooldown / MINUTE_MS} min`,
  ];
}
