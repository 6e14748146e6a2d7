import type { ResourceList } from '../../domain/kernel/resource-list.ts';

type LastCount = (namespace: string, quota: string) => ResourceList | null;
type CountListener = (namespace: string, quota: string) => void;

/** Passes counted usage of quotas from the controller that counts to other controllers in the process. */
export class CountedUsage {
  #lastCount: LastCount = () => null;
  readonly #listeners: CountListener[] = [];

  /** Registers the function that returns a quota's last count, null before the first. */
  provide(lastCount: LastCount): void {
    this.#lastCount = lastCount;
  }

  /** Notifies all listeners that a quota was counted. */
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
