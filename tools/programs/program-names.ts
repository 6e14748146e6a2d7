/** The programs, each with the file that it begins with. */
export const PROGRAM_ENTRIES = {
  worker: 'worker/main.ts',
  starter: 'starter/main.ts',
  headroom: 'starter/cli.ts',
  'all-in-one': 'tools/programs/all-in-one.ts',
} as const;

export type ProgramName = keyof typeof PROGRAM_ENTRIES;

export const PROGRAM_NAMES = Object.keys(PROGRAM_ENTRIES) as readonly ProgramName[];
