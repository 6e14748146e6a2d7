/**
 * Whether two schedules may select the same workloads, judged by their specs alone and not by objects in the cluster.
 */
import type { ScheduleSpec } from './schedule.ts';
import { isEmptySelector, type LabelSelector } from '../../kernel/label-selector.ts';

type Selection = Pick<ScheduleSpec, 'namespaceSelector' | 'namespaces'>;
type Scope = Selection & Pick<ScheduleSpec, 'excludeNamespaces' | 'workloadTypes'>;

/**
 * Whether two schedules may select the same namespace. Symmetric. Two selectors always may. A selector and a name may
 * not, because the labels of the namespace are unknown here, except for an empty selector, which selects everything.
 */
export function schedulesOverlap(a: Selection, b: Selection): boolean {
  if (a.namespaceSelector !== undefined && b.namespaceSelector !== undefined) return true;
  return a.namespaces.some((name) => b.namespaces.includes(name)) || holdsNamesOf(a, b) || holdsNamesOf(b, a);
}

/** Whether one selects everything and the other names a namespace. */
function holdsNamesOf(a: Selection, b: Selection): boolean {
  return a.namespaceSelector !== undefined && isEmptySelector(a.namespaceSelector) && b.namespaces.length > 0;
}

/**
 * Whether to warn that both may select the same workload: they overlap, and are separated neither by exclusions, nor by
 * kinds of workloads, nor by contradicting labels. Symmetric.
 */
export function mayClash(a: Scope, b: Scope): boolean {
  if (!meet(a.workloadTypes, b.workloadTypes)) return false;
  const excluded = new Set([...a.excludeNamespaces, ...b.excludeNamespaces]);
  const isApart =
    a.namespaceSelector !== undefined &&
    b.namespaceSelector !== undefined &&
    contradict(a.namespaceSelector, b.namespaceSelector);
  const selection = ({ namespaceSelector, namespaces }: Scope): Selection => ({
    namespaceSelector: isApart ? undefined : namespaceSelector,
    namespaces: namespaces.filter((name) => !excluded.has(name)),
  });
  return schedulesOverlap(selection(a), selection(b));
}

/** An empty list of kinds means all kinds. */
function meet(a: Scope['workloadTypes'], b: Scope['workloadTypes']): boolean {
  return a.length === 0 || b.length === 0 || a.some((type) => b.includes(type));
}

/** Whether a label is required to have different values. */
function contradict(a: LabelSelector, b: LabelSelector): boolean {
  const others = required(b);
  return required(a).some(([key, values]) =>
    others.some(([other, allowed]) => key === other && !values.some((value) => allowed.includes(value))),
  );
}

/** The labels that are required to have one of some values. */
function required({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): (readonly [string, readonly string[]])[] {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => [key, [value]] as const),
    ...matchExpressions
      .filter(({ operator }) => operator === 'In')
      .map(({ key, values = [] }) => [key, values] as const),
  ];
}
