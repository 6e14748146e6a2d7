/** The names of a LightsOutSchedule and its annotations in a cluster, compatible with the first implementation. */
export const GROUP = 'lightsout.techsupport.mk';
export const VERSION = 'v1alpha1';
export const KIND = 'LightsOutSchedule';
export const PLURAL = 'lightsoutschedules';

/** Keeps a deleted schedule until everything that it put to sleep is restored. */
export const FINALIZER = `${GROUP}/cleanup`;

/**
 * Annotation and label of a sleeping workload: its number of replicas before, in decimal digits. Empty on a Rollout that had no
 * number, which is 1.
 */
export const ORIGINAL_REPLICAS = `${GROUP}/original-replicas`;
/**
 * On a CronJob: `lightsout` if the schedule suspended it; `user` is an earlier tool's value for "was suspended
 * already".
 */
export const ORIGINAL_SUSPEND = `${GROUP}/original-suspend`;
/**
 * On a workload that sleeps by the number of the custom resource that owns it: which one that is, as `widgets.example.com/web@7`. Its
 * number before is that of `ORIGINAL_REPLICAS`: both had the same.
 */
export const SCALED_OWNER = `${GROUP}/scaled-owner`;
/** Annotation (and label, shortened to a label's length): the name of the schedule that put it to sleep. */
export const MANAGED_BY = `${GROUP}/managed-by`;
/** Annotation: since when it is asleep, RFC 3339. An earlier tool did not write it. */
export const DOWN_SINCE = `${GROUP}/down-since`;
/** On a HorizontalPodAutoscaler: its earlier minReplicas and maxReplicas, as `1-10`. */
export const ORIGINAL_BOUNDS = `${GROUP}/original-bounds`;

/** On a ScaledJob: what KEDA's annotation `paused` said before, where it was there and paused nothing. */
export const ORIGINAL_PAUSED = `${GROUP}/original-paused`;

/** Label of the ConfigMaps that have what workloads were before a schedule put them to sleep: its name, shortened. */
export const MEMORY_OF = `${GROUP}/memory-of`;

/** Label of the ConfigMaps of Headroom's namespace that are calendars, set by people; its value does not matter. */
export const CALENDAR = `${GROUP}/calendar`;

/** On a schedule, a Namespace or a workload, set by people: awake (or asleep) until this moment, RFC 3339. */
export const WAKE_UNTIL = `${GROUP}/wake-until`;
export const SLEEP_UNTIL = `${GROUP}/sleep-until`;
/** On a Namespace or a workload, set by people: no schedule puts it to sleep until this moment, RFC 3339. */
export const EXCLUDE_UNTIL = `${GROUP}/exclude-until`;
/** On a Namespace or a workload, set by people: times of its own, in place of the patterns of its schedule. */
export const OWN_TIMES = `${GROUP}/schedule`;
/** On a Namespace or a workload, set by people: what it keeps at night, `2` or `50%`. */
export const OWN_REPLICAS = `${GROUP}/downscale-replicas`;
/** On a StatefulSet, set by people: `true` lets it sleep although that deletes its volumes. */
export const DELETES_VOLUMES = `${GROUP}/deletes-volumes`;
/** On a schedule, set by people: the schedule whose workloads it takes over, without waking them, when that is deleted. */
export const TAKES_OVER = `${GROUP}/takes-over`;
/** On a workload, set by people: an integer, default 0. Greater numbers wake earlier and go to sleep later. */
export const PRIORITY = `${GROUP}/priority`;

/** KEDA's annotation that fixes the replicas of a ScaledObject's target. */
export const KEDA_PAUSED_REPLICAS = 'autoscaling.keda.sh/paused-replicas';

/** Headroom's field manager in the managed fields of workloads that it scales. */
export const FIELD_MANAGER = 'headroom-lights-out';

/** KEDA's annotation that keeps a ScaledJob from starting Jobs: `true`. */
export const KEDA_PAUSED = 'autoscaling.keda.sh/paused';

/** Rollouts are Argo's, ScaledJobs KEDA's; a cluster may serve neither. */
export const workloadTypes = ['Deployment', 'StatefulSet', 'CronJob', 'Rollout', 'ScaledJob'] as const;
export type WorkloadType = (typeof workloadTypes)[number];

export type ScheduleState = 'Up' | 'Down';

/** What is wrong with a new schedule that selects every namespace without saying that this is meant. */
export const UNCONFIRMED_SELECTOR =
  'namespaceSelector is empty and selects every namespace that is neither excluded nor protected: expected allNamespaces: true with it, or labels in it';
