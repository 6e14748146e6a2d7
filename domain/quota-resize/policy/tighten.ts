/** Applies a guardrail to a policy: a value of any layer that allows more than the guardrail is replaced, with a warning. */
import { formatDuration } from '../../kernel/duration.ts';
import { isLessPercent, type Percent } from '../../kernel/percent.ts';
import { compareQuantities, parseQuantity } from '../../kernel/quantity.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { isBelowField } from '../git/yaml/field-path.ts';
import { resourceFamily } from './annotations.ts';
import type { Draft } from './draft.ts';
import type { Guardrail } from './guardrail.ts';
import { type Leasts, setterOf } from './least-values.ts';
import { factorRatio } from './max-step.ts';
import type { Approval } from './merge-rules.ts';
import type { PolicyLayer, PolicySource, PolicyWarning } from './policy.ts';
import { looserValue } from './warnings.ts';

/** Notes that a value of the draft is replaced, and by whose word. */
type Replaced = (name: string, value: string, relation: string, bound: string, wanted: string, set?: string) => void;

/** Changes the draft to what the guardrail allows, and returns a warning for each annotation that allows more. */
export function tighten(draft: Draft, guardrail: Guardrail, leasts: Leasts): readonly PolicyWarning[] {
  const warnings: PolicyWarning[] = [];
  const byGuardrail = `guardrail ${guardrail.name} sets`;
  const setter = (key: keyof Leasts): string => setterOf(key, guardrail, leasts);
  /** The value of this setting is replaced; only an annotation is a mistake of somebody, a default may be general. */
  const replaced: Replaced = (name, value, relation, bound, wanted, set = byGuardrail) => {
    const layer = draft.sources.get(name) ?? 'default';
    draft.sources.set(name, 'guardrail');
    if (layer === 'default' || layer === 'guardrail') return;
    warnings.push(looserValue({ name, value, layer }, relation, { value: bound, set, wanted }));
  };

  const { leastApproval, largestMaxStep, threshold } = guardrail;
  const atLeast = (
    name: string,
    value: number,
    key: Exclude<keyof Leasts, 'leastIncrement' | 'leastThreshold'>,
    form = formatDuration,
  ): number => {
    const least = leasts[key];
    if (value >= least) return value;
    replaced(name, form(value), 'below the least of', formatDuration(least), `"${form(least)}" or more`, setter(key));
    return least;
  };
  draft.cooldown = atLeast('cooldown-minutes', draft.cooldown, 'leastCooldown', inMinutes);
  draft.rejectionCooldown = atLeast('rejection-cooldown', draft.rejectionCooldown, 'leastRejectionCooldown');
  if (draft.approvalTimeout !== null) {
    draft.approvalTimeout = atLeast('approval-timeout', draft.approvalTimeout, 'leastApprovalTimeout');
  }
  if (draft.approvalReminder !== null) {
    draft.approvalReminder = atLeast('approval-reminder', draft.approvalReminder, 'leastReminder');
  }
  const increment = (name: string, value: Percent): Percent => {
    const least = leasts.leastIncrement;
    if (!isLessPercent(value, least)) return value;
    replaced(name, value, 'below the least of', `${least} %`, `"${least}" or more`, setter('leastIncrement'));
    return least;
  };
  draft.increment = increment('increment', draft.increment);
  for (const [resource, value] of draft.increments) {
    draft.increments.set(resource, increment(`${resource}-increment`, value));
  }
  if (APPROVALS.indexOf(draft.approval) < APPROVALS.indexOf(leastApproval)) {
    replaced('approval', draft.approval, 'less than the approval', `"${leastApproval}"`, `"${leastApproval}"`);
    draft.approval = leastApproval;
  }
  if (largestMaxStep !== null && isAbove(draft.maxStep, largestMaxStep)) {
    replaced(
      'max-step',
      draft.maxStep,
      'above the largest step of',
      `"${largestMaxStep}"`,
      `at most "${largestMaxStep}"`,
    );
    draft.maxStep = largestMaxStep;
  }
  const least = leasts.leastThreshold;
  const greatest = threshold?.greatest ?? '100';
  const within = (name: string, value: Percent): Percent => {
    const wanted = `a value from "${least}" to "${greatest}"`;
    if (isLessPercent(value, least)) {
      replaced(name, value, 'below the least of', `${least} %`, wanted, setter('leastThreshold'));
      return least;
    }
    if (!isLessPercent(greatest, value)) return value;
    replaced(name, value, 'above the greatest of', `${greatest} %`, wanted);
    return greatest;
  };
  draft.threshold = within('threshold', draft.threshold);
  for (const [resource, value] of draft.thresholds) {
    draft.thresholds.set(resource, within(`${resource}-threshold`, value));
  }
  tightenGit(draft, guardrail, replaced);
  return warnings;
}

