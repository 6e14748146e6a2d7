/**
 * A plan does not depend on how things are called: the same cluster, once with plain names and once with names that every object of
 * JavaScript has, as label keys, topology keys, resources, namespaces, nodes, groups, instance types and drivers.
 */
import { expect, it } from 'vitest';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import {
  readAttachLimits,
  readClaim,
  readDaemonSet,
  readNode,
  readVolume,
} from '../../../../domain/node-group/scheduling/read-objects.ts';
import { readPod } from '../../../../domain/node-group/scheduling/read-pod.ts';
import { readNodeGroup } from '../../../../domain/node-group/api/read-node-group.ts';
import * as fc from '../../../kernel/fast-check.ts';
import { machineOf, NOW, stateOf } from '../builders.ts';

/** In one order with the plain ones. */
const INHERITED = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'] as const;
const PLAIN = INHERITED.map((_, index) => `name-${index}`);

const name = fc.constantFrom(...PLAIN);
const amount = fc.constantFrom('1', '2', '3');
const labels = fc.dictionary(name, fc.constantFrom('a', 'b'), { maxKeys: 3 });
const term = fc.record({
  topologyKey: name,
  labelSelector: fc.record({ matchLabels: fc.dictionary(name, fc.constant('a'), { minKeys: 1, maxKeys: 1 }) }),
  namespaceSelector: fc.oneof(fc.constant({}), fc.record({ matchLabels: labels })),
});
const terms = fc.array(term, { maxLength: 1 }).map((required) => ({
  requiredDuringSchedulingIgnoredDuringExecution: required,
}));
const podSpec = fc.record({
  containers: fc.array(fc.record({ resources: fc.record({ requests: fc.dictionary(name, amount, { maxKeys: 2 }) }) }), {
    minLength: 1,
    maxLength: 2,
  }),
  nodeSelector: fc.dictionary(name, fc.constantFrom('a', 'b'), { maxKeys: 1 }),
  affinity: fc.record({ podAffinity: terms, podAntiAffinity: terms }),
  topologySpreadConstraints: fc.array(
    fc.record({
      topologyKey: name,
      maxSkew: fc.constant(1),
      labelSelector: fc.constant({ matchLabels: { 'name-1': 'a' } }),
    }),
    { maxLength: 1 },
  ),
});
const pod = fc.record({ namespace: name, labels, spec: podSpec, node: fc.option(name), claims: fc.boolean() });

/** Everything as Kubernetes has it, so that it can be written as text, renamed, and read again. */
const cluster = fc.record({
  nodes: fc.uniqueArray(fc.record({ name, labels, allocatable: fc.dictionary(name, amount) }), {
    selector: (node) => node.name,
  }),
  pods: fc.array(pod, { maxLength: 8 }),
  daemonSets: fc.array(podSpec, { maxLength: 1 }),
  namespaces: fc.dictionary(name, labels),
  limits: fc.dictionary(name, fc.constantFrom(0, 1)),
  driver: name,
  groups: fc.uniqueArray(fc.record({ name, labels, type: name, allocatable: fc.dictionary(name, fc.constant(3)) }), {
    selector: (group) => group.name,
  }),
  /** Of a group that there is, or that has gone. */
  machines: fc.array(fc.record({ group: name, type: name, node: fc.option(name) }), { maxLength: 4 }),
  blocked: fc.dictionary(name, fc.constant({ reason: 'Paused', detail: 'it is paused', until: null }), { maxKeys: 1 }),
});
type Cluster = typeof cluster extends fc.Arbitrary<infer T> ? T : never;

function stateIn(of: Cluster) {
  const basic = { cpu: '4', memory: '16Gi', pods: '110' };
  const groups = of.groups.flatMap((group) => {
    const { group: read } = readNodeGroup(
      {
        metadata: { name: group.name, namespace: 'kube-system', uid: `uid-${group.name}` },
        spec: { provider: 'kwok', mode: 'act', minNodes: 0, maxNodes: 3, offeringIDs: ['any'] },
      },
      { mode: 'act' },
    );
    return read === null ? [] : [{ ...read, labels: group.labels }];
  });
  const types = of.groups.map((group) => {
    const allocatable = { cpu: 4000, memory: 16 * 1024 ** 3, pods: 110, ...group.allocatable };
    const type = { id: group.type, capacity: allocatable, allocatable, labels: {}, pricePerHour: 1, isAvailable: true };
    return [group.name, [type]] as const;
  });
  return stateOf({
    groups,
    instanceTypes: Object.fromEntries(types),
    namespaces: of.namespaces,
    nodes: of.nodes.map((node) =>
      readNode({
        metadata: { name: node.name, uid: `uid-${node.name}`, labels: node.labels },
        status: { allocatable: { ...basic, ...node.allocatable }, conditions: [{ type: 'Ready', status: 'True' }] },
      }),
    ),
    machines: of.machines.map(({ group, type, node }, index) =>
      machineOf(`machine-${index}`, group, { instanceType: type, node, phase: 'Ready' }),
    ),
    attachLimits: of.nodes.map((node) =>
      readAttachLimits({
        metadata: { name: node.name },
        spec: {
          drivers: Object.entries(of.limits).map(([driver, count]) => ({ name: driver, allocatable: { count } })),
        },
      }),
    ),
    volumes: [readVolume({ metadata: { name: 'volume' }, spec: { csi: { driver: of.driver, volumeHandle: 'h' } } })],
    claims: of.pods.map(({ namespace }) =>
      readClaim({
        metadata: { name: 'claim', namespace, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
        spec: { volumeName: 'volume' },
      }),
    ),
    daemonSets: of.daemonSets.map((spec, index) =>
      readDaemonSet({
        metadata: { name: `ds-${index}`, uid: `ds-${index}`, namespace: 'default' },
        spec: { template: { spec } },
      }),
    ),
    pods: of.pods.map(({ namespace, labels: own, spec, node, claims }, index) =>
      readPod({
        metadata: { name: `pod-${index}`, namespace, uid: `pod-${index}`, labels: own },
        spec: {
          ...spec,
          ...(node === null ? {} : { nodeName: node }),
          ...(claims ? { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }] } : {}),
        },
        status: {
          phase: node === null ? 'Pending' : 'Running',
          conditions: node === null ? [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] : [],
        },
      }),
    ),
    utilization: Object.fromEntries(of.nodes.map((node) => [node.name, [{ at: NOW, cpu: 1, memory: 1 }]])),
  });
}

function planned(text: string): string {
  const of = JSON.parse(text) as Cluster;
  const state = stateIn(of);
  const { plan } = planCluster(state, { blocked: of.blocked, memory: freshPlanMemory, requested: [] });
  return JSON.stringify(plan);
}

function renamed(text: string): string {
  return text.replaceAll(/name-(\d)/g, (_, index: string) => INHERITED[Number(index)] ?? '');
}

it('a plan is the same whatever things are called', () => {
  fc.assert(
    fc.property(cluster, (of) => {
      const text = JSON.stringify(of);
      expect(planned(renamed(text))).toBe(renamed(planned(text)));
    }),
    { numRuns: 500 },
  );
});
