/** An autoscaler that somebody else put on the pods of a Memcached: two that write their count would never come to an end. */
import { isRecord } from '../../kernel/record.ts';
import type { Memcached } from '../api/memcached.ts';
import { childName, deploymentReplicas } from '../children/children.ts';
import { asleepBy, isOwnedBy, replicasOf } from './live.ts';
import type { LiveChildren } from './seen.ts';

/**
 * Whether somebody else's autoscaler, called as the Memcached, has the count of its pods, although the spec has one. At 0 pods an autoscaler
 * does nothing, so that the count can be written from there and to there. Of autoscalers with other names nothing is known.
 */
export function isScaledByOther(
  { name, uid, spec }: Pick<Memcached, 'name' | 'uid' | 'spec'>,
  { Deployment: deployment, HorizontalPodAutoscaler: scaler }: LiveChildren,
): boolean {
  if (!deploymentReplicas(spec) || deployment === null || scaler === null || isOwnedBy(scaler, uid)) return false;
  const target = scaler.spec?.['scaleTargetRef'];
  const isOfPods =
    isRecord(target) && target['kind'] === 'Deployment' && target['name'] === childName('Deployment', name);
  return isOfPods && replicasOf(deployment) > 0 && asleepBy(deployment) === null;
}

/** The sentence that says so. */
export function scaledByOther({ namespace, name }: Pick<Memcached, 'namespace' | 'name'>): string {
  const scaler = `HorizontalPodAutoscaler ${namespace}/${childName('HorizontalPodAutoscaler', name)}`;
  return `${scaler} scales these pods and does not belong to this Memcached, so the count of the spec is not written: delete it, or use spec.autoscaling in its place`;
}
