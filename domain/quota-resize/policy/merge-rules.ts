/** The types of two settings about merging that annotations and guardrails share. */

/** When a person has to approve every raise. */
export type Approval = 'none' | 'before-pull-request' | 'before-merge';

/** A period in which merging is allowed. */
export interface MergeWindow {
  /** When the window opens: a cron pattern with five fields. */
  readonly cron: string;
  /** How long it stays open, in milliseconds. */
  readonly duration: number;
  /** An IANA time zone. */
  readonly zone: string;
}
