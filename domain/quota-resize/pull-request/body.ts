/** The data of a pull request's description: the names that its template can use. */
import type { ResourceList } from '../../kernel/resource-list.ts';
import { quotaResizeId } from '../target.ts';
import { type QuotaTarget, targetName } from '../../kernel/target.ts';
import { type TemporalUi, workflowUrl } from '../../kernel/temporal-ui.ts';
import { formatInstant, formatSpan, MINUTE_MS } from '../../kernel/time.ts';
import { approverName } from '../decide/sentences.ts';
import type { Decision, LimitChange } from '../model/decision.ts';
import { asksForVerified } from '../policy/guardrail.ts';
import { code, escapeMarkdown, ForeignText } from './markdown.ts';
import {
  incrementFor,
  maximumFor,
  minimumFor,
  type PolicySource,
  type ResizePolicy,
  settingFor,
  stepFor,
  thresholdFor,
} from '../policy/policy.ts';
import { parseQuantity } from '../../kernel/quantity.ts';
import { unattendedSentence } from '../policy/unattended-limit.ts';

/** So many sentences of evidence stay far below GitHub's limit. */
const EVIDENCE_SHOWN = 20;

/** The source of a value that no annotation sets: the settings of the process and their defaults. */
const PROCESS = 'the installation';

/** The raises of one quota. */
export interface QuotaChanges {
  readonly quota: string;
  /** Of a quota whose decision joined the pull request of another one; absent for the decision's own namespace. */
  readonly namespace?: string;
  /** `from` is the value in Git. */
  readonly changes: readonly LimitChange[];
}

/** A quota that the pull request raises, with its place in Git. */
export interface RaisedQuota extends QuotaChanges {
  /** How it was found, to follow "is". */
  readonly how: string;
  /** Why it is not proved that this changes the quota's own limits, a clause; absent where it is. */
  readonly notProved?: string;
  /** Resources of the decision that Git already has at the proposed value or above. */
  readonly inGit: ResourceList;
}

/** A decision of another quota with a commit in the pull request. */
interface JoinedFacts {
  readonly target: QuotaTarget;
  readonly decision: Pick<
    Decision,
    'evidence' | 'notes' | 'usageNotes' | 'approvalRequirement' | 'approvedBy' | 'approvalVerifiedBy'
  >;
  readonly quotas: readonly RaisedQuota[];
}

export interface BodyFacts {
  readonly target: QuotaTarget;
  readonly decision: Pick<
    Decision,
    | 'id'
    | 'decidedAt'
    | 'evidence'
    | 'notes'
    | 'usageNotes'
    | 'batchedQuotas'
    | 'approvalRequirement'
    | 'approvedBy'
    | 'approvalVerifiedBy'
  >;
  readonly policy: ResizePolicy;
  readonly repository: string;
  readonly base: string;
  /** Present when nothing but an annotation names the base branch. */
  readonly branchBy?: 'annotation';
  /** All changed files. */
  readonly paths: readonly string[];
  /** The decision's own quota first, then its batched quotas. */
  readonly quotas: readonly RaisedQuota[];
  /** Batched quotas that this pull request cannot raise. */
  readonly leftOut: readonly { readonly quota: string; readonly why: string }[];
  /** Decisions of other quotas that share the pull request. */
  readonly joined?: readonly JoinedFacts[];
  /** The URL of the Temporal UI and the workflow's namespace; null when unknown. */
  readonly temporalUi: TemporalUi | null;
}

interface PolicyRow {
  readonly name: string;
  readonly value: ForeignText;
  readonly from: string;
}

/**
 * The names available to a description. Each ForeignText is escaped where it is used, and `{{code name}}` shows it as
 * code.
 */
