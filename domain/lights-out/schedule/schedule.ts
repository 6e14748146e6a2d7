/** The type of a LightsOutSchedule, from which the CRD, the webhooks and the controller are derived. */
import { z } from 'zod';
import { condition } from '../../kernel/condition.ts';
import { labelSelector } from '../../kernel/label-selector-schema.ts';
import { workloadTypes } from './names.ts';

/** Go's notation, at least one number with a unit: `30s`, `5m`, `1h30m`; or `0`. */
const duration = z.string().regex(/^(?:0|(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+)$/);

const rateLimit = z.object({
  batchSize: z.int().min(1).max(1_000_000).optional().describe('Workloads of one batch. Absent: all at once.'),
  delayBetweenBatches: duration.optional().describe('How long to wait between two batches, such as 30s.'),
});
export type RateLimit = z.infer<typeof rateLimit>;

/** `2026-12-24`, or `12-24` for every year. */
const day = z.string().regex(/^(?:[0-9]{4}-)?(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$/);

export const scheduleException = z.object({
  from: day.describe('The first day, in the time zone of the schedule: 2026-12-24, or 12-24 for every year.'),
  to: day.optional().describe('The last day, included, in the same form. Absent: the first day only.'),
  state: z.enum(['Up', 'Down']).describe('What holds on these days, whatever the crons say.'),
  reason: z.string().max(200).optional().describe('Shown wherever the exception is.'),
});
export type ScheduleException = z.infer<typeof scheduleException>;

const scheduleWindow = z.object({
  upscale: z.string().min(1).max(200).describe('When it ends: a cron pattern of five fields.'),
  downscale: z.string().min(1).max(200).describe('When it begins: a cron pattern of five fields.'),
  replicas: z
    .int()
    .min(0)
    .max(10_000)
    .optional()
    .describe('Replicas to keep in it; a workload with fewer keeps those. Either this or percent.'),
  percent: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe('Of the replicas of each workload, rounded up, to keep in it. Either this or replicas.'),
});
export type ScheduleWindow = z.infer<typeof scheduleWindow>;

const priorityRule = z.object({
  priority: z
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .describe('The greater one is up earlier and down later; 0 is the default.'),
  selector: labelSelector.describe('The labels of the workloads that have it; the first rule that matches counts.'),
});

const namespaceName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/);

const configMapName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/);

/** `spec` of a LightsOutSchedule, with the defaults filled in by `parse`. */
export const scheduleSpec = z.object({
  upscale: z.string().min(1).max(200).describe('When the workloads wake: a cron pattern of five fields.'),
  downscale: z.string().min(1).max(200).describe('When they go to sleep: a cron pattern of five fields.'),
  timezone: z.string().max(64).default('UTC').describe('IANA time zone of both patterns and of the exceptions.'),
  namespaceSelector: labelSelector.optional().describe('Namespaces by their labels; an empty one selects all.'),
  namespaces: z.array(namespaceName).max(1_000).default([]).describe('Namespaces by name, beside the selected ones.'),
  excludeNamespaces: z
    .array(namespaceName)
    .max(1_000)
    .default([])
    .describe('Namespaces that are left alone in any case.'),
  suspend: z
    .boolean()
    .default(false)
    .describe('While true, nothing is put to sleep or woken; a deletion wakes everything all the same.'),
  workloadTypes: z
    .array(z.enum(workloadTypes))
    .max(workloadTypes.length)
    .default([])
    .describe('Which kinds; empty: all of them.'),
  excludeLabels: labelSelector
    .optional()
    .describe('Workloads with these labels are left alone; an empty one excludes none.'),
  upscaleRateLimit: rateLimit.optional().describe('How fast workloads are woken.'),
  downscaleRateLimit: rateLimit.optional().describe('How fast workloads are put to sleep.'),
  downscaleReplicas: z
    .int()
    .min(0)
    .max(10_000)
    .default(0)
    .describe('Replicas to keep while down; a workload with fewer keeps those.'),
  windows: z
    .array(scheduleWindow)
    .max(20)
    .default([])
    .describe('Further times of the day at which less is kept. Where several hold, the least is kept.'),
  exceptions: z
    .array(scheduleException)
    .max(200)
    .default([])
    .describe('Holidays and one-off exceptions, by local date; the first that matches counts.'),
  calendars: z
    .array(configMapName)
    .max(10)
    .default([])
    .describe(
      "ConfigMaps of Headroom's namespace with exceptions that several schedules share; they count after its own.",
    ),
  priorities: z
    .array(priorityRule)
    .max(50)
    .default([])
    .describe('The order of workloads; the annotation priority of a workload outranks it.'),
  readinessTimeout: duration
    .default('10m')
    .describe('How long to wait for the workloads of one priority before those of the next.'),
  newWorkloadGrace: duration
    .default('0')
    .describe('How long a workload that is created while down is left up, whoever created it.'),
  prewarm: duration
    .default('10m')
    .describe(
      'How long before they wake the nodes for the workloads come, where Headroom keeps node groups; 0: not before.',
    ),
  cronJobs: z
    .object({
      catchUp: z
        .enum(['last', 'none'])
        .default('last')
        .describe('Whether a CronJob that missed runs while asleep runs once when it is woken.'),
    })
    .default({ catchUp: 'last' })
    .describe('How CronJobs are woken.'),
  ownTimes: z
    .enum(['any', 'wakeLonger', 'sleepLonger', 'ignore'])
    .default('any')
    .describe(
      'What the annotation schedule of a workload or its namespace may do: set any times, only keep it awake longer, only let it sleep longer, or nothing.',
    ),
  controllerOwned: z
    .enum(['skip', 'scale'])
    .default('skip')
    .describe('Workloads that another controller owns: left alone, or put to sleep like the others.'),
  allNamespaces: z
    .boolean()
    .default(false)
    .describe('Confirms that an empty namespaceSelector, which selects every namespace, is meant.'),
  dryRun: z.boolean().default(false).describe('Say what would be done, and do nothing.'),
  requireApproval: z
    .boolean()
    .default(false)
    .describe('Nothing is put to sleep before an operator has approved the first run.'),
});
export type ScheduleSpec = z.output<typeof scheduleSpec>;

