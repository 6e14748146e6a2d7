/** The CustomResourceDefinitions of NodeGroups and VPSieNodes, generated from their types. */
import { type Rule, type Schema, structuralSchemas } from '../../kernel/structural-schema.ts';
import { GROUP, KIND, MACHINE_KIND, MACHINE_PLURAL, PLURAL, VERSION } from './names.ts';
import { LONGEST_VALUE } from './label-rules.ts';
import { machineSpec, machineStatus } from './machine.ts';
import { nodeGroupSpec, nodeGroupStatus, VPSIE_FIELDS } from './node-group-spec.ts';

const KEPT = { 'x-kubernetes-preserve-unknown-fields': true };
const NO_RESERVED_KEYS = { message: 'keys below kubernetes.io/ and k8s.io/ are reserved' };

/** Machines that exist would be asked for, and deleted, where they never were. */
const UNCHANGED: readonly Rule[] = [
  { rule: 'self.provider == oldSelf.provider', message: 'the provider of a group does not change' },
  {
    rule: '!has(oldSelf.resourceIdentifier) || (has(self.resourceIdentifier) && self.resourceIdentifier == oldSelf.resourceIdentifier)',
    message: 'the cluster at VPSie of a group does not change',
  },
];

const SPEC_RULES: readonly Rule[] = [
  ...UNCHANGED,
  { rule: 'self.minNodes <= self.maxNodes', message: 'minNodes must not exceed maxNodes' },
  ...VPSIE_FIELDS.map((field) => ({
    rule: `(has(self.provider) && self.provider != 'vpsie') || has(self.${field})`,
    message: `VPSie makes no machine without ${field}`,
  })),
];

const TAINT_RULES: readonly Rule[] = [
  {
    rule: "self.all(taint, !taint.key.startsWith('kubernetes.io/') && !taint.key.startsWith('k8s.io/'))",
    ...NO_RESERVED_KEYS,
  },
];
/** A node takes them only so. */
const ONCE: Rule = {
  rule: 'self.all(taint, self.exists_one(other, other.key == taint.key && other.effect == taint.effect))',
  message: 'each key once with each effect',
};

/** One that is stored already can still be changed, and let go of. */
const NAME_RULE = {
  rule: `oldSelf.hasValue() || size(self.metadata.name) <= ${LONGEST_VALUE}`,
  optionalOldSelf: true,
  message: `a name has at most ${LONGEST_VALUE} characters, as it is a label of the nodes`,
};

/** Additions for Kubernetes, by path. */
const GROUP_ADDITIONS: Readonly<Record<string, Schema>> = {
  spec: { description: 'What the group is to be.', 'x-kubernetes-validations': SPEC_RULES },
  'spec.labels': {
    maxProperties: 100,
    'x-kubernetes-validations': [
      {
        rule: "self.all(key, !key.startsWith('kubernetes.io/') && !key.startsWith('k8s.io/'))",
        ...NO_RESERVED_KEYS,
      },
    ],
  },
  'spec.taints': { 'x-kubernetes-validations': [...TAINT_RULES, ONCE] },
  'spec.startupTaints': { 'x-kubernetes-validations': TAINT_RULES },
  'spec.maxNodeProvisionTime': {
    'x-kubernetes-validations': [
      { rule: "duration(self) >= duration('1m')", message: 'a machine has 1m at least until its node is ready' },
    ],
  },
  'spec.budgets[]': {
    'x-kubernetes-validations': [
      { rule: 'has(self.schedule) == has(self.duration)', message: 'schedule and duration, or neither of them' },
    ],
  },
  'spec.spotConfig': KEPT,
  'spec.multiRegion': KEPT,
  'spec.costOptimization': KEPT,
  'status.nodes[]': KEPT,
  status: { description: 'What was last seen.' },
};

const MACHINE_ADDITIONS: Readonly<Record<string, Schema>> = {
  spec: { description: 'What the machine is.' },
  status: { description: 'What was last seen.' },
  'status.resources': KEPT,
};

function column(name: string, type: string, jsonPath: string, description: string) {
  return { name, type, jsonPath, description };
}

const AGE = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** apiextensions.k8s.io/v1. */
export function nodeGroupDefinition() {
  return definitionOf(
    { kind: KIND, plural: PLURAL, shortNames: ['ng', 'ngs'] },
    'Nodes of one kind, and how many of them there are.',
    structuralSchemas('a NodeGroup', { spec: nodeGroupSpec, status: nodeGroupStatus }, GROUP_ADDITIONS),
    [
      column('Min', 'integer', '.spec.minNodes', 'The fewest nodes.'),
      column('Max', 'integer', '.spec.maxNodes', 'The most nodes.'),
      column('Desired', 'integer', '.status.desiredNodes', 'How many nodes there should be.'),
      column('Current', 'integer', '.status.currentNodes', 'How many nodes there are, or are on their way.'),
      column('Ready', 'integer', '.status.readyNodes', 'How many are ready.'),
      AGE,
    ],
    { 'x-kubernetes-validations': [NAME_RULE] },
  );
}

/** apiextensions.k8s.io/v1. */
export function vpsieNodeDefinition() {
  return definitionOf(
    { kind: MACHINE_KIND, plural: MACHINE_PLURAL, shortNames: ['vn', 'vns'] },
    'A machine of a NodeGroup, from before the provider is asked for it until it is gone there.',
    structuralSchemas('a VPSieNode', { spec: machineSpec, status: machineStatus }, MACHINE_ADDITIONS),
    [
      column('Node', 'string', '.status.nodeName', 'The Node that it became.'),
      column('Phase', 'string', '.status.phase', 'Where it is in its life.'),
      column('Instance Type', 'string', '.spec.instanceType', 'Its instance type.'),
      column('NodeGroup', 'string', '.spec.nodeGroupName', 'The NodeGroup that it belongs to.'),
      AGE,
    ],
  );
}

function definitionOf(
  { kind, plural, shortNames }: { readonly kind: string; readonly plural: string; readonly shortNames: string[] },
  description: string,
  schemas: Readonly<Record<'spec' | 'status', Schema>>,
  additionalPrinterColumns: readonly object[],
  ofWhole: Schema = {},
) {
  const properties = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    ...schemas,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'headroom' } },
    spec: {
      group: GROUP,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames },
      scope: 'Namespaced',
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns,
          schema: { openAPIV3Schema: { description, type: 'object', required: ['spec'], ...ofWhole, properties } },
        },
      ],
    },
  };
}
