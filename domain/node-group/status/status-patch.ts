/** Whether the status in the cluster says what it should, and what to write where it does not. */
import { visibleText } from '../../kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { NodeGroup } from '../model/node-group.ts';
import { isLapsed } from './lease-full.ts';
import { listOf } from '../../kernel/pod-requests.ts';
import { type GroupCounts, type WantedGroupStatus, wantedGroupStatus } from './group-status.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What a group's status should say by what there is of it. Whether more nodes are planned does not count: a plan that is only
 * observed would say so for ever.
 *
 * @param read as `readNodeGroup` gives it.
 */
export function wantedStatusOf(
  read: { readonly group: NodeGroup | null; readonly generation: number; readonly problems: readonly string[] },
  counts: GroupCounts,
  at: EpochMs,
): Partial<WantedGroupStatus> & Pick<WantedGroupStatus, 'conditions' | 'observedGeneration'> {
  const { group, generation, problems } = read;
  if (group !== null) return wantedGroupStatus(group, counts, { problems, at });
  const invalid = { reason: 'Invalid', message: problems.join('; ') };
  return {
    observedGeneration: generation,
    conditions: [
      { type: 'Ready', status: 'False', ...invalid },
      { type: 'Error', status: 'True', ...invalid },
    ],
  };
}

/**
 * The fields of a status to write, as a merge patch; null where it says all of it already. A condition began when its status
 * changed; conditions of others stay.
 */
export function statusPatch(
  present: Fields,
  { conditions: wanted, ...fields }: ReturnType<typeof wantedStatusOf>,
  now: EpochMs,
): Fields | null {
  const conditions = wanted.map((condition) => ({ ...condition, message: visibleText(condition.message) }));
  const all = listOf(present['conditions']);
  const there = all.filter((condition) => !isLapsed(condition, now));
  const find = (type: string): Fields | undefined => there.find((condition) => condition['type'] === type);
  const isSaid = conditions.every(({ type, status, reason, message }) => {
    const said = find(type);
    return said?.['status'] === status && said['reason'] === reason && said['message'] === message;
  });
  const different = Object.entries(fields).filter(([key, value]) => present[key] !== value);
  const isLess = there.length < all.length;
  if (isSaid && !isLess && different.length === 0) return null;
  const own = new Set<unknown>(conditions.map(({ type }) => type));
  const written = conditions.map((condition) => {
    const said = find(condition.type);
    const since = said?.['status'] === condition.status ? said['lastTransitionTime'] : undefined;
    return { ...condition, lastTransitionTime: typeof since === 'string' ? since : formatInstant(now) };
  });
  return {
    ...Object.fromEntries(different),
    ...(isSaid && !isLess ? {} : { conditions: [...there.filter(({ type }) => !own.has(type)), ...written] }),
  };
}
