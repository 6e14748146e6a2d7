/** What metrics say of a Memcached. */
import { isRecord } from '../../kernel/record.ts';
import { NEXT_POD_GOES } from '../api/names.ts';
import type { ReadMemcached } from '../api/read-memcached.ts';
import { deploymentReplicas } from '../children/children.ts';
import { asleepBy, countsOf, isOwnedBy, type LiveObject, replicasOf } from '../plan/live.ts';

export interface Instance {
  readonly name: string;
  readonly namespace: string;
  /** Null where the spec contradicts itself: nobody makes pods by it. */
  readonly image: string | null;
  /** Null where neither the spec nor a Deployment says it. */
  readonly desired: number | null;
  readonly ready: number;
}

/** @param deployment of its name, whoever owns that; null while there is none. */
export function instanceOf({ name, namespace, uid, spec }: ReadMemcached, deployment: LiveObject | null): Instance {
  const ours = deployment !== null && isOwnedBy(deployment, uid) ? deployment : null;
  return {
    name,
    namespace,
    image: spec?.image ?? null,
    desired: desiredOf(spec, ours),
    ready: ours === null ? 0 : countsOf(ours).readyReplicas,
  };
}

/** The replicas that the spec asks for. Where something else sets them now, such as an autoscaler, those of the Deployment. */
function desiredOf(spec: ReadMemcached['spec'], deployment: LiveObject | null): number | null {
  const fixed = spec === null ? null : deploymentReplicas(spec);
  if (deployment === null) return spec === null ? null : (fixed ?? spec.autoscaling?.minReplicas ?? 1);
  return fixed === null || isPassing(deployment) ? replicasOf(deployment) : fixed;
}

/** A schedule put it to sleep, or its pods go one by one. */
function isPassing(deployment: LiveObject): boolean {
  const annotations = deployment.metadata?.['annotations'];
  return asleepBy(deployment) !== null || (isRecord(annotations) && annotations[NEXT_POD_GOES] !== undefined);
}
