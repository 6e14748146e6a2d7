/** What the overview shows of nodes: the groups, and what holds each node that could go. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { conditionIn } from '../../domain/kernel/condition.ts';
import { sentence } from '../../domain/kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import { type ReadNodeGroup, readNodeGroup } from '../../domain/node-group/api/read-node-group.ts';
import type { Mode } from '../../domain/node-group/model/node-group.ts';
import type { KeptNode, Removal } from '../../domain/node-group/model/plan.ts';
import { nodeDrainId, nodeGroupId } from '../../domain/node-group/target.ts';
import type { Overview, OverviewCell, OverviewRow, OverviewTable, Waiting } from '../overview/part.ts';
import type { MeasuredGroup } from './metrics.ts';
import type { MarkedNode, PlanResult } from './plan-messages.ts';

export interface NodeOverviewOptions {
  readonly cluster: string;
  /** What holds for groups that say nothing of their own. */
  readonly mode: Mode;
  readonly groups: () => readonly KubernetesObject[];
  readonly measured: () => readonly MeasuredGroup[];
  /** When the drain of a node began; null or 0 where that is not known. */
  readonly drainSince: (node: string) => EpochMs | null;
  /** The last plan that this process made; null before the first. */
  readonly plan: () => Pick<PlanResult, 'at' | 'kept' | 'removals' | 'marked' | 'unhelped'> | null;
}

/** Nodes are in no namespace: they are shown whatever namespace is asked for, and of pods those in it. */
export function nodeOverview(options: NodeOverviewOptions): Overview {
  const { cluster, mode } = options;
  return ({ namespace }) => {
    const groups = options.groups().map((object) => ({ object, read: readNodeGroup(object, { mode }) }));
    const plan = options.plan();
    const pods = (plan?.unhelped.first ?? []).filter((pod) => namespace === null || pod.namespace === namespace);
    return {
      waiting: [
        ...groups.flatMap(({ object, read }) => groupWaiting(object, read, cluster)),
        ...(plan?.marked ?? []).map((node) => drainWaiting(node, options.drainSince(node.node), cluster)),
        ...pods.map(
          ({ namespace, name, reason, detail }): Waiting => ({
            what: `pod ${namespace}/${name}`,
            whom: 'a node',
            isForPeople: false,
            since: null,
            why: `${reason}: ${sentence(detail)}`,
            links: [],
            workflow: null,
            command: `kubectl headroom node-groups explain ${namespace}/${name}`,
          }),
        ),
      ],
      tables: [groupTable(groups, options), nodeTable(plan, cluster)],
    };
  };
}

interface Group {
  readonly object: KubernetesObject;
  readonly read: ReadNodeGroup;
}

function groupTable(groups: readonly Group[], { cluster, measured }: NodeOverviewOptions): OverviewTable {
  const counts = new Map(measured().map((group) => [group.name, group]));
  const sorted = groups.toSorted((a, b) => (a.read.name < b.read.name ? -1 : 1));
  return {
    id: 'groups',
    title: 'Node groups',
    columns: ['Node group', 'Ready', 'Wanted', 'State'],
    empty: 'There is no NodeGroup.',
    total: sorted.length,
    rows: (from, to) =>
      sorted.slice(from, to).map(({ object, read: { name, group } }): OverviewRow => {
        const count = counts.get(name);
        return {
          cells: [
            { text: name, ...(group === null ? {} : { detail: `${group.provider}, ${group.mode}` }) },
            { text: count === undefined ? '' : `${count.ready} of ${count.current}` },
            count === undefined
              ? { text: '' }
              : { text: String(count.desired), detail: `from ${count.minNodes} to ${count.maxNodes}` },
            stateCell(object),
          ],
          links: [],
          workflow: nodeGroupId({ cluster, group: name }),
          command: `kubectl headroom node-groups status ${name}`,
        };
      }),
  };
}

