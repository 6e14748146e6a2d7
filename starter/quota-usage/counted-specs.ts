import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import type { CountingQuota } from '../../domain/quota-usage/scopes.ts';

/**
 * The specs of the cluster's quotas without repetitions: thousands of quotas have a handful of combinations, and only a
 * new or a removed one can change what has to be watched.
 */
export class CountedSpecs {
  readonly #specs = new Map<string, { readonly spec: CountingQuota; quotas: number }>();

  get all(): Iterable<CountingQuota> {
    return [...this.#specs.values()].map(({ spec }) => spec);
  }

  /** Replaces a quota; null: it did not exist, or is gone. Returns whether the set of combinations changed. */
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
