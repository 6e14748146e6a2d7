/** What a program asks of its reaper. */
export type ReaperRequest =
  | {
      readonly type: 'start';
      readonly id: number;
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string | undefined;
      /** The user and group to run as, which only root may choose. */
      readonly uid: number | undefined;
      readonly env: Readonly<Record<string, string | undefined>>;
      /** Standard output and error are appended to this file. */
      readonly logFile: string;
    }
  | {
      readonly type: 'signal';
      readonly id: number;
      readonly signal: NodeJS.Signals;
      /** Whether the process's descendants get the signal too. */
      readonly wholeGroup: boolean;
    };

/** The messages of the reaper to its program. */
export type ReaperReport =
  | { readonly type: 'ready'; readonly directory: string }
  | { readonly type: 'started'; readonly id: number; readonly pid: number }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  | {
      readonly type: 'exited';
      readonly id: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    };
