/** Which activities a history has, also those that ran within a workflow task. */
import type { Client } from '@temporalio/client';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** The name of the activity that an event has asked for, or that ran within the workflow task; null for any other event. */
export function askedBy(event: HistoryEvent): string | null {
  const { activityTaskScheduledEventAttributes: scheduled, markerRecordedEventAttributes: marker } = event;
  if (scheduled?.activityType?.name) return scheduled.activityType.name;
  return localActivity(marker)?.activity_type ?? null;
}

/** What the marker of an activity that ran within the workflow task says of it; null for any other marker. */
export function localActivity(
  marker: HistoryEvent['markerRecordedEventAttributes'],
): { readonly activity_id?: string; readonly activity_type?: string } | null {
  if (marker?.markerName !== 'core_local_activity') return null;
  const [told] = marker.details?.['data']?.payloads ?? [];
  return JSON.parse(Buffer.from(told?.data ?? []).toString()) as object;
}
