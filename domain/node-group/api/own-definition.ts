import { listOf } from '../../kernel/pod-requests.ts';
import { fieldsOf } from '../scheduling/read-pod.ts';
import { GROUP, MACHINE_PLURAL, PLURAL, VERSION } from './names.ts';

/** The newest field of each kind: a definition without it, of the VPSie autoscaler or an earlier version, loses what is written. */
const OWN_FIELDS = {
  [`${PLURAL}.${GROUP}`]: { part: 'status', field: 'inVain' },
  [`${MACHINE_PLURAL}.${GROUP}`]: { part: 'status', field: 'phaseSince' },
} as const;

/** The names of the CustomResourceDefinitions. */
export const definitionNames = Object.keys(OWN_FIELDS) as readonly (keyof typeof OWN_FIELDS)[];

/** Whether a CustomResourceDefinition is ours, by the fields that it keeps. */
export function isOwnDefinition(name: keyof typeof OWN_FIELDS, definition: unknown): boolean {
  const { part, field } = OWN_FIELDS[name];
  const versions = listOf(fieldsOf(fieldsOf(definition)['spec'])['versions']);
  const schema = fieldsOf(versions.find((version) => version['name'] === VERSION)?.['schema']);
  const properties = fieldsOf(fieldsOf(schema['openAPIV3Schema'])['properties']);
  return field in fieldsOf(fieldsOf(properties[part])['properties']);
}