/** Leaves out where the quota is said to be in Git if the guardrail does not allow it. */
function tightenGit(draft: Draft, { git }: Guardrail, replaced: Replaced): void {
  const listed = (key: 'repository' | 'ref' | 'field', name: string, allowed: readonly string[] | undefined): void => {
    const value = draft.git[key];
    if (value === undefined || allowed === undefined || allowed.some((item) => matches(key, value, item))) return;
    const { [key]: _, ...others } = draft.git;
    draft.git = others;
    replaced(name, value, 'none of', allowed.join(', '), 'one of these');
    draft.sources.delete(name);
  };
  listed('repository', 'git-repository', git.repositories);
  listed('ref', 'git-ref', git.branches);
  listed('field', 'git-field', git.fields);
}

/** Rounded up, so that it is allowed where it stands in for a least value. */
function inMinutes(ms: number): string {
  return String(Math.ceil(ms / MINUTE_MS));
}

/** From the least strict to the strictest. */
const APPROVALS: readonly Approval[] = ['none', 'before-merge', 'before-pull-request'];

function isAbove(factor: string, largest: string): boolean {
  const [a, b] = [factorRatio(factor), factorRatio(largest)];
  return a.numerator * b.denominator > b.numerator * a.denominator;
}

function matches(key: 'repository' | 'ref' | 'field', value: string, allowed: string): boolean {
  switch (key) {
    case 'repository':
      return value.toLowerCase() === allowed.toLowerCase();
    case 'ref':
      return value === allowed;
    case 'field':
      return isBelowField(value, allowed);
  }
}

/** Maximums by family or quota key, each the smallest of all layers. */
interface Maximums {
  readonly maximums: ResourceList;
  /** By the annotation's name without its prefix. */
  readonly sources: ReadonlyMap<string, PolicySource>;
  readonly warnings: readonly PolicyWarning[];
}

/** A source of maximums, with its words for people. */
interface MaximumLayer {
  readonly source: PolicySource;
  readonly limits: ResourceList;
}

/**
 * The maximums in force. In one layer the most specific counts; of several layers the smallest, so that a quota cannot
 * raise the maximum of its namespace, nor either of them that of the guardrail.
 */
export function maximumsWithin(
  written: Readonly<Record<PolicyLayer, ReadonlyMap<string, string>>>,
  guardrail: Guardrail,
): Maximums {
  const layers: readonly MaximumLayer[] = [
    { source: 'guardrail', limits: guardrail.max },
    { source: 'namespace', limits: Object.fromEntries(written.namespace) },
    { source: 'quota', limits: Object.fromEntries(written.quota) },
  ];
  const warnings: PolicyWarning[] = [];
  const maximums: Record<string, string> = {};
  const sources = new Map<string, PolicySource>();
  const keys = [...new Set(layers.flatMap(({ limits }) => Object.keys(limits)))];
  // Families first: a key with the same maximum as its family is left to the family.
  for (const key of keys.toSorted((a, b) => Number(resourceFamily(a) !== a) - Number(resourceFamily(b) !== b))) {
    const smallest = smallestOf(layers, key);
    if (smallest === undefined) continue;
    const family = resourceFamily(key);
    const ofFamily = family === undefined || family === key ? undefined : maximums[family];
    if (ofFamily === smallest.limit && sources.get(`${family}-max`) === smallest.source) continue;
    maximums[key] = smallest.limit;
    sources.set(`${key}-max`, smallest.source);
  }
  for (const [index, { source, limits }] of layers.entries()) {
    if (source === 'guardrail' || source === 'default') continue;
    for (const [key, value] of Object.entries(limits)) {
      const bound = smallestOf(layers.slice(0, index), key);
      if (bound === undefined || compareQuantities(parseQuantity(value), parseQuantity(bound.limit)) <= 0) continue;
      const by = bound.source === 'guardrail' ? `guardrail ${guardrail.name}` : `the annotation of the ${bound.source}`;
      const wanted = `at most "${bound.limit}"`;
      warnings.push(
        looserValue({ name: `${key}-max`, value, layer: source }, 'above the maximum of', {
          value: `"${bound.limit}"`,
          set: `${by} sets`,
          wanted,
        }),
      );
    }
  }
  return { maximums, sources, warnings };
}

function smallestOf(
  layers: readonly MaximumLayer[],
  key: string,
): { readonly limit: string; readonly source: PolicySource } | undefined {
  return layers
    .flatMap(({ source, limits }) => {
      const limit = [key, resourceFamily(key)].find((name) => name !== undefined && Object.hasOwn(limits, name));
      const value = limit === undefined ? undefined : limits[limit];
      return value === undefined ? [] : [{ limit: value, source }];
    })
    .toSorted((a, b) => compareQuantities(parseQuantity(a.limit), parseQuantity(b.limit)))[0];
}
