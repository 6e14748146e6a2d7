import type { ObserveScheduleInput } from '../../activities/lights-out/interface.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { LightsOutMemory } from '../../domain/lights-out/decide/memory.ts';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';

/** The part of the memory that an evaluation needs, of everything or of these items. */
export function observeInputOf(
  target: ScheduleTarget,
  memory: LightsOutMemory,
  now: EpochMs,
  of?: readonly PlanItem[],
): ObserveScheduleInput {
  const { overrides, inEffect, approved, completed, contested, failing } = memory;
  const { joined = {}, joinedWorkloads = [], unmarked } = memory;
  const names = of === undefined ? null : new Set(of.map(({ workload }) => workloadName(workload)));
  const isMeant = (name: string): boolean => names === null || names.has(name);
  const held = Object.entries(contested).filter(([name, { until }]) => until > now && isMeant(name));
  return {
    target,
    overrides,
    inEffect,
    isApproved: approved !== null,
    ...(approved === null ? {} : { isBound: approved.digest !== undefined }),
    completedAt: completed?.at ?? null,
    contested: Object.fromEntries(held.map(([name, { until }]) => [name, until])),
    failing: Object.keys(failing).filter(isMeant),
    ...(Object.keys(joined).length === 0 ? {} : { joined }),
    ...(joinedWorkloads.length === 0 ? {} : { joinedWorkloads }),
    ...(unmarked === undefined || names !== null ? {} : { unmarked }),
  };
}
