/** The calendars of a cluster, as they are there, with the rights of whoever asks. */
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listCalendars } from '../../../activities/lights-out/read-cluster.ts';
import { type Calendars, NO_CALENDARS } from '../../../domain/lights-out/schedule/calendar.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { readingFailure, withCluster } from '../cluster.ts';
import type { LoadedConfig } from '../controller.ts';
import type { Output } from '../output.ts';
import type { ScheduleObject } from './schedules.ts';

/**
 * Those of the cluster, which are only asked for where a schedule names some. Where they may not be read, there are none,
 * with a sentence on standard error.
 *
 * @throws {CommandFailed} where the cluster cannot be reached.
 */
export async function readCalendars(
  loaded: LoadedConfig,
  objects: readonly ScheduleObject[],
  { systemNamespace, output }: { readonly systemNamespace: string; readonly output: Output },
): Promise<Calendars> {
  if (objects.every((object) => (readSchedule(object).spec?.calendars ?? []).length === 0)) return NO_CALENDARS;
  return await withCluster(loaded, async ({ kubernetes }) => {
    try {
      return await listCalendars(kubernetes, systemNamespace);
    } catch (error) {
      if (statusCode(error) !== 403) throw readingFailure(error, '');
      output.note(
        `The ConfigMaps in the namespace ${systemNamespace} cannot be read with your rights: what follows is without calendars.`,
      );
      return NO_CALENDARS;
    }
  });
}
