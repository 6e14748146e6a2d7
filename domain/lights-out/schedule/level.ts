/** How many replicas are kept while a schedule is down. */

/** What is in force together; the least of it counts. Absent parts limit nothing. */
export interface Level {
  readonly replicas?: number;
  /** The share of the workload's replicas that is kept, rounded up: half of three are two. */
  readonly percent?: number;
  /** Whether only windows ask for it, and not the schedule's own patterns. */
  readonly ofWindow?: true;
  /** CronJobs go on: something is kept, and only windows say so. */
  readonly runsCronJobs?: true;
}

/** The replicas that a workload keeps, of those that it had; never more than it had. */
export function replicasAt({ replicas = Infinity, percent = 100 }: Level, original: number): number {
  return Math.min(original, replicas, Math.ceil((original * percent) / 100));
}

/** Several levels that are in force at once. */
export function leastOf(levels: readonly Level[]): Level {
  const [replicas, percent] = (['replicas', 'percent'] as const).map((part) =>
    levels.reduce<number | undefined>((least, { [part]: own }) => lesser(least, own), undefined),
  );
  const ofWindow = levels.every((level) => level.ofWindow === true);
  const runsCronJobs = levels.every((level) => level.runsCronJobs === true);
  return {
    ...(replicas === undefined ? {} : { replicas }),
    ...(percent === undefined ? {} : { percent }),
    ...(ofWindow ? { ofWindow } : {}),
    ...(runsCronJobs ? { runsCronJobs } : {}),
  };
}

function lesser(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** `50 %`, `2 replicas`; null for what keeps nothing. */
export function levelText({ replicas, percent }: Level): string | null {
  if (replicas === 0 || percent === 0) return null;
  return [
    ...(replicas === undefined ? [] : [replicas === 1 ? '1 replica' : `${replicas} replicas`]),
    ...(percent === undefined ? [] : [`${percent} %`]),
  ].join(' and at most ');
}
