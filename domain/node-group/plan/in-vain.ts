/**
 * The proof against runaway. A node that came for pods which do not get it is evidence: no second one of its type is asked for pods of
 * this kind until the cause is gone, whatever the model believes. What a machine came for is written on its VPSieNode, what was found in
 * the status of its group, so that neither a restart nor the end of the node makes it unknown.
 */
import { ownValue } from '../../kernel/record.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import { type InVain, inVainKey, isKindOfNode, kindOfNode, REMEMBERED_MS, stops } from '../model/in-vain.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Keep } from '../model/plan.ts';
import type { Packing } from '../scheduling/packing.ts';
import type { Against } from './evidence-against.ts';
import type { Daemon } from './daemons.ts';
import { KindsOnNodes } from './kinds-on-nodes.ts';
import { typeKey } from './type-key.ts';
import { byText, type Work } from './pending.ts';
import { type Asking, podKind, promiseOf } from './pod-kind.ts';
import { isStillInPlace, judgeSpares, type Spare, type Spares } from './spares.ts';
import { type Failed, judge, type Judged, type Trials } from './trials.ts';

const HOUR_MS = 3_600_000;
/** So many are kept of a group, as many of each namespace as there is room: no tenant takes the evidence of others away. */
const MOST = 100;
/** As much of kube-scheduler's message as a sentence takes. */
const QUOTED = 300;

export interface Proof {
  /** What the status of each group should say, by its name. */
  readonly records: Readonly<Record<string, readonly InVain[]>>;
  readonly trials: Trials;
  /** Why a machine is not given back yet, by its name: what came of it would be forgotten. */
  readonly kept: ReadonlyMap<string, Keep>;
  /** What has come in place of nodes, by their UIDs. */
  readonly inPlace: InPlace;
  /** Against nodes for pods like this one; null for nothing. */
  readonly against: (pod: Asking) => Against | null;
}

export interface InPlace {
  readonly there: ReadonlyMap<string, Spare>;
  /** What came in place of the node in vain; null for nothing. */
  readonly inVain: (node: Pick<Node, 'uid'>) => InVain | null;
}

const NOTHING: Proof = {
  records: {},
  trials: {},
  kept: new Map(),
  inPlace: { there: new Map(), inVain: () => null },
  against: () => null,
};

/** The sentence about pods that get no node of a type. */
export function inVainText(group: string, { instanceType, machine, at }: InVain, { first }: Work): string {
  const message = first.unscheduled?.message ?? '';
  const quote = message.length <= QUOTED ? message : `${message.slice(0, QUOTED - 1)}…`;
  return (
    `${machine} (${instanceType} of ${group}) came for it in vain at ${formatInstant(at)}, and no other one comes until that ` +
    `changes; kube-scheduler: ${quote === '' ? 'no word' : quote}`
  );
}

export interface Evidence {
  /** With pending pods nowhere; it is as it was afterwards. */
  readonly packing: Packing;
  readonly work: readonly Work[];
  /** The instance types as the provider promises them, by group. */
  readonly promised: ClusterState['instanceTypes'];
  readonly daemons: readonly Daemon[];
  /** What the plan before left. */
  readonly before: Trials;
}

export function prove(state: ClusterState, { packing, work, promised, daemons, before }: Evidence): Proof {
  const { machines, groups } = state;
  const isKnown =
    groups.some(({ inVain }) => inVain.length > 0) ||
    machines.some(({ cameFor, replaces }) => cameFor.length > 0 || replaces !== null);
  if (!isKnown) return NOTHING;
  const waiting = new Map<string, Work[]>();
  const kindOf = new Map<Asking, string>();
  // One refusal is enough, and the first one is named: whatever the order of the state.
  for (const each of work.toSorted((a, b) => byText(a.pods.key, b.pods.key))) {
    const kind = podKind(each.first);
    kindOf.set(each.first, kind);
    waiting.set(kind, [...(waiting.get(kind) ?? []), each]);
  }
  const kinds = new KindsOnNodes(state.pods, machines);
  const { trials, onTrial, failed: refused } = judge({ state, packing, promised, daemons, waiting, kinds }, before);
  const spares = judgeSpares(state);
  const failed = [...refused, ...spares.failed];
  const nodes = new Map(state.nodes.map((node) => [kindOfNode(node), node]));
  const records: Record<string, readonly InVain[]> = {};
  const types = new Map<string, Map<string, InVain>>();
  for (const group of groups) {
    const own = recordsOf(state, { group, promised, kinds, waiting, failed, nodes });
    records[group.name] = fairly(own);
    for (const record of own.filter(stops)) {
      const of = types.get(record.kind) ?? new Map<string, InVain>();
      types.set(record.kind, of.set(typeKey(group.name, record.instanceType), record));
    }
  }
  const isNothing = types.size === 0 && onTrial.length === 0;
  const trialOf = new Map(onTrial.toReversed().map((each) => [each.kind, each.machine]));
  return {
    records,
    trials,
    kept: keptMachines(groups, records, { onTrial, failed, spares: spares.onTrial }),
    inPlace: { there: spares.there, inVain: (node) => types.get(kindOfNode(node))?.values().next().value ?? null },
    against: (pod) => {
      if (isNothing) return null;
      const kind = kindOf.get(pod) ?? podKind(pod);
      const machine = trialOf.get(kind);
      const own = types.get(kind);
      if (machine === undefined && own === undefined) return null;
      const since = machine === undefined ? '' : formatInstant(machine.phaseSince);
      const trial = machine === undefined ? null : `${machine.name} came for it, ready since ${since}`;
      return { types: own ?? new Map<string, InVain>(), trial };
    },
  };
}

