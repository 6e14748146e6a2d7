/**
 * Who updates the status of a cluster's ResourceQuotas: `off` leaves it to Kubernetes' controller, `own` is for
 * clusters whose controller manager runs without that controller, `audit` writes nothing and reports values that stay
 * wrong.
 */
export const usageModes = ['off', 'own', 'audit'] as const;

export type UsageMode = (typeof usageModes)[number];
