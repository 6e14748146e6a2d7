/** The keys that a located quota has its limits under. */
import { writtenKey } from '../../yaml/other-name.ts';
import type { QuotaLocation } from './location.ts';

/** The key in the quota for a resource that is known by several names. */
export function keyOf(
  { values }: Pick<QuotaLocation, 'values'>,
  resource: string,
  asked: readonly string[],
): string | undefined {
  return writtenKey(resource, asked, (key) => Object.hasOwn(values, key));
}
