/**
 * `npm run bench:node-memory`: what the starter needs more for the plans of a cluster with so many nodes and pods: the objects that its
 * watches keep, and the thread that plans. Everything but the watches' connections.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ApiGet } from '../activities/kubernetes/api-get.ts';
import { listParts } from '../starter/node-group/caches.ts';
import { Planner } from '../starter/node-group/planner.ts';
import { groupOf, typeOf } from '../test/domain/node-group/builders.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '10000' }, nodes: { type: 'string', default: '1000' } },
});
const pods = wholeNumber('pods', values.pods, 1);
const nodes = wholeNumber('nodes', values.nodes, 1);

const MIB = 1024 ** 2;
/** Until the collector of garbage has had its turn, in milliseconds. */
const SETTLE_MS = 2_000;

function podJson(index: number): string {
  const labels = { app: `app-${index % 200}`, 'pod-template-hash': `7c9d8f6b5${index % 200}` };
  return JSON.stringify({
    metadata: {
      name: `app-${index % 200}-7c9d8f6b5-${index}`,
      namespace: `team-${index % 50}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(index),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels,
      annotations: { 'prometheus.io/scrape': 'true' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'app', uid: 'u', controller: true }],
      managedFields: Array.from({ length: 3 }, () => ({
        manager: 'kubelet',
        fieldsV1: { 'f:status': { 'f:phase': {} } },
      })),
    },
    spec: {
      nodeName: `node-${index % nodes}`,
      containers: [
        {
          name: 'main',
          image: 'app:1',
          resources: { requests: { cpu: '300m', memory: '512Mi' } },
          env: [{ name: 'A', value: 'b' }],
        },
      ],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: labels.app } },
        },
      ],
      volumes: [{ name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
    },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'PodScheduled', status: 'True' },
      ],
    },
  });
}

function nodeJson(index: number): string {
  const name = `node-${index}`;
  return JSON.stringify({
    metadata: {
      name,
      uid: `n-${index}`,
      resourceVersion: String(index),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 3}` },
    },
    spec: { providerID: `kwok://${name}` },
    status: {
      allocatable: { cpu: '4', memory: '16Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
      images: Array.from({ length: 20 }, (_, image) => ({ names: [`registry/app:${image}`], sizeBytes: image })),
    },
  });
}

/** Answers as the API server does, page by page. */
const get: ApiGet = async (path, { query = {} }) => {
  const [count, jsonOf] = path.endsWith('/pods')
    ? [pods, podJson]
    : path.endsWith('/nodes')
      ? [nodes, nodeJson]
      : [0, podJson];
  const from = Number(query['continue'] ?? 0);
  const to = Math.min(count, from + Number(query['limit']));
  const items = Array.from({ length: to - from }, (_, at) => JSON.parse(jsonOf(from + at)));
  return await Promise.resolve({
    kind: 'answer',
    body: { items, metadata: to < count ? { continue: String(to) } : {} },
    etag: undefined,
  });
};

async function resident(): Promise<number> {
  await sleep(SETTLE_MS);
  return process.memoryUsage().rss / MIB;
}

const before = await resident();
const parts = await listParts(get);
const cached = await resident();
const type = typeOf('small', 4, 16);
const group = { ...groupOf('pool', { maxNodes: nodes }), instanceTypes: [type] };
const planner = new Planner({
  context: async () => ({
    lease: '',
    claims: [],
    blocked: {},
    groups: [group],
    wishes: [],
  }),
  all: () => parts,
});
for (let times = 0; times < 3; times += 1) await planner.plan();
const planned = await resident();
console.log(`${pods} pods on ${nodes} nodes: ${(cached - before).toFixed(0)} MiB for what the watches keep,`);
console.log(
  `${(planned - cached).toFixed(0)} MiB for the thread that plans, ${(planned - before).toFixed(0)} MiB together`,
);
await planner.stop();
