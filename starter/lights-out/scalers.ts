import type { Owners } from '../../activities/lights-out/owners.ts';
import { type Scaler, targetKey, withOwnersAutoscalers } from '../../activities/lights-out/read-scaler.ts';
import type { Autoscaler, Workload } from '../../domain/lights-out/workload/workload.ts';

/** The autoscalers of a cluster by their target, and the owners of workloads, updated with every change. */
export class Scalers {
  readonly #owners: Owners;
  readonly #workloadsIn: (namespace: string) => readonly Workload[];
  readonly #byTarget = new Map<string, Map<string, Autoscaler>>();

  /** @param workloadsIn from the caches, as they are. */
  constructor(owners: Owners, workloadsIn: (namespace: string) => readonly Workload[]) {
    this.#owners = owners;
    this.#workloadsIn = workloadsIn;
  }

  /** Replaces an autoscaler; undefined: it did not exist, or is gone. */
  put(before: Scaler | undefined, after: Scaler | undefined): void {
    if (before !== undefined && before.target !== after?.target) {
      const those = this.#byTarget.get(before.target);
      those?.delete(keyOf(before));
      if (those?.size === 0) this.#byTarget.delete(before.target);
    }
    if (after === undefined) return;
    const those = this.#byTarget.get(after.target) ?? new Map<string, Autoscaler>();
    those.set(keyOf(after), after.autoscaler);
    this.#byTarget.set(after.target, those);
  }

  /** The workload by its present owner, with its present autoscalers. */
  with(workload: Workload): Workload {
    const own = this.#of(targetKey(workload.kind, workload.namespace, workload.name));
    const attached = this.#owners.attached(workload, () => this.#workloadsIn(workload.namespace));
    const whole = own.length === 0 ? attached : { ...attached, autoscalers: own };
    return withOwnersAutoscalers(whole, (target) => this.#of(target));
  }

  #of(target: string): readonly Autoscaler[] {
    return [...(this.#byTarget.get(target)?.values() ?? [])];
  }
}

function keyOf({ kind, autoscaler: { name } }: Scaler): string {
  return `${kind} ${name}`;
}
