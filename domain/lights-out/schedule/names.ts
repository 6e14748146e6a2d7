/** The names by which a LightsOutSchedule and its annotations are known in a cluster: those of its first implementation. */
export const GROUP = 'lightsout.techsupport.mk';
export const VERSION = 'v1alpha1';
export const KIND = 'LightsOutSchedule';
export const PLURAL = 'lightsoutschedules';

/** Keeps a deleted schedule until everything that it put down is restored. */
export const FINALIZER = `${GROUP}/cleanup`;

/** Annotation and label of a workload: how many replicas it had, in decimal digits. */
export const ORIGINAL_REPLICAS = `${GROUP}/original-replicas`;
/** On a CronJob: `lightsout` where the schedule suspended it; `user` is an earlier tool's word for "was suspended already". */
export const ORIGINAL_SUSPEND = `${GROUP}/original-suspend`;
/** Annotation (and label, there cut to what a label takes): the name of the schedule that put it down. */
export const MANAGED_BY = `${GROUP}/managed-by`;
/** On what is put down: when, RFC 3339. An earlier tool did not write it. */
export const DOWN_SINCE = `${GROUP}/down-since`;
/** On a HorizontalPodAutoscaler: its minReplicas and maxReplicas before, as `1-10`. */
export const ORIGINAL_BOUNDS = `${GROUP}/original-bounds`;

/** On a schedule, a Namespace or a workload, by people: up or down until this moment (RFC 3339), whatever the crons say. */
export const WAKE_UNTIL = `${GROUP}/wake-until`;
export const SLEEP_UNTIL = `${GROUP}/sleep-until`;
/** On a workload, by people: an integer, 0 where absent. The greater one is up earlier and down later. */
export const PRIORITY = `${GROUP}/priority`;

/** KEDA's own annotation: holds a ScaledObject's target at so many replicas. */
export const KEDA_PAUSED_REPLICAS = 'autoscaling.keda.sh/paused-replicas';

/** Who Headroom is in the managed fields of what it puts down. */
export const FIELD_MANAGER = 'headroom-lights-out';

export const workloadTypes = ['Deployment', 'StatefulSet', 'CronJob'] as const;
export type WorkloadType = (typeof workloadTypes)[number];

export type ScheduleState = 'Up' | 'Down';
