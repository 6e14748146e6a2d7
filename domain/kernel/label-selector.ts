/** Kubernetes' label selectors: their type and what they match. Without their schema, so that workflows can import it. */
import type { z } from 'zod';
import type { labelSelector } from './label-selector-schema.ts';

/** Every part must match; an empty one matches everything. */
export type LabelSelector = z.infer<typeof labelSelector>;
type LabelRequirement = Omit<NonNullable<LabelSelector['matchExpressions']>[number], 'values'> & {
  readonly values?: readonly string[] | undefined;
};

type Labels = Readonly<Record<string, string>>;

/** Whether labels meet a requirement, by Kubernetes' rules. One that the API server would refuse matches nothing. */
export function matchesRequirement({ key, operator, values = [] }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      // As in Kubernetes, an object without the label matches NotIn. Without values the selector is invalid.
      return values.length > 0 && (value === undefined || !values.includes(value));
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/**
 * Whether a selector is empty. Its meaning depends on the field: all namespaces are selected, but no workload is
 * excluded.
 */
export function isEmptySelector(selector: LabelSelector | null | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

/**
 * Whether all parts of the selector match, by Kubernetes' rules: an empty selector matches everything, an absent one
 * nothing.
 */
export function matchesSelector(selector: LabelSelector | null | undefined, labels: Labels): boolean {
  if (selector === null || selector === undefined) return false;
  return (
    Object.entries(selector.matchLabels ?? {}).every(
      ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
    ) && (selector.matchExpressions ?? []).every((requirement) => matchesRequirement(requirement, labels))
  );
}

/** A part of a selector that Kubernetes would reject. */
export interface SelectorProblem {
  /** Where: `selector.matchExpressions[0].values`. */
  readonly field: string;
  readonly message: string;
}

/** What Kubernetes would reject in a selector: In and NotIn need values, Exists and DoesNotExist take none. */
export function selectorProblems(
  selector: LabelSelector | null | undefined,
  field: string,
): readonly SelectorProblem[] {
  return (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, index) => {
    const isList = operator === 'In' || operator === 'NotIn';
    if (isList === values.length > 0) return [];
    const message = isList ? `${operator} needs at least one value` : `${operator} takes no values`;
    return [{ field: `${field}.matchExpressions[${index}].values`, message }];
  });
}
