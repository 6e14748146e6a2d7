/** Priorities of writes to GitHub: approved changes first, then unmet demand, then thresholds. */
export const writePriorities = ['approved', 'demand', 'threshold'] as const;

export type WritePriority = (typeof writePriorities)[number];
