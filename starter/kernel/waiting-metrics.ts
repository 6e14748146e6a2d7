import type { Registry } from 'prom-client';
import { sharedMetrics } from '../../domain/kernel/monitoring/shared-metrics.ts';
import { collectGauge, type Sample } from './metrics.ts';
import type { WaitingWorkflow, WaitingWorkflows } from './waiting-workflows.ts';

type WaitingLabel = (typeof sharedMetrics.waiting.labels)[number];

/** Which workflows wait, by phase and reason; nothing while that is not known. */
export function registerWaitingMetrics(register: Registry, waiting: Pick<WaitingWorkflows, 'latest'>): void {
  const byReason = (valueOf: (workflows: readonly WaitingWorkflow[]) => number): readonly Sample<WaitingLabel>[] => {
    const workflows = waiting.latest() ?? [];
    const grouped = Map.groupBy(workflows, ({ controller, phase, reason }) => `${controller} ${phase} ${reason}`);
    return [...grouped.values()].flatMap((alike) => {
      const [first] = alike;
      if (first === undefined) return [];
      const { controller, phase, reason } = first;
      return [[{ controller, phase, reason }, valueOf(alike)] as const];
    });
  };
  collectGauge(register, sharedMetrics.waiting, () => byReason(({ length }) => length));
  collectGauge(register, sharedMetrics.longestWait, () =>
    byReason((alike) => Math.max(0, (Date.now() - Math.min(...alike.map(({ since }) => since))) / 1000)),
  );
}
