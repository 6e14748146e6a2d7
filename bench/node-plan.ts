/**
 * `npm run bench:node-plan`: how much processor time of its thread one plan for a whole cluster takes, by the domain alone, so that
 * other work of the machine does not count. It ends with 1 where the fastest run of a case takes longer than docs/testing.md says.
 * `--runs 9` makes more of them, `--pods 1000 --nodes 100` a smaller cluster, `--only term` those with a word in their names.
 */
import { parseArgs } from 'node:util';
import type { ClusterState } from '../domain/node-group/model/cluster-state.ts';
import type { ClusterPlan } from '../domain/node-group/model/plan.ts';
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from '../domain/node-group/model/pod.ts';
import { planCluster } from '../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../domain/node-group/scale-down/memory.ts';
import {
  boundTo,
  groupOf,
  machineOf,
  nodeOf,
  NOW,
  podOf,
  stateOf,
  typeOf,
} from '../test/domain/node-group/builders.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
});
const podCount = wholeNumber('pods', values.pods, 1);
const nodeCount = wholeNumber('nodes', values.nodes, 1);
const runs = wholeNumber('runs', values.runs, 1);

/** Milliseconds. */
const UNIFORM_AIM = 500;
const MIX_AIM = 3_000;
/** A namespace with as many terms as it may have, far from the two minutes after which a plan is given up. */
const LIMIT_AIM = 5_000;

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const ZONES = ['a', 'b', 'c'];
const MINUTE = 60_000;
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'app', uid: 'u' };

const groups = ZONES.map((zone) => groupOf(`pool-${zone}`, { maxNodes: nodeCount, labels: { pool: zone } }));
const instanceTypes = Object.fromEntries(
  ZONES.map((zone) => [`pool-${zone}`, [typeOf('small', 4, 16, { labels: { [ZONE]: zone }, pricePerHour: 0.1 })]]),
);
const bare = stateOf({ groups, instanceTypes });

/** Ten of them fill a node. */
function uniform(index: number): Pod {
  return { ...podOf(`p-${index}`, { cpu: '400m', memory: '1Gi' }), owner: OWNER };
}

const selecting = (app: string): Pick<PodAffinityTerm, 'labelSelector'> => ({
  labelSelector: { matchLabels: { app } },
});

function spread(app: string, topologyKey: string): TopologySpreadConstraint {
  return { maxSkew: 1, topologyKey, ...selecting(app) };
}

/**
 * A fifth each: plain ones, by selector, spread over zones, apart from each other, together with others. Twenty pods an app, which are
 * of one size; four sizes.
 */
function mixed(index: number): Pod {
  const kind = index % 5;
  const app = `app-${kind}-${Math.floor(index / 100)}`;
  const quarters = [1, 3, 4, 8][Math.floor(index / 100) % 4] ?? 1;
  const requests = { cpu: quarters * 100, memory: quarters * 256 * 1024 ** 2 };
  const pod: Pod = { ...uniform(index), requests, labels: { app } };
  switch (kind) {
    case 1:
      return { ...pod, nodeSelector: { pool: ZONES[Math.floor(index / 500) % ZONES.length] ?? 'a' } };
    case 2:
      return { ...pod, spread: [spread(app, ZONE)] };
    case 3:
      return { ...pod, podAntiAffinity: [{ topologyKey: HOST, ...selecting(app) }] };
    case 4:
      return { ...pod, podAffinity: [{ topologyKey: ZONE, ...selecting(app) }] };
    default:
      return pod;
  }
}

/** Five pods a Deployment, which want to be apart from each other: as a chart has it that asks for nothing else. */
function apart(index: number): Pod {
  const app = `app-${Math.floor(index / 5)}`;
  return { ...uniform(index), labels: { app }, podAntiAffinity: [{ topologyKey: HOST, ...selecting(app) }] };
}

/** Each with a term of its own. */
function ownTerm(index: number): Pod {
  const app = `app-${index}`;
  return { ...uniform(index), labels: { app }, podAntiAffinity: [{ topologyKey: HOST, ...selecting(app) }] };
}

/** Five pods a Deployment, each spread over zones and nodes, and with the one before it in a zone. */
function tied(index: number): Pod {
  const number = Math.floor(index / 5);
  const app = `app-${number}`;
  const pod = { ...uniform(index), labels: { app }, spread: [spread(app, ZONE), spread(app, HOST)] };
  if (number % 2 === 0) return pod;
  return { ...pod, podAffinity: [{ topologyKey: ZONE, ...selecting(`app-${number - 1}`) }] };
}

/** So many terms, none of which any other pod has. */
function manyTerms(terms: number): (index: number) => Pod {
  return (index) => ({
    ...uniform(index),
    labels: { app: `app-${index}` },
    podAntiAffinity: Array.from({ length: terms }, (_, n) => ({
      topologyKey: HOST,
      ...selecting(`app-${index}-${n}`),
    })),
  });
}

/** Every tenth pod is of a tenant with 200 terms each, which is more than a namespace may have. */
function besideMany(index: number): Pod {
  return index % 10 === 0 ? { ...manyTerms(200)(index), namespace: 'many' } : apart(index);
}

