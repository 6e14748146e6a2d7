/**
 * The annotations under `resizer.io/`: which there are, and what a name that is none of them was probably meant to be.
 *
 * Settings for one resource are named `<resource>-threshold`, `-increment`, `-min` and `-max`. A Kubernetes annotation has one
 * slash at most, and it stands after `resizer.io`; so in a resource's name the slash is written as an underscore:
 * `resizer.io/requests.nvidia.com_gpu-threshold` is about `requests.nvidia.com/gpu`.
 */
import { isQuotaKey, plainQuotaKeys } from '../model/quota-key.ts';

export const ANNOTATION_PREFIX = 'resizer.io/';

/** Each is one annotation, for all resources of the quota. */
export const PLAIN_SETTINGS = [
  'enabled',
  'mode',
  'threshold',
  'increment',
  'burst',
  'steps',
  'max-step',
  'cooldown-minutes',
  'rejection-cooldown',
  'auto-merge',
  'approval',
  'approval-reminder',
  'approval-timeout',
  'freeze-until',
  'merge-windows',
  'reviewers',
  'git-repository',
  'git-path',
  'git-ref',
  'git-field',
] as const;
export type PlainSetting = (typeof PLAIN_SETTINGS)[number];

const RESOURCE_SETTINGS = ['threshold', 'increment', 'min', 'max'] as const;
type ResourceSetting = (typeof RESOURCE_SETTINGS)[number];

// Of the headroom strategy, which keeps its annotations on the same objects. The threshold strategy passes them over.
const HEADROOM_SETTINGS = [
  'headroom',
  'tolerance',
  'window-days',
  'max-shrink-step',
  'shrink-cooldown-days',
  'shrink-pr-ttl-days',
  'shrink-enabled',
];

const RESOURCE_SETTING = /^(.+)-(threshold|increment|headroom|min|max)$/;

/** Each covers several keys of a quota; see `resourceFamily`. */
const FAMILIES = ['cpu', 'memory', 'storage', 'ephemeral-storage', 'pods'] as const;
type ResourceFamily = (typeof FAMILIES)[number];

/** What an annotation under the prefix sets. */
export type Setting =
  | { readonly kind: 'plain'; readonly name: PlainSetting }
  | { readonly kind: 'resource'; readonly name: ResourceSetting; readonly resource: string }
  | { readonly kind: 'otherStrategy' }
  | { readonly kind: 'unknown'; readonly closest?: string };

/** @param name the annotation's key without the prefix. */
export function settingNamed(name: string): Setting {
  const plain = PLAIN_SETTINGS.find((existing) => existing === name);
  if (plain !== undefined) {
    return { kind: 'plain', name: plain };
  }
  if (HEADROOM_SETTINGS.includes(name)) {
    return { kind: 'otherStrategy' };
  }
  const [, written = '', suffix] = RESOURCE_SETTING.exec(name) ?? [];
  const resource = resourceWritten(written);
  if (suffix !== undefined && isQuotaKey(resource)) {
    const setting = RESOURCE_SETTINGS.find((existing) => existing === suffix);
    return setting === undefined ? { kind: 'otherStrategy' } : { kind: 'resource', name: setting, resource };
  }
  const closest = closestTo(name);
  return closest === undefined ? { kind: 'unknown' } : { kind: 'unknown', closest };
}

/** The resource of an annotation: the first underscore is the slash, because what is left of it is a domain, which has none. */
function resourceWritten(text: string): string {
  return text.includes('/') ? text : text.replace('_', '/');
}

/** The family whose settings cover a quota key, if there is one. */
export function resourceFamily(resource: string): ResourceFamily | undefined {
  // Of a storage class, and of whatever else Kubernetes qualifies claims by.
  if (resource.endsWith('/requests.storage')) {
    return 'storage';
  }
  if (resource === 'count/pods') {
    return 'pods';
  }
  const bare = resource.replace(/^(?:requests|limits)\./, '');
  return FAMILIES.find((family) => family === bare);
}

const KNOWN_NAMES = [
  ...PLAIN_SETTINGS,
  ...HEADROOM_SETTINGS,
  ...[...RESOURCE_SETTINGS, 'headroom'].flatMap((setting) => plainQuotaKeys.map((key) => `${key}-${setting}`)),
];

/** The known name that a name differs from by a typo or two: none for a short name that is just another word. */
function closestTo(name: string): string | undefined {
  const written = name.toLowerCase().replaceAll('_', '-');
  let best: string | undefined;
  let fewest = Math.min(3, Math.floor(written.length / 4)) + 1;
  for (const existing of KNOWN_NAMES) {
    const distance = Math.abs(existing.length - written.length) < fewest ? editDistance(written, existing) : fewest;
    if (distance < fewest) {
      best = existing;
      fewest = distance;
    }
  }
  return best;
}

/** How many characters to add, drop, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
