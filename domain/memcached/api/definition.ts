/**
 * The CustomResourceDefinition of Memcacheds, generated from the type in memcached.ts, with the rule that the first
 * implementation leaves out.
 */
import { structuralSchemas, type Schema } from '../../kernel/structural-schema.ts';
import { LONGEST_SECRET_NAME, SECRET_NAME_OR_NOTHING } from '../children/secrets.ts';
import { memcachedSpec, memcachedStatus } from './memcached.ts';
import { FIRST_LETTER_MESSAGE, LONGEST_NAME, NAME_MESSAGE } from './name-problems.ts';
import { GROUP, KIND, OLDER_VERSION, PLURAL, VERSION } from './names.ts';

const NAME_RULES = [
  {
    // One that is stored already can still be changed and deleted, and the worker can write its status.
    rule: `oldSelf.hasValue() || size(self.metadata.name) <= ${LONGEST_NAME} && !self.metadata.name.contains('.')`,
    optionalOldSelf: true,
    message: `metadata.name: ${NAME_MESSAGE}`,
  },
  {
    rule: "oldSelf.hasValue() || !self.metadata.name.matches('^[0-9]')",
    optionalOldSelf: true,
    message: `metadata.name: ${FIRST_LETTER_MESSAGE}`,
  },
];

const SCALE_DOWN = 'duration(self.scaleDownOnePodEvery)';

const AUTOSCALING_RULES = [
  {
    rule: '!has(self.enabled) || !self.enabled || has(self.maxReplicas)',
    message: 'maxReplicas is required when autoscaling is enabled',
    reason: 'FieldValueRequired',
    fieldPath: '.maxReplicas',
  },
  {
    rule: `!has(self.scaleDownOnePodEvery) || ${SCALE_DOWN} >= duration('1s') && ${SCALE_DOWN} <= duration('30m')`,
    message: 'an autoscaler takes whole seconds, from 1s to 30m',
    fieldPath: '.scaleDownOnePodEvery',
  },
  {
    rule: '!has(self.scaleDownOnePodEvery) || !has(self.behavior) || !has(self.behavior.scaleDown) || !has(self.behavior.scaleDown.policies)',
    message: 'behavior.scaleDown.policies say already how fast: leave one of them out',
    fieldPath: '.scaleDownOnePodEvery',
  },
];

/** A stored one that is wrong already may stay as it is. */
const SECRET_NAME = { pattern: SECRET_NAME_OR_NOTHING, maxLength: LONGEST_SECRET_NAME };

/** Additions for Kubernetes, by path. */
const ADDITIONS: Readonly<Record<string, Schema>> = {
  spec: { description: 'What the cache is to be.' },
  'spec.autoscaling': { 'x-kubernetes-validations': AUTOSCALING_RULES },
  // More digits would exceed CEL's durations, and CEL estimates costs by it.
  'spec.autoscaling.scaleDownOnePodEvery': { maxLength: 16 },
  'spec.security.sasl.credentialsSecretRef.name': SECRET_NAME,
  'spec.security.tls.certificateSecretRef.name': SECRET_NAME,
  status: { description: 'What was last seen.' },
  'status.conditions': { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
  'status.conditions[].lastTransitionTime': { format: 'date-time' },
};

const COLUMNS = [
  {
    name: 'Replicas',
    type: 'integer',
    jsonPath: '.spec.replicas',
    description: 'How many pods are wanted; empty with autoscaling.',
  },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'How many pods are ready.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** The object in `deploy/chart-crds/definitions/memcached.yaml`: apiextensions.k8s.io/v1. */
export function memcachedDefinition() {
  const { spec, status } = structuralSchemas(
    'a Memcached',
    { spec: memcachedSpec, status: memcachedStatus },
    ADDITIONS,
  );
  const version = (name: string) => ({
    name,
    served: true,
    storage: name === VERSION,
    subresources: { status: {} },
    additionalPrinterColumns: COLUMNS,
    schema: {
      openAPIV3Schema: {
        description: 'A cache of memcached servers, and how many of them there are.',
        type: 'object',
        'x-kubernetes-validations': NAME_RULES,
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { type: 'object' },
          spec,
          status,
        },
      },
    },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${PLURAL}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'headroom' } },
    spec: {
      group: GROUP,
      names: { kind: KIND, listKind: `${KIND}List`, plural: PLURAL, singular: KIND.toLowerCase() },
      scope: 'Namespaced',
      conversion: { strategy: 'None' },
      versions: [version(OLDER_VERSION), version(VERSION)],
    },
  };
}