export interface BodyContext {
  readonly id: string;
  readonly cluster: ForeignText;
  readonly namespace: ForeignText;
  readonly quota: ForeignText;
  readonly target: ForeignText;
  readonly repository: ForeignText;
  readonly base: ForeignText;
  readonly decidedAt: string;
  readonly several: boolean;
  /** Whether the decision itself raises several quotas. */
  readonly severalOwn: boolean;
  readonly severalFiles: boolean;
  readonly quotas: readonly ForeignText[];
  readonly files: readonly ForeignText[];
  readonly changes: readonly Readonly<Record<'quota' | 'resource' | 'used' | 'from' | 'to' | 'reason', ForeignText>>[];
  readonly leftAlone: readonly Readonly<Record<'quota' | 'resource' | 'value', ForeignText>>[];
  readonly leftOut: readonly Readonly<Record<'quota' | 'why', ForeignText>>[];
  readonly evidence: readonly ForeignText[];
  /** The number of sentences of evidence that are not shown. */
  readonly moreEvidence: number;
  readonly found: readonly Readonly<Record<'quota' | 'how', ForeignText>>[];
  /** How the policy changed the requirement: capped by a maximum, or not acted on. */
  readonly notes: readonly ForeignText[];
  /** Why it is not proved that a change is one of the quota's own limits. */
  readonly notProved: readonly Readonly<Record<'quota' | 'why', ForeignText>>[];
  /** The quotas that share the pull request, as `team-b/compute`, with the approval that each still needs. */
  readonly joined: readonly {
    readonly quota: ForeignText;
    readonly approval: ForeignText | null;
    readonly commandArgument: string;
  }[];
  /** Why an approval is required; null when none is, or when it was given. */
  readonly approval: ForeignText | null;
  readonly approvedBy: ForeignText | null;
  /** Sentences in Markdown. */
  readonly next: readonly string[];
  readonly policy: readonly PolicyRow[];
  /** The argument `team-a/compute` for operator commands. */
  readonly commandArgument: string;
  readonly workflowId: string;
  readonly workflowUrl: string | null;
}

export function bodyContext(facts: BodyFacts): BodyContext {
  const { target, decision, quotas, policy, temporalUi, joined = [] } = facts;
  // Their rules are the same as the decision's, and so are the settings that are shown.
  const others = joined.flatMap((one) => one.quotas.map((raised) => ({ ...raised, quota: targetName(one.target) })));
  const own = quotas.map((raised) => ({ ...raised, quota: targetName({ ...target, quota: raised.quota }) }));
  const all = others.length === 0 ? quotas : [...own, ...others];
  const { approvedBy } = decision;
  const text = (raw: string): ForeignText => new ForeignText(raw);
  const workflowId = quotaResizeId(target);
  return {
    id: decision.id,
    cluster: text(target.cluster),
    namespace: text(target.namespace),
    quota: text(target.quota),
    target: text(targetName(target)),
    repository: text(facts.repository),
    base: text(facts.base),
    decidedAt: formatInstant(decision.decidedAt),
    several: all.length > 1,
    severalOwn: quotas.length > 1,
    severalFiles: facts.paths.length > 1,
    quotas: quotas.map(({ quota }) => text(quota)),
    files: facts.paths.map(text),
    changes: all.flatMap(({ quota, changes }) =>
      changes.map(({ resource, used, from, to, reason }) => ({
        quota: text(quota),
        resource: text(resource),
        used: text(used),
        from: text(from),
        to: text(to),
        reason: text(reason),
      })),
    ),
    leftAlone: all.flatMap(({ quota, inGit }) =>
      Object.entries(inGit).map(([resource, value]) => ({
        quota: text(quota),
        resource: text(resource),
        value: text(value),
      })),
    ),
    leftOut: facts.leftOut.map(({ quota, why }) => ({ quota: text(quota), why: text(why) })),
    evidence: [...decision.evidence.slice(0, EVIDENCE_SHOWN), ...usageSentences(facts), ...joinedEvidence(joined)].map(
      text,
    ),
    moreEvidence: Math.max(0, decision.evidence.length - EVIDENCE_SHOWN),
    found: all.map(({ quota, how }) => ({ quota: text(quota), how: text(how) })),
    notes: [
      ...(decision.notes ?? []),
      ...joined.flatMap((one) => (one.decision.notes ?? []).map((note) => `${targetName(one.target)}: ${note}`)),
    ].map(text),
    joined: joined.map((one) => ({
      quota: text(targetName(one.target)),
      approval: awaitedApproval({ decision: one.decision, policy }),
      commandArgument: targetName(one.target),
    })),
    notProved: all.flatMap(({ quota, notProved }) =>
      notProved === undefined ? [] : [{ quota: text(quota), why: text(notProved) }],
    ),
    approval: awaitedApproval(facts),
    approvedBy:
      approvedBy === undefined ? null : text(approverName({ by: approvedBy, verified: decision.approvalVerifiedBy })),
    next: whatHappensNext(facts),
    policy: policyRows(policy, [...new Set(quotas.flatMap(({ changes }) => changes.map(({ resource }) => resource)))]),
    commandArgument: targetName(target),
    workflowId,
    workflowUrl: temporalUi === null ? null : workflowUrl(temporalUi, workflowId),
  };
}

