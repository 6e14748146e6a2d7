/** Labels and annotations of workloads, autoscalers and Namespaces as people and tools have them: odd, and valid. */
import * as fc from 'fast-check';
import {
  DELETES_VOLUMES,
  DOWN_SINCE,
  EXCLUDE_UNTIL,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_PAUSED,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  OWN_REPLICAS,
  OWN_TIMES,
  PRIORITY,
  SCALED_OWNER,
  SLEEP_UNTIL,
  WAKE_UNTIL,
} from '../../domain/lights-out/schedule/names.ts';
import { anyMoment } from './any-schedule.ts';

export type Texts = Readonly<Record<string, string>>;

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
}

export interface DrawnMetadata {
  readonly name: string;
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Of all annotations of an object, keys and values: as many as the API server takes. */
const ANNOTATION_BYTES = 262_144;

const labels = fc.dictionary(
  fc.constantFrom('team', 'example.com/tier', 'constructor', 'k8s-app', `${'a.'.repeat(126)}a/${'x'.repeat(63)}`),
  fc.constantFrom('', 'a', 'b', 'cilium', 'x'.repeat(63)),
  { maxKeys: 3 },
);

const wishes = {
  [WAKE_UNTIL]: anyMoment,
  [SLEEP_UNTIL]: anyMoment,
  [EXCLUDE_UNTIL]: anyMoment,
  [OWN_TIMES]: fc.constantFrom(
    'upscale: 0 9 * * 1-5; downscale: 0 22 * * 1-5',
    'upscale: 0 9 * * *; downscale: 0 22 * * *; timezone: Asia/Tokyo',
    'never',
  ),
  [OWN_REPLICAS]: fc.constantFrom('0', '2', '50%', 'half', '99999999999'),
};

/** What people write for schedules on a workload, right or wrong. */
const ofWorkloads = fc.record(
  {
    ...wishes,
    [DELETES_VOLUMES]: fc.constantFrom('true', 'false', 'maybe'),
    [PRIORITY]: fc.constantFrom('5', '-1000000', 'first'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Texts>;

/** What another tool, another release or a person has left there. */
const leftMarks = fc.record(
  {
    [ORIGINAL_REPLICAS]: fc.constantFrom('3', '', 'many', '-1', '99999999999'),
    [ORIGINAL_SUSPEND]: fc.constantFrom('lightsout', 'user', 'true'),
    [ORIGINAL_PAUSED]: fc.constantFrom('false', 'true', ''),
    [ORIGINAL_BOUNDS]: fc.constantFrom('1-5', '0-3', '5-3', '0-0', '9999999999-9999999999', '1', 'all'),
    [MANAGED_BY]: fc.constantFrom('gone', '', 'Not A Name', 'ü'),
    [DOWN_SINCE]: anyMoment,
    [SCALED_OWNER]: fc.constantFrom('widgets.example.com/web@7', 'web', ''),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Texts>;

const NONE: Texts = {};

function rarely(some: fc.Arbitrary<Texts>, weight = 1): fc.Arbitrary<Texts> {
  return fc.oneof({ weight: 5 - weight, arbitrary: fc.constant(NONE) }, { weight, arbitrary: some });
}

/** Long texts, up to the last byte that is left beside the others. */
function filled(annotations: Texts, left: number | null): Texts {
  if (left === null) return annotations;
  const taken = Object.entries({ ...annotations, long: '' }).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return { ...annotations, long: 'x'.repeat(Math.max(0, ANNOTATION_BYTES - taken - left)) };
}

/** @param more annotations that only this kind of object has. */
export function anyMetadata(name: fc.Arbitrary<string>, more: fc.Arbitrary<Texts> = fc.constant(NONE)) {
  const annotations = fc
    .tuple(
      fc.constantFrom<Texts>(NONE, { note: 'ours', 'example.com/empty': '' }),
      rarely(ofWorkloads),
      rarely(leftMarks),
      rarely(more, 3),
      fc.oneof({ weight: 30, arbitrary: fc.constant(null) }, fc.constantFrom(0, 128, 2200, 2332, 2400, 2600, 2800)),
    )
    .map(([own, forSchedules, marks, others, left]) => filled({ ...own, ...forSchedules, ...marks, ...others }, left));
  const owner = { apiVersion: 'example.com/v1', kind: 'App', name: 'app', uid: 'app', controller: true } as const;
  const ownerReferences = fc.oneof({ weight: 7, arbitrary: fc.constant([]) }, fc.constant([owner]));
  return fc.record({ name, labels, annotations, ownerReferences }) satisfies fc.Arbitrary<DrawnMetadata>;
}

/** Of the Namespace. Most are of the team that the selectors of schedules name. */
export const anyNamespace = fc.record({
  labels: fc.oneof({ weight: 3, arbitrary: fc.constant<Texts>({ team: 'a' }) }, labels),
  annotations: rarely(fc.record(wishes, { requiredKeys: [] }) as fc.Arbitrary<Texts>),
});

export const shortName = fc.constantFrom('web', 'a', '1st', 'a.b');
export const anyName = fc.oneof(
  shortName,
  fc.constantFrom('x'.repeat(63), 'x'.repeat(253), Array.from({ length: 100 }, () => 'a').join('.')),
);
