import { isAutoscaled, type WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { specWarnings } from '../../domain/memcached/api/warnings.ts';

/** What people are warned of when they write a Memcached, whether it is stored or not. */
export function admissionWarnings(spec: WrittenSpec): readonly string[] {
  return [...storedReplicas(spec), ...specWarnings(spec)];
}

/** A default of 1 is stored with every Memcached that has no autoscaler, so an update that switches one on has to take it out. */
function storedReplicas(spec: WrittenSpec): readonly string[] {
  if (!isAutoscaled(spec) || spec.replicas === undefined) return [];
  return [
    'with autoscaling, set spec.replicas to null: a Memcached without an autoscaler has it stored, 1 where nobody wrote it',
  ];
}