interface OfGroup {
  readonly group: NodeGroup;
  readonly promised: ClusterState['instanceTypes'];
  readonly kinds: KindsOnNodes;
  readonly waiting: ReadonlyMap<string, readonly Work[]>;
  readonly failed: readonly Failed[];
  /** By their kinds. */
  readonly nodes: ReadonlyMap<string, Node>;
}

/** Whether a pod of the kind waits, or the node waits to be replaced. */
function isWaiting({ waiting, nodes }: OfGroup, kind: string): boolean {
  const status = nodes.get(kind)?.ready.status ?? 'True';
  return waiting.has(kind) || status !== 'True';
}

function recordsOf(state: ClusterState, of: OfGroup): readonly InVain[] {
  const { group, failed, promised } = of;
  const at = state.at - (state.at % 1_000);
  const records = new Map(
    group.inVain.filter((each) => isStillSo(state, of, each)).map((each) => [inVainKey(each), each]),
  );
  for (const { machine, kind, pod, isFirm } of failed) {
    const { instanceType } = machine;
    const type = (ownValue(promised, group.name) ?? []).find(({ id }) => id === instanceType);
    if (machine.group !== group.name || type === undefined) continue;
    const before = records.get(inVainKey({ instanceType, kind }));
    if (before !== undefined && (stops(before) || (before.machine === machine.name && !isFirm))) continue;
    const tries = before === undefined || before.machine === machine.name ? 1 : before.tries + 1;
    const found = { instanceType, kind, pod, machine: machine.name, at, waited: at };
    records.set(inVainKey(found), { ...found, promise: promiseOf(group, type), tries, isFirm });
  }
  return [...records.values()]
    .map((record) => (at - record.waited >= HOUR_MS && isWaiting(of, record.kind) ? { ...record, waited: at } : record))
    .toSorted(
      (a, b) =>
        Number(isWaiting(of, b.kind)) - Number(isWaiting(of, a.kind)) ||
        b.waited - a.waited ||
        b.at - a.at ||
        byText(inVainKey(a), inVainKey(b)),
    );
}

/** The first of each namespace, then the second of each, and so on. */
function fairly(records: readonly InVain[]): readonly InVain[] {
  const counts = new Map<string, number>();
  return records
    .map((record) => {
      // Nodes are of no namespace, and share one part.
      const [namespace = ''] = isKindOfNode(record.kind) ? [] : record.pod.split('/');
      const turn = counts.get(namespace) ?? 0;
      counts.set(namespace, turn + 1);
      return { record, turn };
    })
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, MOST)
    .map(({ record }) => record);
}

/** Until a node of the type has such a pod, the type or the group promises something else, or no such pod has waited for long. */
function isStillSo(state: ClusterState, of: OfGroup, record: InVain): boolean {
  const { group, promised, kinds, nodes } = of;
  const { instanceType, kind, machine, promise, waited } = record;
  if (isKindOfNode(kind) && !isStillInPlace(nodes.get(kind), record)) return false;
  // The provider may tell no types for a moment.
  const type = (ownValue(promised, group.name) ?? []).find(({ id }) => id === instanceType);
  if (type !== undefined && promiseOf(group, type) !== promise) return false;
  if (!isWaiting(of, kind) && state.at - waited >= REMEMBERED_MS) return false;
  return !kinds
    .machinesWith(kind, { group: group.name, instanceType })
    .some(({ name, createdAt }) => name === machine || createdAt > record.at);
}

/** Machines of which it is not clear yet, or not written down, whether they came in vain. */
function keptMachines(
  groups: readonly NodeGroup[],
  records: Proof['records'],
  { onTrial, failed, spares }: Pick<Judged, 'onTrial' | 'failed'> & { readonly spares: Spares['onTrial'] },
): ReadonlyMap<string, Keep> {
  const written = new Map(groups.map(({ name, inVain }) => [name, inVain]));
  const isWritten = ({ machine, kind }: Failed): boolean => {
    const same = (record: InVain): boolean => record.kind === kind && record.instanceType === machine.instanceType;
    const wanted = (ownValue(records, machine.group) ?? []).find(same);
    const there = (written.get(machine.group) ?? []).find(same);
    return wanted === undefined || (there?.tries === wanted.tries && there.isFirm === wanted.isFirm);
  };
  const open = [
    ...onTrial.map(({ machine }) => machine),
    ...failed.filter((each) => !isWritten(each)).map(({ machine }) => machine),
  ];
  return new Map([
    ...open.map(({ name }) => [name, keep(name)] as const),
    ...spares.map(({ machine: { name }, node }) => [name, keepInPlace(name, node)] as const),
  ]);
}

function keep(machine: string): Keep {
  const detail = `pods that ${machine} came for still wait, and it stays until it is clear whether they get it`;
  return { reason: 'CameLately', detail, until: null };
}

function keepInPlace(machine: string, node: string): Keep {
  const detail = `${machine} came in place of ${node}, and stays until it is clear whether that one goes`;
  return { reason: 'CameLately', detail, until: null };
}
