import { type Scaler, targetKey } from '../../activities/lights-out/read-workload.ts';
import type { Autoscaler, Workload } from '../../domain/lights-out/workload/workload.ts';

/** The autoscalers of a cluster by their target, updated with every change. */
export class Scalers {
  readonly #byTarget = new Map<string, Map<string, Autoscaler>>();

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

  /** The workload with its present autoscalers. */
  with(workload: Workload): Workload {
    const autoscalers = this.#byTarget.get(targetKey(workload.kind, workload.namespace, workload.name));
    return autoscalers === undefined ? workload : { ...workload, autoscalers: [...autoscalers.values()] };
  }
}

function keyOf({ kind, autoscaler: { name } }: Scaler): string {
  return `${kind} ${name}`;
}
