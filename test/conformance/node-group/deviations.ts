/**
 * The rules by which Headroom differs from the VPSie autoscaler. Each states its own expectation, worked out without the code under
 * test. The reasons: test/cases/deviations.md.
 */
import type { NodeSelectorRequirement, Taint, Toleration } from '../../../domain/node-group/model/pod.ts';
import type { Deviation } from '../adapter.ts';

interface TermsInput {
  readonly labels: Readonly<Record<string, string>>;
  readonly terms: readonly (readonly NodeSelectorRequirement[])[];
}

/** Kubernetes: `A null or empty node selector term matches no objects` (core/v1). */
export const emptyTermsMatchNothing: Deviation<TermsInput> = {
  name: 'empty-terms-match-nothing',
  applies: ({ terms }, expected) =>
    (terms.length === 0 || terms.some((term) => term.length === 0)) &&
    (expected as { readonly matches?: unknown }).matches === true,
  expected: ({ labels, terms }) => ({
    matches: terms.some((term) => term.length > 0 && term.every((one) => holds(one, labels))),
  }),
};

interface RequirementInput extends NodeSelectorRequirement {
  readonly labels: Readonly<Record<string, string>>;
}

/** The VPSie autoscaler takes `Gt` and `Lt` for operators that nothing matches. */
export const numbersAreCompared: Deviation<RequirementInput> = {
  name: 'numbers-are-compared',
  applies: ({ operator }) => operator === 'Gt' || operator === 'Lt',
  expected: (input) => ({ matches: holds(input, input.labels) }),
};

/** The API server stores no such requirement, and kube-scheduler takes it for one that nothing matches. */
export const noValuesMatchNothing: Deviation<RequirementInput> = {
  name: 'no-values-match-nothing',
  applies: ({ operator, values = [] }) => operator === 'NotIn' && values.length === 0,
  expected: () => ({ matches: false }),
};

function holds({ key, operator, values = [] }: NodeSelectorRequirement, labels: TermsInput['labels']): boolean {
  const { [key]: value } = labels;
  if (operator === 'Exists' || operator === 'DoesNotExist') return (operator === 'Exists') === (value !== undefined);
  if (operator === 'NotIn') return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator === 'In') return values.includes(value);
  return operator === 'Gt' ? Number(value) > Number(values[0]) : Number(value) < Number(values[0]);
}

interface TaintsInput {
  readonly tolerations: readonly Toleration[];
  readonly taints: readonly Taint[];
}

/** A toleration of every key that names an effect tolerates this effect only. */
export const wildcardHasItsEffect: Deviation<TaintsInput> = {
  name: 'wildcard-has-its-effect',
  applies: ({ tolerations, taints }, expected) =>
    (expected as { readonly fits?: unknown }).fits === true &&
    tolerations.some(isWildcard) &&
    !areTolerated(tolerations, taints),
  expected: () => ({ fits: false }),
};

/** A taint that is only preferred keeps no pod away. */
export const preferenceKeepsNobody: Deviation<TaintsInput> = {
  name: 'preference-keeps-nobody',
  applies: ({ tolerations, taints }, expected) =>
    (expected as { readonly matches?: unknown }).matches === false &&
    taints.some(({ effect }) => effect === 'PreferNoSchedule') &&
    areTolerated(tolerations, taints),
  expected: () => ({ matches: true }),
};

function isWildcard({ key, operator, effect }: Toleration): boolean {
  return key === undefined && operator === 'Exists' && effect !== undefined;
}

function areTolerated(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .every((taint) =>
      tolerations.some(
        ({ key, operator, value = '', effect }) =>
          (effect === undefined || effect === taint.effect) &&
          (key === undefined ? operator === 'Exists' : key === taint.key) &&
          (operator === 'Exists' || value === (taint.value ?? '')),
      ),
    );
}

interface BoundsInput {
  readonly minNodes: number;
  readonly maxNodes: number;
}

/** The webhook takes a group without any node, which the definition of the same project refuses. */
export const oneNodeAtMost: Deviation<BoundsInput> = {
  name: 'one-node-at-most',
  applies: ({ minNodes, maxNodes }, expected) =>
    minNodes === 0 && maxNodes === 0 && (expected as { readonly valid?: unknown }).valid === true,
  expected: () => ({ valid: false }),
};

interface CanScaleDownInput extends BoundsInput {
  readonly nodes: number;
  readonly cooldownMinutes: number;
  readonly lastScaleDownAgeMinutes?: number | undefined;
}

/** The text of the VPSie autoscaler asks about the minimum before the cooldown, its code the other way round. */
export const minimumFirst: Deviation<CanScaleDownInput> = {
  name: 'minimum-first',
  applies: ({ minNodes, nodes, cooldownMinutes, lastScaleDownAgeMinutes }) =>
    nodes <= minNodes && lastScaleDownAgeMinutes !== undefined && lastScaleDownAgeMinutes < cooldownMinutes,
  expected: (_, expected) => ({ ...(expected as object), allowed: false, reason: 'at minimum nodes' }),
};

interface AllowInput {
  readonly nodeAnnotations: Readonly<Record<string, string>>;
}

const HOURS = 'autoscaler.vpsie.com/scale-down-allowed-hours';

/** Whoever wrote the annotation wanted to keep the node at some hours. */
export const unreadableHoursKeep: Deviation<AllowInput> = {
  name: 'unreadable-hours-keep',
  applies: ({ nodeAnnotations: { [HOURS]: hours } }, expected) =>
    hours !== undefined && !/\d\s*-\s*\d/.test(hours) && (expected as { readonly allowed?: unknown }).allowed === true,
  expected: () => ({ allowed: false }),
};

/** What there is of a failed machine at the provider is paid for, whatever the time that its object is kept. */
export const failedGoAtOnce: Deviation<unknown> = {
  name: 'failed-go-at-once',
  applies: (_, expected) => (expected as { readonly deleted?: unknown }).deleted === false,
  expected: () => ({ deleted: true }),
};
