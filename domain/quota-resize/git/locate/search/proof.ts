/**
 * Whether a value is proved to be the limit of the wanted quota. What an annotation names and cannot be proved is
 * proposed all the same, but a person merges it.
 */
import { keyOf } from '../location/value-keys.ts';
import type { QuotaLocation } from '../location/location.ts';
import { isCurrent, type WantedQuota } from './search.ts';
import type { Ownership } from './ownership.ts';

type Located = Pick<QuotaLocation, 'values'>;

/** Why values of a chart are not those in force, a clause; undefined where they are, or where that is not known. */
export function notInForce({ resources, current }: WantedQuota, { values }: Located): string | undefined {
  if (current === undefined) return undefined;
  for (const resource of resources) {
    const key = keyOf({ values }, resource, resources);
    const value = key === undefined ? undefined : values[key];
    if (value !== undefined && !isCurrent(value.text, current[resource])) {
      const inForce =
        current[resource] === undefined ? 'there is no limit in force' : `the limit in force is ${current[resource]}`;
      return `${resource} is ${value.text} at ${value.path}:${value.line}, and ${inForce}`;
    }
  }
  return undefined;
}

/** The location with what is not proved about it. */
export function withDoubts(location: QuotaLocation, doubts: readonly (string | undefined)[]): QuotaLocation {
  const all = doubts.filter((doubt) => doubt !== undefined);
  return all.length === 0 ? location : { ...location, notProved: all.join('; and ') };
}

/** A doubtful ownership as a doubt. */
export function doubtOf(ownership: Ownership): string | undefined {
  return ownership.kind === 'doubtful' ? ownership.why : undefined;
}
