import { z } from 'zod';
import type { OtherSchedule } from '../../domain/lights-out/workload/evaluation.ts';
import { otherSchedule } from './read-schedule-object.ts';

const identity = z.object({ metadata: z.object({ name: z.string(), uid: z.string(), resourceVersion: z.string() }) });

interface Version {
  readonly resourceVersion: string;
  readonly other: OtherSchedule;
}

/**
 * Caches the parsed schedules of the last list by version. Parsing a thousand takes a second, and every observation of
 * every schedule lists all of them.
 */
export class OtherSchedules {
  /** By uid, which is unique across clusters. */
  #versions = new Map<string, Version>();

  /**
   * All schedules of the list except the one with this name. Schedules that are no longer in the list are evicted.
   *
   * @throws ZodError for an object that is not from the API.
   */
  read(except: string, objects: readonly unknown[]): readonly OtherSchedule[] {
    const listed = new Map<string, Version>();
    const others: OtherSchedule[] = [];
    for (const object of objects) {
      const { name, uid, resourceVersion } = identity.parse(object).metadata;
      const existing = this.#versions.get(uid);
      if (name === except) {
        if (existing !== undefined) listed.set(uid, existing);
        continue;
      }
      const other = existing?.resourceVersion === resourceVersion ? existing.other : otherSchedule(object);
      listed.set(uid, { resourceVersion, other });
      others.push(other);
    }
    this.#versions = listed;
    return others;
  }
}
