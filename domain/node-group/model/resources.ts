/**
 * Amounts of resources as kube-scheduler calculates with them: `cpu` in millicores, everything else in whole units (bytes,
 * pods, devices), rounded up. A resource that is not named is 0.
 */
export type Amounts = Readonly<Record<string, number>>;
