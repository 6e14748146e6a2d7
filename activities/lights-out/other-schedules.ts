import { z } from 'zod';
import type { OtherSchedule } from '../../domain/lights-out/workload/evaluation.ts';
import { otherSchedule } from './read-schedule-object.ts';

const identity = z.object({ metadata: z.object({ name: z.string(), uid: z.string(), resourceVersion: z.string() }) });

interface Version {
  readonly resourceVersion: string;
  readonly other: OtherSchedule;
}

/**
 * The schedules of the last list, as others see them: each version is read once. Reading a thousand of them takes a second,
 * and every observation of every schedule lists them all.
 */
export class OtherSchedules {
  /** By uid, which no two objects of any cluster share. */
  #versions = new Map<string, Version>();

  /**
   * All of the list but those of this name. What is not in the list any more is forgotten.
   *
   * @throws ZodError for what is no object of the API.
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