/**
 * Sentences about differences between status and counted usage; those of a batched quota name the quota and are
 * included while it is raised.
 */
function usageSentences({ decision, quotas }: BodyFacts): readonly string[] {
  const batchedQuotas = (decision.batchedQuotas ?? []).filter((batchedQuota) =>
    quotas.some(({ quota }) => quota === batchedQuota.quota),
  );
  return [
    ...(decision.usageNotes ?? []),
    ...batchedQuotas.flatMap(({ quota, usageNotes = [] }) => usageNotes.map((note) => `Quota ${quota}: ${note}`)),
  ];
}

/** How many sentences of evidence a decision that joined adds: the pull request of its own would have had all of them. */
const JOINED_EVIDENCE = 5;

function joinedEvidence(joined: readonly JoinedFacts[]): readonly string[] {
  return joined.flatMap(({ target, decision: { evidence, usageNotes = [] } }) =>
    [...evidence, ...usageNotes].slice(0, JOINED_EVIDENCE).map((sentence) => `${targetName(target)}: ${sentence}`),
  );
}

function awaitedApproval({
  decision,
  policy,
}: {
  readonly decision: Pick<BodyFacts['decision'], 'approvalRequirement' | 'approvedBy' | 'approvalVerifiedBy'>;
  readonly policy: ResizePolicy;
}): ForeignText | null {
  const { approvalRequirement, approvedBy, approvalVerifiedBy } = decision;
  const counts = approvalVerifiedBy !== undefined || !asksForVerified(policy);
  // Includes an approval from before the pull request: the requirement may have grown since.
  return approvalRequirement === null || (approvedBy !== undefined && counts)
    ? null
    : new ForeignText(approvalRequirement.message);
}

function whatHappensNext(facts: BodyFacts): readonly string[] {
  const { policy } = facts;
  return [
    mergeSentence(facts),
    ...holdSentences(policy),
    ...guardrailSentences(facts),
    `After the merge, the new limits reach the cluster the way this repository always does. Headroom waits for that, and then for the cooldown of ${policy.cooldown / MINUTE_MS} min.`,
    'While this is open, Headroom updates it when the demand grows or the base branch moves, and closes it when the demand is gone.',
    policy.rejectionCooldown === 0
      ? 'If this is closed without a merge, Headroom may ask for these values again after the cooldown.'
      : `If this is closed without a merge, Headroom does not ask for these values again for ${formatSpan(policy.rejectionCooldown)}.`,
  ];
}