function stateCell(object: KubernetesObject): OverviewCell {
  const status = statusOf(object);
  const error = conditionIn(status, 'Error');
  if (error?.status === 'True') return { text: error.reason, tone: 'bad', detail: error.message };
  const ready = conditionIn(status, 'Ready');
  if (ready?.status === 'False') return { text: ready.reason, tone: 'warn', detail: ready.message };
  const scaling = conditionIn(status, 'Scaling');
  if (scaling?.status === 'True') return { text: scaling.reason, detail: scaling.message };
  return { text: ready === null ? 'not observed yet' : 'steady' };
}

/** Nodes that go, those that are to go, and those that could go and are held. */
function nodeTable(plan: ReturnType<NodeOverviewOptions['plan']>, cluster: string): OverviewTable {
  const leaving = (plan?.marked ?? []).map((node) => () => leavingRow(node, cluster));
  const marked = new Set(plan?.marked.map(({ node }) => node));
  const going = (plan?.removals ?? [])
    .filter(({ node }) => !marked.has(node))
    .map((node) => () => removalRow(node, cluster));
  const held = (plan?.kept ?? []).filter(({ node }) => !marked.has(node)).map((node) => () => heldRow(node, cluster));
  const all = [...leaving, ...going, ...held];
  const by = plan === null ? '' : `By the plan of ${formatInstant(plan.at)}, `;
  return {
    id: 'nodes',
    title: 'Nodes and what holds them',
    columns: ['Node', 'Node group', 'State', 'Until'],
    empty: plan === null ? 'There is no plan yet.' : `${by}no node could go.`,
    summary: `${by}${leaving.length} go, ${going.length} are to go, and ${held.length} are held.`,
    total: all.length,
    rows: (from, to) => all.slice(from, to).map((row) => row()),
  };
}

function heldRow({ node, group, reason, detail, until }: KeptNode, cluster: string): OverviewRow {
  return {
    cells: [
      { text: node },
      { text: group },
      { text: reason, detail: sentence(detail) },
      until === null ? { text: '' } : { text: '', at: until },
    ],
    links: [],
    workflow: nodeGroupId({ cluster, group }),
    command: `kubectl headroom node-groups explain ${node}`,
  };
}

function removalRow({ node, group, reason, detail }: Removal, cluster: string): OverviewRow {
  return {
    cells: [
      { text: node },
      { text: group },
      { text: `to go: ${reason}`, tone: 'warn', detail: sentence(detail) },
      { text: '' },
    ],
    links: [],
    workflow: nodeGroupId({ cluster, group }),
    command: `kubectl headroom node-groups status ${group}`,
  };
}

function leavingRow({ node, group, uid }: MarkedNode, cluster: string): OverviewRow {
  return {
    cells: [{ text: node }, { text: group }, { text: 'is being drained', tone: 'warn' }, { text: '' }],
    links: [],
    workflow: nodeDrainId({ cluster, uid }),
    command: `kubectl headroom node-groups stop-drain ${node}`,
  };
}

function groupWaiting(
  object: KubernetesObject,
  { name, problems }: ReadNodeGroup,
  cluster: string,
): readonly Waiting[] {
  const common = {
    what: `node group ${name}`,
    links: [],
    workflow: nodeGroupId({ cluster, group: name }),
    command: `kubectl headroom node-groups status ${name}`,
  };
  if (problems.length > 0) {
    return [
      {
        ...common,
        whom: 'a person',
        isForPeople: true,
        since: null,
        why: `Its spec is invalid: ${problems.join('; ')}`,
      },
    ];
  }
  const error = conditionIn(statusOf(object), 'Error');
  if (error?.status === 'True') {
    return [{ ...common, whom: 'the provider', isForPeople: false, since: error.since, why: sentence(error.message) }];
  }
  return [];
}

function drainWaiting({ node, uid }: MarkedNode, since: EpochMs | null, cluster: string): Waiting {
  return {
    what: `node ${node}`,
    whom: 'its pods',
    isForPeople: false,
    since: since === 0 ? null : since,
    why: 'They are evicted, as far as their budgets allow it.',
    links: [],
    workflow: nodeDrainId({ cluster, uid }),
    command: `kubectl headroom node-groups stop-drain ${node}`,
  };
}

function statusOf(object: KubernetesObject): unknown {
  return (object as KubernetesObject & { readonly status?: unknown }).status;
}
