import { isRecord } from '../../domain/kernel/record.ts';
import { readMoment } from '../../domain/lights-out/workload/annotations.ts';
import { lastSetBy } from '../../domain/lights-out/workload/field-owner.ts';
import { DOWN_SINCE } from '../../domain/lights-out/schedule/names.ts';
import type { SetBy } from '../../domain/lights-out/workload/workload.ts';

/** Written by `kubectl apply` and Argo CD where they do not apply on the server. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Who applied this minimum to an autoscaler since a schedule holds it; null when nobody did, or it is not known. Whoever applies
 * by comparing on the client writes no field that has its value already, so that the managed fields do not tell.
 */
export function minimumAppliedBy(
  {
    annotations = {},
    managedFields,
  }: { readonly annotations?: Readonly<Record<string, string>>; readonly managedFields?: unknown },
  minReplicas: number | undefined,
): SetBy | null {
  const heldSince = readMoment(annotations[DOWN_SINCE] ?? '');
  const by = lastSetBy(managedFields, 'annotations', LAST_APPLIED);
  if (minReplicas === undefined || heldSince === null || by === null || by.at <= heldSince) return null;
  return appliedMinimum(annotations[LAST_APPLIED] ?? '') === minReplicas ? by : null;
}

/** Undefined where the text has none, or is no JSON. */
function appliedMinimum(text: string): unknown {
  try {
    const applied: unknown = JSON.parse(text);
    return isRecord(applied) && isRecord(applied['spec']) ? applied['spec']['minReplicas'] : undefined;
  } catch {
    return undefined;
  }
}