function mergeSentence(facts: BodyFacts): string {
  const { autoMerge } = facts.policy;
  if (!autoMerge.allowed) {
    const why =
      autoMerge.reason === 'NamespaceOff'
        ? `the annotation ${code('resizer.io/auto-merge')} of namespace ${code(facts.target.namespace)} switches auto-merge off`
        : 'auto-merge is off for this installation';
    return `A person merges this, because ${why}.`;
  }
  if (facts.quotas.some(({ notProved }) => notProved !== undefined)) {
    return 'A person merges this, because it is not proved that it changes nothing but limits of the quota.';
  }
  const branch =
    facts.branchBy === 'annotation'
      ? `, and the branch ${code(facts.base)}, which only an annotation names, is protected`
      : '';
  const approved = awaitedApproval(facts) === null ? '' : 'it is approved, ';
  return `Headroom merges this (squash) when ${approved}every check has passed and the rules of the base branch are met${branch}.`;
}

function holdSentences({ autoMerge, freezeUntil, mergeWindows: own, guardrail }: ResizePolicy): readonly string[] {
  if (!autoMerge.allowed) return [];
  const windows = [guardrail.mergeWindows, own].filter((list) => list.length > 0);
  return [
    ...(freezeUntil === null
      ? []
      : [`Headroom merges nothing before ${formatInstant(freezeUntil)}, because of a change freeze.`]),
    ...windows.map(
      (list) => `Headroom merges only in a merge window: ${list.map((window) => code(windowText(window))).join(', ')}.`,
    ),
  ];
}

/** How far the limits may be raised without a person, and by which guardrail. */
function guardrailSentences({ policy, quotas: [own] }: BodyFacts): readonly string[] {
  return (own?.changes ?? []).flatMap(({ resource, from }) => {
    const sentence = unattendedSentence(policy, resource, parseQuantity(from));
    return sentence === null ? [] : [escapeMarkdown(sentence)];
  });
}

function windowText({ cron, duration, zone }: ResizePolicy['mergeWindows'][number]): string {
  return `${cron} for ${formatSpan(duration)} (${zone})`;
}

/** The settings that affect these resources, with the layer of each. */
function policyRows(policy: ResizePolicy, resources: readonly string[]): readonly PolicyRow[] {
  const row = (name: string, value: string, source: PolicySource = policy.sources[name] ?? 'default'): PolicyRow => ({
    name,
    value: new ForeignText(value),
    from:
      source === 'default'
        ? PROCESS
        : source === 'guardrail'
          ? `the platform's guardrail ${policy.guardrail.name}`
          : `an annotation of the ${source}`,
  });
  const rows = [
    row('mode', policy.mode),
    ...resources.flatMap((resource) => [
      ...(['threshold', 'increment', 'min', 'max'] as const).flatMap((setting) => {
        const value = {
          threshold: `${thresholdFor(policy, resource)} %`,
          increment: `${incrementFor(policy, resource)} %`,
          min: minimumFor(policy, resource),
          max: maximumFor(policy, resource),
        }[setting];
        const { name, source } = settingFor(policy, setting, resource);
        return value === undefined ? [] : [row(name, value, source)];
      }),
      ...[stepFor(policy, resource)].flatMap((step) =>
        step === undefined ? [] : [row('steps', `${resource} ${step}`)],
      ),
    ]),
    row('burst', policy.burst),
    row('max-step', policy.maxStep),
    row('cooldown-minutes', String(policy.cooldown / MINUTE_MS)),
    row('approval', policy.approval),
    row('auto-merge', policy.autoMerge.allowed ? 'on' : 'off'),
    row('rejection-cooldown', formatSpan(policy.rejectionCooldown)),
    ...(policy.freezeUntil === null ? [] : [row('freeze-until', formatInstant(policy.freezeUntil))]),
    ...(policy.mergeWindows.length === 0 ? [] : [row('merge-windows', policy.mergeWindows.map(windowText).join(', '))]),
    ...(policy.reviewers === null ? [] : [row('reviewers', policy.reviewers.join(', '))]),
  ];
  // One threshold may apply to several resources.
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = `${row.name} ${escapeMarkdown(String(row.value))}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
