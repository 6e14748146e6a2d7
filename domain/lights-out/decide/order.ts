/** In which order the steps of a plan are done, and in which portions. */
import type { ScheduleState } from '../schedule/names.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { workloadName } from '../workload/workload.ts';

/** Restores go first: what runs again is what people wait for. */
const DIRECTIONS: Readonly<Record<ScheduleState, number>> = { Up: 0, Down: 1 };

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Up begins with the greatest priority, down with the least. */
function compareSteps(a: PlanItem, b: PlanItem): number {
  return (
    DIRECTIONS[a.direction] - DIRECTIONS[b.direction] ||
    (a.direction === 'Up' ? b.priority - a.priority : a.priority - b.priority)
  );
}

/** Items of one step, one of each namespace in turn, so that none has to wait for the whole of another. */
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
 * The items of a plan as they are to be done: restores before the others, by priority, and within one priority spread over
 * the namespaces. Those that failed before (by `workloadName`) come last of all, so that they hold up nothing.
 */
export function inOrder(items: readonly PlanItem[], failing: readonly string[] = []): readonly PlanItem[] {
  const failed = new Set(failing);
  const isFailing = (item: PlanItem): boolean => failed.has(workloadName(item.workload));
  return [items.filter((item) => !isFailing(item)), items.filter(isFailing)].flatMap((some) =>
    stepsOf(some.toSorted(compareSteps)).flatMap(inTurns),
  );
}

/** An ordered plan, split wherever the priority or the direction changes: each part begins when the one before is ready. */
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

/** The items in portions of a size, the last of which may be smaller. Null: all at once. */
export function batchesOf<T>(items: readonly T[], size: number | null): readonly (readonly T[])[] {
  if (items.length === 0) return [];
  if (size === null || size < 1) return [items];
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
