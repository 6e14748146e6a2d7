import type { Autoscaler } from '../../domain/lights-out/workload/workload.ts';

/** Of all keys and values of an object: Kubernetes' `TotalAnnotationSizeLimitB`. */
const MOST_BYTES = 262_144;
/**
 * The controller of a Deployment copies its annotations to a ReplicaSet, which has there besides `revision`, `desired-replicas`,
 * `max-replicas` (each of up to ten digits, 141 bytes with their keys) and `revision-history` (of up to 2,000 characters, 2,041).
 * Argo's has the like. Where they do not fit, the Deployment says 0 replicas, and its pods stay.
 */
const RESERVED_BYTES = 2200;
/** More than a schedule with the longest name writes to one object. */
const MOST_MARKS_BYTES = 1024;

/** How many bytes are left for further annotations of an object, where that may be too few. */
export function annotationRoom(annotations: Readonly<Record<string, string>> = {}): Pick<Autoscaler, 'annotationRoom'> {
  let left = MOST_BYTES - RESERVED_BYTES;
  for (const [key, value] of Object.entries(annotations)) left -= Buffer.byteLength(key) + Buffer.byteLength(value);
  return left < MOST_MARKS_BYTES ? { annotationRoom: left } : {};
}
