/** Who goes first when writes to GitHub are scarce: what people approved, then unmet demand, then thresholds. */
export const writePriorities = ['approved', 'demand', 'threshold'] as const;

export type WritePriority = (typeof writePriorities)[number];
