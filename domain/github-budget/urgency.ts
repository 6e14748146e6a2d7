/** Who goes first when writes to GitHub are scarce: what people approved, then unmet demand, then thresholds. */
export const urgencies = ['approved', 'demand', 'threshold'] as const;

export type Urgency = (typeof urgencies)[number];
