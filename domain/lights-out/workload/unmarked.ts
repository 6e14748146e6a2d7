/** Which workloads were to be asleep and were not, as the workflow of a schedule carries it: by the beginnings of their UIDs. */
import type { EpochMs } from '../../kernel/time.ts';
import type { Workload } from './workload.ts';

/**
 * What a schedule is to have asleep, and has not put to sleep, at one moment: what people woke or made, and what is at
 * rest. Whatever else comes later is new to the schedule.
 */
export interface Unmarked {
  readonly at: EpochMs;
  /** As `packUids` writes them; null when there are more than are kept. */
  readonly uids: string | null;
}

/** The workloads that joined at one moment of this night. */
export interface JoinedWorkloads {
  readonly at: EpochMs;
  /** As `packUids` writes them. */
  readonly uids: string;
}

/** The same, to look up in. */
export interface UnmarkedUids {
  readonly at: EpochMs;
  readonly uids: ReadonlySet<string>;
}

/** Workloads of `Unmarked`: 18 KB in the workflow. */
export const MOST_UNMARKED = 2_000;
/** Characters of a UID, which is random: that one of 2,000 begins as another one does has a chance of 1 in 2 million. */
const UID_LENGTH = 8;
export function shortUid({ uid }: Pick<Workload, 'uid'>): string {
  return uid.slice(0, UID_LENGTH);
}

export function packUids(uids: readonly string[]): string {
  return uids.join(' ');
}

function unpackUids(uids: string): readonly string[] {
  return uids === '' ? [] : uids.split(' ');
}

/** What an evaluation needs of the last observation; undefined when that is not known. */
export function unmarkedUids(unmarked: Unmarked | undefined): UnmarkedUids | undefined {
  if (unmarked === undefined || unmarked.uids === null) return undefined;
  return { at: unmarked.at, uids: new Set(unpackUids(unmarked.uids)) };
}

/** By the beginning of the UID: when each workload joined. */
export function joinedUids(joined: readonly JoinedWorkloads[]): ReadonlyMap<string, EpochMs> {
  return new Map(joined.flatMap(({ at, uids }) => unpackUids(uids).map((uid) => [uid, at] as const)));
}
