/**
 * Whether a node that came for pods is given them. It is on trial from when it is ready until one of the pods is on it, or it is clear
 * that kube-scheduler places none there although nobody else took the place.
 */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { Machine, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { podName } from '../drain/pods-to-evict.ts';
import type { Pod } from '../model/pod.ts';
import { isOfNode } from '../model/pod-owner.ts';
import type { Slot } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import { FRESH_TAINT, openComing, templateSlot, withoutStartup } from './cluster-packing.ts';
import type { Daemon } from './daemons.ts';
import type { KindsOnNodes } from './kinds-on-nodes.ts';
import { PASSING_TAINT } from './learned-types.ts';
import { isComing } from './live-nodes.ts';
import { typeKey } from './type-key.ts';
import { estimated } from './offers.ts';
import { byText, type Work } from './pending.ts';

/**
 * By `<UID of the VPSieNode> <kind of pods>`: since when the node is on trial; null where one of the pods was on it. With `TAKEN` after it:
 * when something else kept the pods away last, such as others in their place.
 */
export type Trials = Readonly<Record<string, EpochMs | null>>;

const TAKEN = ' taken';

/** So many kinds of pods are written on the VPSieNode that comes for them. */
export const MOST_KINDS = 8;
/** In what a machine came for: pods of more kinds than are named, all that waited when it was created. */
export const AND_OTHERS = '*';

/** After kube-scheduler has looked at all nodes, so long until the pod is on one, in milliseconds. */
const LOOKED_MS = 60_000;
/**
 * Where kube-scheduler does not say so. It looks at each pod again within 5 minutes (`podMaxInUnschedulablePodsDuration`), unless it is
 * away, or far behind.
 */
const UNKNOWN_MS = 900_000;
/** How long startup taints may stay on a new node before they count against it. */
const STARTUP_MS = 600_000;
/** A node that has been ready for longer may have been changed since, or have had the pods before anybody looked. */
const NEW_MS = 900_000;

/** The works that wait, by the kind of their pods. Labels may tell works of one kind apart, and each is judged. */
type WorksByKind = ReadonlyMap<string, readonly Work[]>;

export interface Failed {
  readonly machine: Machine;
  readonly kind: string;
  /** `<namespace>/<name>` of a pod of the kind. */
  readonly pod: string;
  /** Whether it is about the type, and not about this node alone. */
  readonly isFirm: boolean;
}

export interface Judged {
  readonly trials: Trials;
  /** Machines of which it is not clear yet, with the kind of the pods that wait. */
  readonly onTrial: readonly { readonly kind: string; readonly machine: Machine }[];
  readonly failed: readonly Failed[];
}

interface Court {
  readonly state: ClusterState;
  /** Pending pods are nowhere in it; it is as it was afterwards. */
  readonly packing: Packing;
  /** The instance types as the provider promises them, by group. */
  readonly promised: ClusterState['instanceTypes'];
  readonly daemons: readonly Daemon[];
  readonly waiting: WorksByKind;
  readonly kinds: KindsOnNodes;
}

export function judge(court: Court, before: Trials): Judged {
  const { state, waiting, kinds } = court;
  const promised = new Map<string, boolean>();
  const trials: Record<string, EpochMs | null> = {};
  const onTrial: { kind: string; machine: Machine }[] = [];
  const failed: Failed[] = [];
  const clear = new Map<string, Set<string>>();
  const moving = kindsThatMove(court);
  for (const { machine, node, group } of arrived(state)) {
    const type = typeKey(machine.group, machine.instanceType);
    const ofType = clear.get(type) ?? new Set();
    clear.set(type, ofType);
    const isNew = state.at - machine.phaseSince <= NEW_MS;
    for (const kind of kindsFor(court, machine, node, ofType)) {
      const works = waiting.get(kind) ?? [];
      if (works.length === 0 && !isNew) continue;
      const key = `${machine.uid} ${kind}`;
      const known = ownValue(before, key);
      const taken = ownValue(before, `${key}${TAKEN}`) ?? null;
      if (known === null || kinds.of(node.name).has(kind)) {
        trials[key] = null;
        continue;
      }
      // What was seen of it while it was new still counts.
      const isLate = !isNew && (known === undefined || known > machine.phaseSince + NEW_MS);
      // A pod that is just being made again does not begin the trial anew.
      if (works.length === 0) {
        if (known !== undefined) trials[key] = known;
        continue;
      }
      const all = works.flatMap((work) => {
        const refusal = moving.has(kind)
          ? null
          : refused(court, { machine, node, group, work, kind, isLate, promised });
        return refusal === null ? [] : [{ ...refusal, pod: work.first }];
      });
      const isStarting = all.length > 0 && isStartingUp(state, { machine, node, group });
      if (all.length === 0 || isStarting) trials[`${key}${TAKEN}`] = state.at;
      if (all.length === 0) continue;
      ofType.add(kind);
      if (isStarting) {
        onTrial.push({ kind, machine });
        continue;
      }
      const hasWaited = all.some(({ pod }) => pod.createdAt <= machine.phaseSince);
      const since = known ?? taken ?? (isNew && hasWaited ? machine.phaseSince : state.at);
      trials[key] = since;
      if (taken !== null) trials[`${key}${TAKEN}`] = taken;
      const from = Math.max(taken ?? 0, node.ready.since);
      const over = all.filter(({ pod }) => state.at >= since + (hasLooked(pod, state, from) ? LOOKED_MS : UNKNOWN_MS));
      const worst = over.find(({ isFirm }) => isFirm) ?? over[0];
      if (worst === undefined) onTrial.push({ kind, machine });
      else failed.push({ machine, kind, isFirm: worst.isFirm, pod: podName(worst.pod) });
    }
  }
  return { trials, onTrial, failed };
}

/**
 * Kinds of pods that are about to leave other nodes. Until they have, kube-scheduler keeps those that are made in their place away where both
 * cannot be at once, such as by a claim of one pod or a zone of their own; the plan counts on their going.
 */
function kindsThatMove({ state: { leaving, lingering }, kinds }: Court): ReadonlySet<string> {
  const moving = leaving.filter((node) => !lingering.includes(node));
  return new Set(moving.flatMap((node) => [...kinds.of(node)]));
}

interface Arrived {
  readonly machine: Machine;
  readonly node: Node;
  readonly group: NodeGroup;
}

/** Nodes that have been ready, came for pods, and stay. */
function arrived({ machines, nodes, groups, leaving }: ClusterState): readonly Arrived[] {
  const gone = new Set(leaving);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const groupOf = new Map(groups.map((group) => [group.name, group]));
  return machines
    .filter((machine) => machine.cameFor.length > 0 && machine.phase === 'Ready' && isComing(machine))
    .toSorted((a, b) => byText(a.name, b.name))
    .flatMap((machine) => {
      const node = machine.node === null || gone.has(machine.node) ? undefined : byName.get(machine.node);
      const group = groupOf.get(machine.group);
      return node === undefined || node.isDeleting || group === undefined ? [] : [{ machine, node, group }];
    });
}

/**
 * A large plan has thousands of kinds, and as many nodes. Of those that are not named, one node of the type says enough, and only one that
 * nobody got.
 *
 * @param clear kinds for which another node of the type is on trial, or was.
 */
function kindsFor(
  { waiting, kinds }: Court,
  { cameFor, createdAt }: Machine,
  { name }: Node,
  clear: ReadonlySet<string>,
): readonly string[] {
  if (!cameFor.includes(AND_OTHERS)) return cameFor;
  if (!kinds.podsOf(name).every(isOfNode)) return cameFor.filter((kind) => kind !== AND_OTHERS);
  const others = [...waiting].filter(
    ([kind, works]) => !clear.has(kind) && works.some(({ first }) => first.createdAt <= createdAt),
  );
  return [...new Set([...cameFor.filter((kind) => kind !== AND_OTHERS), ...others.map(([kind]) => kind)])];
}

interface Question extends Arrived {
  readonly work: Work;
  readonly kind: string;
  /** Whether only what the node has room for now says anything. */
  readonly isLate: boolean;
  /** Whether nodes of a type would do for pods of a class, as far as somebody has asked. */
  readonly promised: Map<string, boolean>;
}

/**
 * Whether kube-scheduler keeps the pods from the node for another reason than that others took the place; null where it does not. By the
 * model they fit, or the node is not what its type promises.
 */
function refused(court: Court, question: Question): Pick<Failed, 'isFirm'> | null {
  const { packing } = court;
  const { work, kind, node, machine, isLate } = question;
  const slot = packing.slotOf(node.name);
  if (slot === undefined) return null;
  if (packing.misfit(work.pods, slot) === null) return { isFirm: true };
  if (isLate || !fitsPromised(court, question) || fitsBare(court, question, slot)) return null;
  const passes =
    node.isCordoned || node.ready.status !== 'True' || node.taints.some(({ key }) => PASSING_TAINT.test(key));
  // Where another node of the type is as good as promised, this one is at fault and not the type.
  const isAlone = court.kinds.machinesWith(kind, machine).every(({ uid }) => uid === machine.uid);
  return { isFirm: !passes && isAlone };
}

/** Without pods that others could have been placed beside. */
function fitsBare({ packing, kinds }: Court, { work, node }: Question, slot: Slot): boolean {
  const mark = packing.mark();
  const name = `bare ${node.name}`;
  const bare = packing.open({
    ...slot,
    name,
    labels: { ...slot.labels, 'kubernetes.io/hostname': name },
    template: null,
  });
  for (const pod of kinds.podsOf(node.name)) {
    if (isOfNode(pod)) packing.place(packing.classOf(pod), bare);
  }
  const fits = packing.misfit(work.pods, bare) === null;
  packing.rollback(mark);
  return fits;
}

/** Whether a node as the provider promises it would do, the cluster being as it is now. */
function fitsPromised({ packing, promised, daemons }: Court, { work, machine, group, ...question }: Question): boolean {
  const key = `${typeKey(machine.group, machine.instanceType)} ${work.pods.key}`;
  const known = question.promised.get(key);
  if (known !== undefined) return known;
  const type = (ownValue(promised, group.name) ?? []).find(({ id }) => id === machine.instanceType);
  if (type === undefined) return false;
  const mark = packing.mark();
  // The shape of other nodes of the type is what was learned of it.
  const name = `promised ${machine.name}`;
  const spec = { ...templateSlot(group, type, name, 'new', estimated(group, type)), template: null };
  // What live nodes show was not known when it was asked for, and is not known any more when they are gone.
  const unseen = daemons.map((daemon) => ({ ...daemon, byType: new Map() }));
  const fits = packing.misfit(work.pods, openComing(packing, spec, unseen)) === null;
  packing.rollback(mark);
  question.promised.set(key, fits);
  return fits;
}

/** Whether something is still to take taints off the node, and has time for that. */
function isStartingUp({ at }: ClusterState, { machine, node, group }: Arrived): boolean {
  if (at >= machine.phaseSince + STARTUP_MS) return false;
  return (
    withoutStartup(node.taints, group).length < node.taints.length ||
    node.taints.some(({ key }) => FRESH_TAINT.test(key))
  );
}

/** Whether kube-scheduler has looked at all nodes since that moment: it says of how many none is good. */
function hasLooked({ unscheduled }: Pod, { nodes }: ClusterState, since: EpochMs): boolean {
  const { message = '', writtenAt = null } = unscheduled ?? {};
  const [, count] = /^0\/(\d+) nodes are available/.exec(message) ?? [];
  // The time of a write has whole seconds.
  const isSince = writtenAt !== null && writtenAt >= since - (since % 1_000);
  return isSince && count !== undefined && Number(count) >= nodes.length;
}
