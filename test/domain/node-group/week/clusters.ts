/** Which groups, instance types and DaemonSets a random cluster has. */
import type { DaemonSet } from '../../../../domain/node-group/model/cluster-state.ts';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { groupOf, podOf, typeOf } from '../builders.ts';
import type { WeekOptions } from './week-cluster.ts';

const ANY = [{ operator: 'Exists' }];
/** It says only limits, and is on each node. */
const AGENT = {
  hostNetwork: true,
  tolerations: ANY,
  containers: [{ name: 'main', resources: { limits: { cpu: '300m', memory: '256Mi' } }, ports: [{ hostPort: 9100 }] }],
};
/** Its namespace has a quota that lets none of its pods be made. */
const DENIED = {
  tolerations: ANY,
  containers: [{ name: 'main', resources: { requests: { cpu: '1', memory: '2Gi' } } }],
};

function daemonSet(name: string, template: DaemonSet['template'], hasNoPods: boolean): DaemonSet {
  const labels = { app: name };
  return { namespace: 'system', name, uid: `uid-${name}`, createdAt: 0, labels, template, generation: null, hasNoPods };
}

function daemonPod({ name, uid, template, hasNoPods }: DaemonSet, node: Node): Pod | null {
  if (hasNoPods) return null;
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid };
  const pod = podOf(`${name}-${node.name}`, {}, template, { namespace: 'system', labels: { app: name } });
  return { ...pod, owner };
}

/** Two groups for anybody, in two zones, and a tainted one whose name every object has. */
function groupsOf(seed: number): readonly NodeGroup[] {
  const scaleDown = { ...groupOf('').scaleDown, consolidation: seed % 2 === 0 };
  const over: Partial<NodeGroup> = {
    scaleDown,
    expander: seed % 3 === 0 ? 'least-waste' : 'price',
    offeringIds: ['small', 'large'],
  };
  const budgets = [{ nodes: seed % 2 === 0 ? '10%' : '2', reasons: [], window: null }];
  return [
    groupOf('web', { ...over, budgets, minNodes: 1, maxNodes: 20 }),
    groupOf('b', { ...over, maxNodes: 12, replaceBeforeDrain: true }),
    groupOf('constructor', {
      ...over,
      maxNodes: 6,
      offeringIds: ['small'],
      labels: { pool: 'batch' },
      taints: [{ key: 'dedicated', value: 'batch', effect: 'NoSchedule' }],
    }),
  ];
}

/** What is the same in all of its days. */
export function clusterOf(seed: number): Omit<WeekOptions, 'random'> {
  const typesIn = (zone: string) => {
    const labels = { 'topology.kubernetes.io/zone': zone };
    return [
      typeOf('small', 4, 16, { labels, pricePerHour: 0.1 }),
      typeOf('large', 8, 32, { labels, pricePerHour: 0.19 }),
    ];
  };
  return {
    groups: groupsOf(seed),
    instanceTypes: { web: typesIn('a'), b: typesIn('b'), constructor: typesIn('a').slice(0, 1) },
    daemonSets: [daemonSet('agent', AGENT, false), daemonSet('denied', DENIED, true)],
    daemonPod,
    use: seed % 3 === 0 ? 0.7 : 0.2,
    refuses: ({ labels }) => labels['refused'] === 'true',
  };
}
