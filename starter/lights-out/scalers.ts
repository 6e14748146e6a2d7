import { type Scaler, targetKey } from '../../activities/lights-out/read-workload.ts';
import type { Autoscaler, Workload } from '../../domain/lights-out/workload/workload.ts';

/** The autoscalers of a cluster by what they scale, each put in as it comes, changes and goes. */
export class Scalers {
  readonly #byTarget = new Map<string, Map<string, Autoscaler>>();

  /** What was known of an autoscaler gives way to what it is now; undefined: it was not there, or is gone. */
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

  /** The workload with the autoscalers that it has now. */
  with(workload: Workload): Workload {
    const autoscalers = this.#byTarget.get(targetKey(workload.kind, workload.namespace, workload.name));
    return autoscalers === undefined ? workload : { ...workload, autoscalers: [...autoscalers.values()] };
  }
}

function keyOf({ kind, autoscaler: { name } }: Scaler): string {
  return `${kind} ${name}`;
}
