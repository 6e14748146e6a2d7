/** What the stories of the demo have in common. */

export interface Teller {
  /** A line with the seconds since the start. */
  readonly log: (message: string) => void;
  readonly interrupt: AbortSignal;
}

export interface Story {
  /** What is started, in one line. */
  readonly opening: string;
  /** Starts the servers. */
  readonly start: (teller: Teller) => Promise<RunningStory>;
}

export interface RunningStory {
  /** Resolves when it is over, or soon after the interrupt; then with no success. */
  tell(): Promise<{ readonly succeeded: boolean; readonly addresses: string }>;
  stop(): Promise<void>;
}
