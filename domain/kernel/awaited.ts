/** Whom a workflow waits for in a phase, and what ends that: the same words in Temporal's UI and on the overview page. */
export interface Awaited {
  /** `a person`, `GitHub`, `its pods`; `Headroom` while it is at work itself. */
  readonly whom: string;
  /** What ends it, a clause to follow "until". */
  readonly until: string;
  /** Nothing is under way: what comes next is another episode, with a trace of its own. */
  readonly isRest?: true;
}

/** For each phase; null for one in which nothing is waited for any more. */
export type AwaitedIn<Phase extends string> = Readonly<Record<Phase, Awaited | null>>;

export const PERSON = 'a person';

/** Phases that mean the same for every controller. */
export const COMMON_WAITS = {
  Blocked: { whom: PERSON, until: 'what blocks it is mended' },
  Paused: { whom: PERSON, until: 'somebody resumes it' },
  Ended: null,
} as const satisfies AwaitedIn<'Blocked' | 'Paused' | 'Ended'>;
