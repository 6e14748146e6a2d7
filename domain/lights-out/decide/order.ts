/** The order and the batches in which the items of a plan are written. */
import type { ScheduleState } from '../schedule/names.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { workloadName } from '../workload/workload.ts';

/** Workloads are woken first, because people wait for them. */
const DIRECTIONS: Readonly<Record<ScheduleState, number>> = { Up: 0, Down: 1 };

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Waking begins with the greatest priority, putting to sleep with the least. */
function compareSteps(a: PlanItem, b: PlanItem): number {
  return (
    DIRECTIONS[a.direction] - DIRECTIONS[b.direction] ||
    (a.direction === 'Up' ? b.priority - a.priority : a.priority - b.priority)
  );
}

/** Interleaves the namespaces within one step, so that none has to wait for all workloads of another. */
function inTurns(items: readonly PlanItem[]): readonly PlanItem[] {
  const seen = new Map<string, number>();
  return items
    .toSorted((a, b) => compareTexts(workloadName(a.workload), workloadName(b.workload)))
    .map((item) => {
      const turn = seen.get(item.workload.namespace) ?? 0;
      seen.set(item.workload.namespace, turn + 1);
      return { item, turn };
    })
    .toSorted((a, b) => a.turn - b.turn || compareTexts(a.item.workload.namespace, b.item.workload.namespace))
    .map(({ item }) => item);
}

/**
 * The items in the order of writing: waking first, then by priority, and interleaved over the namespaces within a
 * priority. Items that failed before (by `workloadName`) come last, so that they delay nothing.
 */
export function inOrder(items: readonly PlanItem[], failing: readonly string[] = []): readonly PlanItem[] {
  const failed = new Set(failing);
  const isFailing = (item: PlanItem): boolean => failed.has(workloadName(item.workload));
  return [items.filter((item) => !isFailing(item)), items.filter(isFailing)].flatMap((some) =>
    stepsOf(some.toSorted(compareSteps)).flatMap(inTurns),
  );
}

/** An ordered plan, split where the priority or the direction changes: a part begins when the previous one is ready. */
export function stepsOf(items: readonly PlanItem[]): readonly (readonly PlanItem[])[] {
  const steps: PlanItem[][] = [];
  for (const item of items) {
    const step = steps.at(-1);
    const last = step?.at(-1);
    if (step === undefined || last === undefined || compareSteps(last, item) !== 0) steps.push([item]);
    else step.push(item);
  }
  return steps;
}

/** Splits the items into batches of a size; the last one may be smaller. Null: one batch. */
export function batchesOf<T>(items: readonly T[], size: number | null): readonly (readonly T[])[] {
  if (items.length === 0) return [];
  if (size === null || size < 1) return [items];
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
