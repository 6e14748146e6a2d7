import { isRecord } from '../../kernel/record.ts';
import type { LiveObject } from '../plan/live.ts';
import type { ConditionState } from './conditions.ts';

/**
 * Whether the autoscaler works, in its own words: without metrics, or with a metric that cannot be had, the number of pods stays
 * as it is, and nothing else would say so. Null while it has said nothing.
 */
export function autoscalingCondition({ status }: LiveObject): ConditionState | null {
  const list: readonly unknown[] = Array.isArray(status?.['conditions']) ? status['conditions'] : [];
  const conditions = list.filter(isRecord);
  // Where the target cannot be scaled, there is no word about metrics.
  const shown = ['AbleToScale', 'ScalingActive']
    .map((type) => conditions.find((condition) => condition['type'] === type))
    .filter((condition) => condition !== undefined)
    .toSorted((a, b) => Number(a['status'] === 'True') - Number(b['status'] === 'True'))
    .at(0);
  const active = conditions.find((condition) => condition['type'] === 'ScalingActive');
  const told = shown?.['status'] === 'True' ? active : shown;
  if (told === undefined) return null;
  return {
    type: 'Autoscaling',
    status: told['status'] === 'True' ? 'True' : 'False',
    reason: String(told['reason']),
    message: String(told['message']),
  };
}
