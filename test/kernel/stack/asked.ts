/** Which activities a history has. */
import type { Client } from '@temporalio/client';

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** The name of the activity that an event has asked for; null for any other event. */
export function askedBy({ activityTaskScheduledEventAttributes: scheduled }: HistoryEvent): string | null {
  return scheduled?.activityType?.name ?? null;
}
