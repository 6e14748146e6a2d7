/** The admission webhooks of LightsOutSchedules: the domain's own reading of a schedule, before the API server stores it. */
import { isRecord } from '../../domain/kernel/record.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { protectedNamespaces } from '../../domain/lights-out/protected-namespaces.ts';
import { readSchedule, scheduleWarnings } from '../../domain/lights-out/schedule/read-schedule.ts';
import type { ScheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  changedSpec,
  denied,
  objectName,
  patched,
} from '../admission/review.ts';
import type { AdmissionWebhooks } from '../admission/webhooks.ts';
import type { Config } from '../config.ts';

/** Another schedule of the cluster. */
export interface NamedSchedule {
  readonly name: string;
  readonly spec: ScheduleSpec;
}

/** What a schedule is evaluated beside. */
export interface ScheduleReviewContext {
  /** All schedules of the cluster that can be read; the one that is asked about may be among them. */
  readonly others: readonly NamedSchedule[];
  /** Never touched by any schedule. */
  readonly protectedNamespaces: readonly string[];
  readonly now: EpochMs;
}

/** The webhooks, where the configuration has an address for them; `others` are all schedules of the cluster at this moment. */
export function scheduleAdmission(
  config: Config,
  others: () => readonly NamedSchedule[],
): AdmissionWebhooks | undefined {
  const { webhookAddress: address, webhookCertificate: certificateFolder, webhookHost: host } = config.lightsOut;
  if (address === undefined) return undefined;
  const untouched = protectedNamespaces(config);
  return {
    ...scheduleWebhooks(() => ({ others: others(), protectedNamespaces: untouched, now: Date.now() })),
    address,
    certificateFolder,
    host,
  };
}

/** What of the webhooks does not depend on where they are served. */
export function scheduleWebhooks(
  context: () => ScheduleReviewContext,
): Pick<AdmissionWebhooks, 'name' | 'kind' | 'reviews'> {
  return {
    name: 'headroom-lights-out',
    kind: 'LightsOutSchedule',
    reviews: {
      '/mutate': reviewDefaults,
      '/validate': (request) => reviewSchedule(request, context()),
    },
  };
}

/** Sets the time zone where a schedule names none, and changes nothing else. */
export function reviewDefaults(request: AdmissionRequest): AdmissionResponse {
  const changed = changedSpec(request);
  if (!isRecord(changed)) return allowed(request);
  const { timezone } = changed;
  if (timezone !== undefined && timezone !== null && timezone !== '') return allowed(request);
  return patched(request, [{ op: 'add', path: '/spec/timezone', value: 'UTC' }]);
}

/** Denies a schedule that says something impossible, with all that is wrong with it, and warns of what is only unwise. */
export function reviewSchedule(
  request: AdmissionRequest,
  { others, protectedNamespaces: untouched, now }: ScheduleReviewContext,
): AdmissionResponse {
  if (changedSpec(request) === undefined) return allowed(request);
  const { spec, problems } = readSchedule(request.object);
  if (spec === null || problems.length > 0) {
    return denied(request, problems.map(({ field, message }) => `${field}: ${message}`).join('; '));
  }
  const name = objectName(request);
  const besides = others.filter((other) => other.name !== name);
  return allowed(request, scheduleWarnings(spec, besides, { now, protectedNamespaces: untouched }));
}
