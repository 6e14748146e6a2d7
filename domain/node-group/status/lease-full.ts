/** The condition of a group of which something could not be written into the Lease of plans. It ends by itself when nobody has said so lately. */
import { listOf } from '../../kernel/pod-requests.ts';
import { sentence } from '../../kernel/sentence.ts';
import { type EpochMs, formatInstant, MINUTE_MS } from '../../kernel/time.ts';
import { momentOf } from '../scheduling/read-pod.ts';

type Fields = Readonly<Record<string, unknown>>;

const LEASE_FULL = 'LeaseFull';
/** Whoever could not write tries again within a quarter of an hour. */
const LAPSES_MS = 30 * MINUTE_MS;

/** The part of a status that says so, as a merge patch. */
export function leaseFullPatch(present: Fields, detail: string, now: EpochMs): Fields {
  const there = listOf(present['conditions']);
  const said = there.find(isLeaseFull)?.['lastTransitionTime'];
  const at = formatInstant(now);
  const condition = {
    type: LEASE_FULL,
    status: 'True',
    reason: 'TooLarge',
    message: sentence(detail),
    lastTransitionTime: typeof said === 'string' ? said : at,
    lastUpdateTime: at,
  };
  return { conditions: [...there.filter((each) => !isLeaseFull(each)), condition] };
}

/** Whether nobody has said it for so long that it is over. */
export function isLapsed(condition: Fields, now: EpochMs): boolean {
  return isLeaseFull(condition) && now - momentOf(condition['lastUpdateTime']) >= LAPSES_MS;
}

function isLeaseFull({ type }: Fields): boolean {
  return type === LEASE_FULL;
}
