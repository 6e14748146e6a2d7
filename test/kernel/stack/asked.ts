/** Which activities a history has, also those that ran within a workflow task. */
import type { Client } from '@temporalio/client';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** The name of the activity that an event has asked for, or that ran within the workflow task; null for any other event. */
export function askedBy(event: HistoryEvent): string | null {
  const { activityTaskScheduledEventAttributes: scheduled, markerRecordedEventAttributes: marker } = event;
  if (scheduled?.activityType?.name) return scheduled.activityType.name;
  if (marker?.markerName !== 'core_local_activity') return null;
  const [told] = marker.details?.['data']?.payloads ?? [];
  const { activity_type: name } = JSON.parse(Buffer.from(told?.data ?? []).toString()) as { activity_type?: string };
  return name ?? null;
}
