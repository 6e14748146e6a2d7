/**
 * The annotations under `resizer.io/`, and suggestions for unknown names that look like typos.
 *
 * Settings for one resource are named `<resource>-threshold`, `-increment`, `-min` and `-max`. The key of a Kubernetes
 * annotation has at most one slash, here the one after `resizer.io`, so a slash in a resource's name is written as an
 * underscore: `resizer.io/requests.nvidia.com_gpu-threshold` is for `requests.nvidia.com/gpu`.
 */
import { editDistance } from '../../kernel/edit-distance.ts';
import { isQuotaKey, plainQuotaKeys } from '../model/quota-key.ts';

export const ANNOTATION_PREFIX = 'resizer.io/';

/** Settings with one annotation for all resources of the quota. */
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

// Settings of the headroom strategy, which uses annotations on the same objects. The threshold strategy ignores them.
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

/** Families: each covers several keys of a quota, see `resourceFamily`. */
const FAMILIES = ['cpu', 'memory', 'storage', 'ephemeral-storage', 'pods'] as const;
type ResourceFamily = (typeof FAMILIES)[number];

/** The setting of an annotation under the prefix. */
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

/**
 * The resource in an annotation's name: the first underscore stands for the slash, because the part before it is a
 * domain, which has no underscore.
 */
function resourceWritten(text: string): string {
  return text.includes('/') ? text : text.replace('_', '/');
}

/** The family whose settings apply to a quota key, if there is one. */
export function resourceFamily(resource: string): ResourceFamily | undefined {
  // Storage of a storage class, or of another qualifier for claims.
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

/** The known name that differs by one or two typos; none for a short name that may simply be another word. */
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
