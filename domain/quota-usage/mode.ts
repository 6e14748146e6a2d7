/**
 * Who keeps the status of a cluster's ResourceQuotas true: `off` leaves it to Kubernetes' own controller, `own` is for
 * clusters whose controller manager runs without it, `audit` writes nothing and reports what stays wrong.
 */
export const usageModes = ['off', 'own', 'audit'] as const;

export type UsageMode = (typeof usageModes)[number];
