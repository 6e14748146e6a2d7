/** The data of a pull request's description: the names that its template can use. */
import type { ResourceList } from '../../kernel/resource-list.ts';
import { quotaResizeId } from '../target.ts';
import { type QuotaTarget, targetName } from '../../kernel/target.ts';
import { formatInstant, formatSpan, MINUTE_MS } from '../../kernel/time.ts';
import type { Decision, LimitChange } from '../model/decision.ts';
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

/** So many sentences of evidence stay far below GitHub's limit. */
const EVIDENCE_SHOWN = 20;

/** The source of a value that no annotation sets: the settings of the process and their defaults. */
const PROCESS = 'the installation';

/** The raises of one quota. */
export interface QuotaChanges {
  readonly quota: string;
  /** `from` is the value in Git. */
  readonly changes: readonly LimitChange[];
}

/** A quota that the pull request raises, with its place in Git. */
export interface RaisedQuota extends QuotaChanges {
  /** How it was found, to follow "is". */
  readonly how: string;
  /** Resources of the decision that Git already has at the proposed value or above. */
  readonly inGit: ResourceList;
}

export interface BodyFacts {
  readonly target: QuotaTarget;
  readonly decision: Pick<
    Decision,
    'id' | 'decidedAt' | 'evidence' | 'notes' | 'usageNotes' | 'batchedQuotas' | 'approvalRequirement' | 'approvedBy'
  >;
  readonly policy: ResizePolicy;
  readonly repository: string;
  readonly base: string;
  /** All changed files. */
  readonly paths: readonly string[];
  /** The decision's own quota first, then its batched quotas. */
  readonly quotas: readonly RaisedQuota[];
  /** Batched quotas that this pull request cannot raise. */
  readonly leftOut: readonly { readonly quota: string; readonly why: string }[];
  /** The URL of the Temporal UI and the workflow's namespace; null when unknown. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
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
interface BodyContext {
  readonly id: string;
  readonly cluster: ForeignText;
  readonly namespace: ForeignText;
  readonly quota: ForeignText;
  readonly target: ForeignText;
  readonly repository: ForeignText;
  readonly base: ForeignText;
  readonly decidedAt: string;
  readonly several: boolean;
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
  const { target, decision, quotas, policy, temporalUi } = facts;
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
    several: quotas.length > 1,
    severalFiles: facts.paths.length > 1,
    quotas: quotas.map(({ quota }) => text(quota)),
    files: facts.paths.map(text),
    changes: quotas.flatMap(({ quota, changes }) =>
      changes.map(({ resource, used, from, to, reason }) => ({
        quota: text(quota),
        resource: text(resource),
        used: text(used),
        from: text(from),
        to: text(to),
        reason: text(reason),
      })),
    ),
    leftAlone: quotas.flatMap(({ quota, inGit }) =>
      Object.entries(inGit).map(([resource, value]) => ({
        quota: text(quota),
        resource: text(resource),
        value: text(value),
      })),
    ),
    leftOut: facts.leftOut.map(({ quota, why }) => ({ quota: text(quota), why: text(why) })),
    evidence: [...decision.evidence.slice(0, EVIDENCE_SHOWN), ...usageSentences(facts)].map(text),
    moreEvidence: Math.max(0, decision.evidence.length - EVIDENCE_SHOWN),
    found: quotas.map(({ quota, how }) => ({ quota: text(quota), how: text(how) })),
    notes: (decision.notes ?? []).map(text),
    approval: awaitedApproval(facts),
    approvedBy: decision.approvedBy === undefined ? null : text(decision.approvedBy),
    next: whatHappensNext(facts),
    policy: policyRows(policy, [...new Set(quotas.flatMap(({ changes }) => changes.map(({ resource }) => resource)))]),
    commandArgument: targetName(target),
    workflowId,
    workflowUrl:
      temporalUi === null
        ? null
        : `${temporalUi.url}/namespaces/${encodeURIComponent(temporalUi.namespace)}/workflows/${encodeURIComponent(workflowId)}`,
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

function awaitedApproval({ decision: { approvalRequirement, approvedBy } }: BodyFacts): ForeignText | null {
  // Includes an approval from before the pull request: the requirement may have grown since.
  return approvalRequirement === null || approvedBy !== undefined ? null : new ForeignText(approvalRequirement.message);
}

function whatHappensNext(facts: BodyFacts): readonly string[] {
  const { policy } = facts;
  return [
    mergeSentence(facts),
    ...holdSentences(policy),
    `After the merge, the new limits reach the cluster the way this repository always does. Headroom waits for that, and then for the cooldown of ${policy.cooldown / MINUTE_MS} min.`,
    'While this is open, Headroom updates it when the demand grows or the base branch moves, and closes it when the demand is gone.',
    policy.rejectionCooldown === 0
      ? 'If this is closed without a merge, Headroom may ask for these values again at once.'
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
  const approved = awaitedApproval(facts) === null ? '' : 'it is approved, ';
  return `Headroom merges this (squash) when ${approved}every check has passed and the rules of the base branch are met.`;
}

function holdSentences({ autoMerge, freezeUntil, mergeWindows }: ResizePolicy): readonly string[] {
  if (!autoMerge.allowed) return [];
  return [
    ...(freezeUntil === null
      ? []
      : [`Headroom merges nothing before ${formatInstant(freezeUntil)}, because of a change freeze.`]),
    ...(mergeWindows.length === 0
      ? []
      : [
          `Headroom merges only in a merge window: ${mergeWindows.map((window) => code(windowText(window))).join(', ')}.`,
        ]),
  ];
}

function windowText({ cron, duration, zone }: ResizePolicy['mergeWindows'][number]): string {
  return `${cron} for ${formatSpan(duration)} (${zone})`;
}

/** The settings that affect these resources, with the layer of each. */
function policyRows(policy: ResizePolicy, resources: readonly string[]): readonly PolicyRow[] {
  const row = (name: string, value: string, source: PolicySource = policy.sources[name] ?? 'default'): PolicyRow => ({
    name,
    value: new ForeignText(value),
    from: source === 'default' ? PROCESS : `an annotation of the ${source}`,
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

/** A change for testing templates. */
export const sampleChange: LimitChange = {
  resource: 'requests.cpu',
  from: '2',
  to: '3',
  used: '2',
  demand: '1',
  reason: 'Usage is 2 of 2 CPU.',
};

/** Contexts for testing templates: with every optional part, and without. */
export const bodySamples: readonly BodyContext[] = samples();

function samples(): readonly BodyContext[] {
  const quota: RaisedQuota = { quota: 'compute', changes: [sampleChange], how: 'in a file', inGit: {} };
  const policy: ResizePolicy = {
    enabled: true,
    mode: 'propose',
    threshold: '80',
    increment: '20',
    thresholds: {},
    increments: {},
    cooldown: 60 * MINUTE_MS,
    autoMerge: { allowed: true, reason: 'On' },
    maxStep: '2',
    burst: 'settle',
    minimums: {},
    maximums: {},
    steps: {},
    approval: 'none',
    approvalReminder: null,
    approvalTimeout: null,
    freezeUntil: null,
    mergeWindows: [],
    rejectionCooldown: 0,
    reviewers: null,
    git: {},
    sources: {},
  };
  const plain: BodyFacts = {
    target: { cluster: 'prod', namespace: 'team-a', quota: 'compute' },
    decision: { id: '0a1b2c3d', decidedAt: 0, evidence: [], approvalRequirement: null },
    policy,
    repository: 'acme/gitops',
    base: 'main',
    paths: ['quota.yaml'],
    quotas: [quota],
    leftOut: [],
    temporalUi: null,
  };
  const full: BodyFacts = {
    ...plain,
    decision: {
      ...plain.decision,
      evidence: ['why'],
      notes: ['capped'],
      usageNotes: ['the status says less'],
      approvalRequirement: { reason: 'ApprovalRequired', message: 'ask' },
    },
    quotas: [
      { ...quota, inGit: { pods: '10' } },
      { ...quota, quota: 'gpu' },
    ],
    leftOut: [{ quota: 'memory', why: 'gone' }],
    temporalUi: { url: 'https://temporal.example.com', namespace: 'default' },
  };
  return [bodyContext(plain), bodyContext(full)];
}