/** The cluster with its nodes, which nothing is on. */
function withNodes(state: ClusterState): ClusterState {
  const names = Array.from({ length: nodeCount }, (_, index) => `node-${String(index).padStart(4, '0')}`);
  const zoneOf = (index: number): string => ZONES[index % ZONES.length] ?? 'a';
  return {
    ...state,
    nodes: names.map((name, index) =>
      nodeOf(name, { cpu: '4', memory: '16Gi', pods: '110' }, { [ZONE]: zoneOf(index), pool: zoneOf(index) }),
    ),
    machines: names.map((name, index) =>
      machineOf(`m-${name}`, `pool-${zoneOf(index)}`, { node: name, phase: 'Ready', createdAt: NOW - index * MINUTE }),
    ),
  };
}

/** Every pod bound, so many a node, and every node low or not by its samples of the last ten minutes. */
function bound(state: ClusterState, kind: (index: number) => Pod, percent: number): ClusterState {
  const samples = Array.from({ length: 10 }, (_, age) => ({ at: NOW - age * MINUTE, cpu: percent, memory: percent }));
  const pods = Array.from({ length: podCount }, (_, index) => {
    const node = state.nodes[index % state.nodes.length]?.name ?? '';
    return { ...boundTo(node, kind(index)), isReady: true };
  });
  return { ...state, pods, utilization: Object.fromEntries(state.nodes.map(({ name }) => [name, samples])) };
}

const pending = (kind: (index: number) => Pod, count = podCount): readonly Pod[] =>
  Array.from({ length: count }, (_, index) => kind(index));

function outcome({ newNodes, unhelped, removals, kept }: ClusterPlan): string {
  const added = newNodes.reduce((sum, { count }) => sum + count, 0);
  return `${added} to come, ${unhelped.length} unhelped, ${removals.length} to go, ${kept.length} kept`;
}

function measure(name: string, state: ClusterState, aim: number): void {
  if (!name.includes(values.only)) return;
  const took: number[] = [];
  let shown = '';
  for (let run = 0; run < runs; run += 1) {
    const begin = process.threadCpuUsage();
    const { plan } = planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] });
    const { user, system } = process.threadCpuUsage(begin);
    took.push((user + system) / 1_000);
    shown = outcome(plan);
  }
  const sorted = took.toSorted((a, b) => a - b);
  const [least = 0] = sorted;
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const figures = `${least.toFixed(0).padStart(6)} ms  ${median.toFixed(0).padStart(6)} ms`;
  console.log(`  ${name.padEnd(44)}${figures}  ${least <= aim ? ' ' : '!'} ≤ ${aim} ms  ${shown}`);
  if (least > aim) process.exitCode = 1;
}

const half = (index: number): Pod => ({ ...uniform(index), requests: { cpu: 200, memory: 512 * 1024 ** 2 } });

console.log(
  `a plan for ${podCount} pods and ${nodeCount} nodes: processor time, the fastest and the median of ${runs} runs`,
);
measure('uniform pods pending, no node', { ...bare, pods: pending(uniform) }, UNIFORM_AIM);
measure('uniform pods pending, empty nodes', { ...withNodes(bare), pods: pending(uniform) }, UNIFORM_AIM);
measure('a mix of five pending, no node', { ...bare, pods: pending(mixed) }, MIX_AIM);
measure('a mix of five pending, empty nodes', { ...withNodes(bare), pods: pending(mixed) }, MIX_AIM);
measure('quiet: nodes well used', bound(withNodes(bare), uniform, 80), UNIFORM_AIM);
measure('quiet: nodes full by requests, used little', bound(withNodes(bare), uniform, 20), UNIFORM_AIM);
measure('quiet: nodes half full, used little', bound(withNodes(bare), half, 20), UNIFORM_AIM);
measure('quiet: a mix of five, used little', bound(withNodes(bare), mixed, 20), MIX_AIM);
measure('own-label anti-affinity pending, no node', { ...bare, pods: pending(apart) }, MIX_AIM);
measure('own-label anti-affinity pending, empty nodes', { ...withNodes(bare), pods: pending(apart) }, MIX_AIM);
measure('a term each pending, no node', { ...bare, pods: pending(ownTerm) }, MIX_AIM);
measure('a term each pending, empty nodes', { ...withNodes(bare), pods: pending(ownTerm) }, MIX_AIM);
measure(
  '40 pods of 200 terms pending, empty nodes',
  { ...withNodes(bare), pods: pending(manyTerms(200), 40) },
  MIX_AIM,
);
measure('5 terms each pending, empty nodes', { ...withNodes(bare), pods: pending(manyTerms(5)) }, LIMIT_AIM);
measure('beside 200 terms each pending, no node', { ...bare, pods: pending(besideMany) }, MIX_AIM);
measure('affinity and spread pending, no node', { ...bare, pods: pending(tied) }, MIX_AIM);
measure('affinity and spread pending, empty nodes', { ...withNodes(bare), pods: pending(tied) }, MIX_AIM);
measure('quiet: a term each, used little', bound(withNodes(bare), ownTerm, 20), MIX_AIM);
measure('quiet: affinity and spread, used little', bound(withNodes(bare), tied, 20), MIX_AIM);
measure('quiet: beside 200 terms each, used little', bound(withNodes(bare), besideMany, 20), MIX_AIM);
