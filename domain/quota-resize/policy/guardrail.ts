/**
 * The platform's guardrails: what no annotation, file or Event may exceed. They stand in the configuration of the
 * processes only. This module has no parser, so that workflow code can import it; `guardrail-settings.ts` has it.
 */
import { isEmptySelector, type LabelSelector, matchesSelector } from '../../kernel/label-selector.ts';
import type { Percent } from '../../kernel/percent.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { Approval, MergeWindow } from './merge-rules.ts';

/** Whose approval counts. verified: only of a person whose identity the API server or the forge has checked. */
type ApprovalBy = 'verified' | 'any';

/** Which namespaces a guardrail holds for. Both parts must match; an absent part matches all. */
interface NamespaceSelector {
  /** Names, in which `*` stands for any characters. */
  readonly names?: readonly string[] | undefined;
  readonly labels?: LabelSelector | undefined;
}

/** Where in Git a quota may be changed. An absent list allows everything. */
interface GitAllowance {
  /** `owner/name`. */
  readonly repositories?: readonly string[];
  /** Folders and files, with all below them; they may have the fields of a path template. */
  readonly paths?: readonly string[];
  /** Fields of a YAML document, with all below them. */
  readonly fields?: readonly string[];
  readonly branches?: readonly string[];
}

/** One guardrail, as configured. */
export interface Guardrail {
  readonly name: string;
  readonly namespaces?: NamespaceSelector | undefined;
  /** By family (`cpu`) or by quota key: the greatest limit that is ever proposed. */
  readonly max: ResourceList;
  /** By how much a limit may grow without a person in 24 hours, as a factor; null: unbounded. */
  readonly growthPerDay: string | null;
  /** The same for seven days. */
  readonly growthPerWeek: string | null;
  /** By family or quota key: the greatest sum of the limits of all quotas that the guardrail holds for. */
  readonly totals: ResourceList;
  /** The least values of settings, in milliseconds and percent; see `least-values.ts` for what holds where one is absent. */
  readonly leastCooldown?: number | undefined;
  readonly leastRejectionCooldown?: number | undefined;
  readonly leastApprovalTimeout?: number | undefined;
  readonly leastReminder?: number | undefined;
  readonly leastIncrement?: Percent | undefined;
  readonly leastApproval: Approval;
  readonly largestMaxStep: string | null;
  readonly threshold: { readonly least?: Percent | undefined; readonly greatest: Percent } | null;
  readonly mergeWindows: readonly MergeWindow[];
  readonly git: GitAllowance;
  readonly approvalBy: ApprovalBy;
}

/** The part of a guardrail that decisions and writes are checked against; the rest has become part of the policy. */
export type GuardrailInForce = Pick<
  Guardrail,
  'name' | 'growthPerDay' | 'growthPerWeek' | 'totals' | 'mergeWindows' | 'git' | 'approvalBy'
>;

/** What holds where nothing is configured: a quota that is raised every hour needs a person on the same day. */
export const BUILT_IN_GUARDRAIL: Guardrail = {
  name: 'built-in',
  max: {},
  growthPerDay: '4',
  growthPerWeek: '16',
  totals: {},
  leastApproval: 'none',
  largestMaxStep: null,
  threshold: null,
  mergeWindows: [],
  git: {},
  approvalBy: 'any',
};

/** Whether only verified approvals count. Policies in observations of earlier versions have no guardrail. */
export function asksForVerified({ guardrail }: { readonly guardrail?: Pick<Guardrail, 'approvalBy'> }): boolean {
  return guardrail?.approvalBy === 'verified';
}

/** The facts of a namespace by which its guardrail is chosen. */
export interface NamespaceFacts {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Whether the guardrail is for all namespaces. */
export function isForAll({ namespaces }: Pick<Guardrail, 'namespaces'>): boolean {
  return namespaces?.names === undefined && isEmptySelector(namespaces?.labels);
}

/** The first guardrail that matches the namespace. */
export function guardrailFor(guardrails: readonly Guardrail[], namespace: NamespaceFacts): Guardrail {
  return guardrails.find((guardrail) => holdsFor(guardrail, namespace)) ?? BUILT_IN_GUARDRAIL;
}

function holdsFor({ namespaces = {} }: Guardrail, { name, labels = {} }: NamespaceFacts): boolean {
  const isNamed = namespaces.names === undefined || namespaces.names.some((pattern) => matchesName(pattern, name));
  return isNamed && (namespaces.labels === undefined || matchesSelector(namespaces.labels, labels));
}

/** Linear in the length of the name: each part between stars is searched from where the one before ended. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  const end = name.length - last.length;
  let position = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, position);
    if (found < 0 || found + part.length > end) return false;
    position = found + part.length;
  }
  return true;
}

/** What of the guardrail is stored with every policy. */
export function inForce(guardrail: Guardrail): GuardrailInForce {
  const { name, growthPerDay, growthPerWeek, totals, mergeWindows, git, approvalBy } = guardrail;
  return { name, growthPerDay, growthPerWeek, totals, mergeWindows, git, approvalBy };
}