/** A wake or sleep override that an operator asked for; RFC 3339 in the status, epoch milliseconds in memory. */
const override = z.object({
  kind: z.enum(['wake', 'sleep']),
  namespace: z.string().optional().describe('Only there; absent: everywhere.'),
  since: z.string(),
  until: z.string(),
  by: z.string(),
  reason: z.string().optional(),
});

const count = z.int().min(0);

/** Numbers with two decimals, as text: an API of Kubernetes has no floating point. */
const savedHours = z.object({ replicaHours: z.string(), cpuCoreHours: z.string(), memoryGiBHours: z.string() });

/**
 * `status` of a LightsOutSchedule. Every field may be missing, because a schedule is created without a status. Moments
 * are RFC 3339.
 */
export const scheduleStatus = z.object({
  state: z.enum(['Up', 'Down', 'Unknown']).optional().describe('What the schedule says now.'),
  stateSince: z.string().optional().describe('Since when that has held for the workloads.'),
  lastUpscaleTime: z.string().optional().describe('When the workloads were last woken.'),
  lastDownscaleTime: z.string().optional().describe('When they were last put to sleep.'),
  nextUpscaleTime: z.string().optional(),
  nextDownscaleTime: z.string().optional(),
  observedGeneration: z.int().optional(),
  namespaces: z.array(z.string()).optional().describe('The namespaces in scope.'),
  workloadStats: z
    .object({
      deploymentsManaged: count.optional(),
      deploymentsScaled: count.optional(),
      statefulsetsManaged: count.optional(),
      statefulsetsScaled: count.optional(),
      cronjobsManaged: count.optional(),
      cronjobsSuspended: count.optional(),
      rolloutsManaged: count.optional(),
      rolloutsScaled: count.optional(),
      scaledjobsManaged: count.optional(),
      scaledjobsPaused: count.optional(),
    })
    .optional(),
  scalingProgress: z
    .object({ total: count, completed: count, failed: count, inProgress: z.boolean() })
    .optional()
    .describe('Present while workloads are woken or put to sleep.'),
  scope: z
    .object({
      digest: z.string().describe('The same for the same workloads.'),
      workloads: count,
      leftAlone: z
        .array(z.object({ reason: z.string(), workloads: count }))
        .optional()
        .describe('How many of what it selects are left as they are, and why.'),
    })
    .optional()
    .describe('The workloads that the schedule puts to sleep and wakes.'),
  conditions: z.array(condition).optional(),
  overrides: z.array(override).optional().describe('What operators asked for, until when.'),
  calendarsDigest: z.string().optional().describe('Of what its calendars said when it was last observed.'),
  paused: z
    .object({ by: z.string(), at: z.string().optional(), reason: z.string().optional() })
    .optional()
    .describe('Who paused the schedule, the controller or everything, and since when.'),
  savedReplicaHours: z
    .string()
    .optional()
    .describe('Replica-hours that were not run because of this schedule, with one decimal.'),
  savings: z
    .object({
      since: z.string(),
      until: z.string().describe('As of when the sums are.'),
      months: z
        .array(savedHours.extend({ month: z.string() }))
        .describe('By month of UTC, the newest first; at most 13.'),
      namespaces: z
        .array(savedHours.extend({ namespace: z.string() }))
        .describe('The most CPU first; at most 200, and (others) for the rest.'),
    })
    .optional()
    .describe('What was not run because of this schedule, by what the templates of the pods request.'),
  approved: z
    .object({
      by: z.string(),
      at: z.string(),
      digest: z.string().optional().describe('Of the workloads that were approved. Absent: whatever is selected.'),
      workloads: count.optional(),
    })
    .optional()
    .describe('Who approved the workloads, and when.'),
});
export type ScheduleStatus = z.infer<typeof scheduleStatus>;

/** For each kind of workload, how many are in scope and how many of them are asleep. */
export type WorkloadStats = Record<keyof NonNullable<ScheduleStatus['workloadStats']>, number>;
