/** What is done about a workload, by one table of what was found of it. */

/** What was found of a workload that is to be asleep. */
export interface FoundAtNight {
  readonly wanted: 'Down';
  /** Whether it has the marks of a sleeping one. */
  readonly mark: 'marked' | 'unmarked';
  /** Its replicas beside those that it keeps while asleep. A running CronJob is above; what is unmarked is never below. */
  readonly level: 'above' | 'at' | 'below';
  /** Who made or changed it last. An autoscaler that a person let go acts for that person. */
  readonly who: 'ours' | 'person' | 'gitops' | 'machine';
  /** Surely in its night, else before; `new`: made in the night, and within its grace. */
  readonly when: 'before' | 'since' | 'new';
}

/** What was found of any workload. The rest does not matter where it is to stay as it is, or to be up. */
export type Found = FoundAtNight | { readonly wanted: 'AsItIs' | 'Up' };

export type Act =
  /** Nothing. */
  | 'leave'
  /** What it had before, if it has marks; its autoscalers are released. */
  | 'wake'
  /** A person's: it is left until the schedule wakes it. */
  | 'leaveToPerson'
  /** Left until its grace is over. */
  | 'wait'
  /** At rest without our doing: only its autoscalers must not wake it. */
  | 'holdAutoscalers'
  /** Asleep: what is missing of its marks, and its autoscalers. */
  | 'complete'
  /** To the level, with the marks that it has. */
  | 'putToLevel'
  /** The same after something else than a person had woken it, later each time. */
  | 'putToLevelAgain'
  /** To sleep: what it has now is what it gets back. */
  | 'putToSleep'
  /** The same after something else than a person had woken it, later each time. */
  | 'putToSleepAgain';

type Cell<T> = T | readonly T[] | '*';
export type Row = readonly [
  wanted: Found['wanted'],
  mark: Cell<FoundAtNight['mark']>,
  level: Cell<FoundAtNight['level']>,
  who: Cell<FoundAtNight['who']>,
  when: Cell<FoundAtNight['when']>,
  act: Act,
];

const OTHERS = ['person', 'gitops', 'machine'] as const;
const MACHINES = ['gitops', 'machine'] as const;

/** Exactly one row fits whatever is found. */
export const TABLE: readonly Row[] = [
  // wanted   mark        level    who                   when                act
  ['AsItIs', '*', '*', '*', '*', 'leave'],
  ['Up', '*', '*', '*', '*', 'wake'],

  ['Down', 'marked', 'above', 'ours', '*', 'putToLevel'],
  ['Down', 'marked', 'above', 'person', 'before', 'putToSleep'],
  ['Down', 'marked', 'above', 'person', ['since', 'new'], 'leaveToPerson'],
  ['Down', 'marked', 'above', MACHINES, '*', 'putToLevelAgain'],
  ['Down', 'marked', 'at', '*', '*', 'complete'],
  ['Down', 'marked', 'below', 'ours', '*', 'putToLevel'],
  ['Down', 'marked', 'below', OTHERS, '*', 'complete'],

  ['Down', 'unmarked', 'above', '*', 'new', 'wait'],
  ['Down', 'unmarked', 'above', 'person', 'since', 'leaveToPerson'],
  ['Down', 'unmarked', 'above', MACHINES, 'since', 'putToSleepAgain'],
  ['Down', 'unmarked', 'above', 'ours', 'since', 'putToSleep'],
  ['Down', 'unmarked', 'above', '*', 'before', 'putToSleep'],
  ['Down', 'unmarked', ['at', 'below'], '*', 'new', 'leave'],
  ['Down', 'unmarked', ['at', 'below'], 'person', 'since', 'leave'],
  ['Down', 'unmarked', ['at', 'below'], ['ours', ...MACHINES], 'since', 'holdAutoscalers'],
  ['Down', 'unmarked', ['at', 'below'], '*', 'before', 'holdAutoscalers'],
];

/** Whether a row is about what was found. */
export function fits([wanted, mark, level, who, when]: Row, found: Found): boolean {
  if (wanted !== found.wanted) return false;
  if (found.wanted !== 'Down') return true;
  return isIn(mark, found.mark) && isIn(level, found.level) && isIn(who, found.who) && isIn(when, found.when);
}

function isIn<T extends string>(cell: Cell<T>, value: T): boolean {
  return cell === '*' || (typeof cell === 'string' ? cell === value : cell.includes(value));
}

/** @throws Error where no row fits, which the tests rule out. */
export function judge(found: Found): Act {
  const row = TABLE.find((candidate) => fits(candidate, found));
  if (row === undefined) throw new Error(`no row of the table fits ${JSON.stringify(found)}`);
  return row[5];
}
