/** What a manifest file says of the limits of a ResourceQuota. */
import { isQuantity } from '../../../kernel/quantity.ts';
import type { ResourceList } from '../../../kernel/resource-list.ts';
import type { Pointer } from './field-path.ts';
import { limitText, type QuotaNode } from './document.ts';
import { matchingQuotas, type QuotaName } from './find-quota.ts';
import { placeAt } from './location.ts';
import { plainValue, valueAt } from './value.ts';
import { otherNameOf } from './other-name.ts';

/** The way to one limit of a quota. */
function limitPointer(quota: QuotaNode, key: string): Pointer {
  return [...quota.pointer, 'spec', 'hard', key];
}

/** The key of the file for a resource: its own, else its other name, if nobody asks for that one by itself. */
function keyFor(quota: QuotaNode, resource: string, asked: readonly string[]): string | undefined {
  if (placeAt(quota, limitPointer(quota, resource)) !== undefined) {
    return resource;
  }
  const other = otherNameOf(resource);
  return other !== undefined && !asked.includes(other) && placeAt(quota, limitPointer(quota, other)) !== undefined
    ? other
    : undefined;
}

/** The one quota of the text; undefined where there is none, or several are. */
function onlyQuota(text: string, target: QuotaName): QuotaNode | undefined {
  const { exact, unnamed } = matchingQuotas(text, target);
  const [quota, second] = exact.length > 0 ? exact : unnamed;
  return second === undefined ? quota : undefined;
}

/**
 * What the file says today, as it is written (`2000m`, `1024Mi`), so that nobody writes below it and a new value can keep
 * its unit. A value that is no quantity is left out. Empty when the quota is not in the text (or there twice).
 *
 * @param resources the limits to read, under the names they are asked by; absent: every key of the file by its own name.
 */
export function valuesInGit(text: string, target: QuotaName, resources?: readonly string[]): ResourceList {
  const quota = onlyQuota(text, target);
  if (quota === undefined) {
    return {};
  }
  const names = resources ?? keysOf(quota);
  return Object.fromEntries(
    names.flatMap((resource) => {
      const key = keyFor(quota, resource, names);
      const value = key === undefined ? undefined : limitAt(quota, key);
      return value !== undefined && isQuantity(value) ? [[resource, value]] : [];
    }),
  );
}

/** The keys of spec.hard, those that merges bring too. */
function keysOf({ document, pointer }: QuotaNode): readonly string[] {
  const hard = valueAt(plainValue(document).value, [...pointer, 'spec', 'hard']);
  return typeof hard === 'object' && hard !== null ? Object.keys(hard) : [];
}

function limitAt(quota: QuotaNode, key: string): string | undefined {
  const place = placeAt(quota, limitPointer(quota, key));
  return place === undefined ? undefined : limitText(place.node, quota.document);
}
