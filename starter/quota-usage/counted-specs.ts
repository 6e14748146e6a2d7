import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import type { CountingQuota } from '../../domain/quota-usage/scopes.ts';

/**
 * What the quotas of the cluster count, each combination of limits once: thousands of quotas have a handful, and only a new
 * one, or the end of one, can change what has to be watched.
 */
export class CountedSpecs {
  readonly #specs = new Map<string, { readonly spec: CountingQuota; quotas: number }>();

  get all(): Iterable<CountingQuota> {
    return [...this.#specs.values()].map(({ spec }) => spec);
  }

  /** One quota takes another's place, or comes or goes. Returns whether there is a combination more or less. */
  replace(before: CachedQuota | null, after: CachedQuota | null): boolean {
    const [left, came] = [before, after].map((quota) => (quota === null ? null : limitsOf(quota)));
    if (left === came) return false;
    const isNew = came != null && after !== null && this.#add(came, after.spec);
    const isLast = left != null && this.#remove(left);
    return isNew || isLast;
  }

  #add(limits: string, spec: CountingQuota): boolean {
    const existing = this.#specs.get(limits);
    if (existing !== undefined) existing.quotas += 1;
    else this.#specs.set(limits, { spec, quotas: 1 });
    return existing === undefined;
  }

  #remove(limits: string): boolean {
    const existing = this.#specs.get(limits);
    if (existing === undefined) return false;
    existing.quotas -= 1;
    if (existing.quotas > 0) return false;
    this.#specs.delete(limits);
    return true;
  }
}

function limitsOf({ spec }: CachedQuota): string {
  return JSON.stringify(Object.keys(spec.hard ?? {}).toSorted());
}
