import type { ResourceList } from '../../domain/kernel/resource-list.ts';

type LastCount = (namespace: string, quota: string) => ResourceList | null;
type CountListener = (namespace: string, quota: string) => void;

/** What quotas really use, as far as somebody in this process counts it: from the controller that counts to those that ask. */
export class CountedUsage {
  #lastCount: LastCount = () => null;
  readonly #listeners: CountListener[] = [];

  /** Whoever counts gives the last count of a quota, null before the first. */
  provide(lastCount: LastCount): void {
    this.#lastCount = lastCount;
  }

  /** Tells everybody who listens that a quota was counted. */
  counted(namespace: string, quota: string): void {
    for (const listener of this.#listeners) listener(namespace, quota);
  }

  onCounted(listener: CountListener): void {
    this.#listeners.push(listener);
  }

  /** The last count of a quota; null where nobody counted it. */
  lastCount(namespace: string, quota: string): ResourceList | null {
    return this.#lastCount(namespace, quota);
  }
}
