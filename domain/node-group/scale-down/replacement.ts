/** Which instance type could stand in for a node: a cheaper one, or any where the node must not go before another is ready. */
import { ownValue } from '../../kernel/record.ts';
import type { InstanceType } from '../model/node-group.ts';
import { openComing, templateSlot } from '../plan/cluster-packing.ts';
import type { Daemon } from '../plan/daemons.ts';
import type { InPlace } from '../plan/in-vain.ts';
import type { Offer } from '../plan/offers.ts';
import { byText } from '../plan/pending.ts';
import { podKind } from '../plan/pod-kind.ts';
import { MOST_KINDS } from '../plan/trials.ts';
import type { Packing } from '../scheduling/packing.ts';
import type { PodClass } from '../scheduling/packed.ts';
import { pour } from '../scheduling/pour.ts';
import type { Evidence } from './evidence.ts';
import type { GroupCounts } from './group-counts.ts';
import type { Member } from './members.ts';

export interface Surroundings {
  readonly packing: Packing;
  readonly evidence: Evidence;
  /** What has come in place of nodes already. */
  readonly inPlace: InPlace;
  readonly daemons: readonly Daemon[];
  readonly instanceTypes: Readonly<Record<string, readonly InstanceType[]>>;
}

/** The cheapest type that costs less than the node and takes all of its pods alone; null where there is none. */
export function cheaperType(
  surroundings: Surroundings,
  member: Member,
  counts: GroupCounts,
): { readonly id: string; readonly price: number; readonly before: number } | null {
  const before = typeOfNode(surroundings, member)?.pricePerHour ?? null;
  if (before === null || broughtBefore(surroundings, member) !== null) return null;
  const cheaper = openOffers(counts)
    .filter((offer) => isOpenTo(surroundings, member, offer))
    .flatMap((offer) => (offer.type.pricePerHour === null ? [] : [{ offer, price: offer.type.pricePerHour }]))
    .filter(({ price }) => price < before)
    .toSorted((a, b) => a.price - b.price || byText(a.offer.type.id, b.offer.type.id));
  const found = cheaper.find(({ offer }) => takesAll(surroundings, member, offer));
  return found === undefined ? null : { id: found.offer.type.id, price: found.price, before };
}

/**
 * A type of the group that takes the node's pods, its own before others; null where there is none or no room for one.
 *
 * @param isRepair where no type takes all of the pods, since some are bound to the node or nodes came for them in vain, any other node is
 * as good that one of them may be given.
 */
export function standIn(
  surroundings: Surroundings,
  member: Member,
  counts: GroupCounts,
  isRepair = false,
): string | null {
  const own = (offer: Offer): number => Number(offer.type.id !== member.machine.instanceType);
  const ordered = openOffers(counts).toSorted((a, b) => own(a) - own(b) || a.tier - b.tier);
  const found =
    ordered.find((offer) => isOpenTo(surroundings, member, offer) && takesAll(surroundings, member, offer)) ??
    (isRepair ? ordered.find((offer) => isOpenToSome(surroundings, member, offer)) : undefined);
  return found?.type.id ?? null;
}

/** A machine that came in place of the node, while the node is still there. */
export interface Brought {
  /** Whether it is there and Ready. */
  readonly isReady: boolean;
  /** Why no other one is asked for, as the end of a sentence. */
  readonly detail: string;
}

/** Null where nothing has. What is there, or came in vain, is the only one. */
export function broughtBefore({ inPlace }: Surroundings, { node }: Pick<Member, 'node'>): Brought | null {
  const spare = inPlace.there.get(node.uid);
  if (spare !== undefined) {
    const { isReady, machine } = spare;
    return {
      isReady,
      detail: `${machine.name}, which came in its place, ${isReady ? 'takes none of them' : 'is not ready'}`,
    };
  }
  const record = inPlace.inVain(node);
  if (record === null) return null;
  const detail = `${record.machine} came in its place and it has not gone: none comes again before it is Ready`;
  return { isReady: false, detail };
}

/** The kinds of pods that a node of the type comes for in place of theirs, as they are written on its VPSieNode. */
export function kindsToCome({ evidence }: Surroundings, { group, pods }: Member, type: string): readonly string[] {
  const own = pods.evicted.filter((pod) => evidence.isAskedFor(pod, group.name, type));
  return [...new Set(own.map(podKind))].toSorted(byText).slice(0, MOST_KINDS);
}

/** Whether nothing stands against a node of the offer for the pods, all of which are to move to it. */
function isOpenTo({ evidence }: Surroundings, { pods }: Member, { group, type }: Offer): boolean {
  return pods.evicted.every((pod) => evidence.isAskedFor(pod, group.name, type.id));
}

/** Whether a node of the offer helps any of the pods: one that none of them can use is not made. */
function isOpenToSome({ evidence }: Surroundings, { pods }: Member, { group, type }: Offer): boolean {
  return pods.evicted.length === 0 || pods.evicted.some((pod) => evidence.isAskedFor(pod, group.name, type.id));
}

function openOffers({ room, roster }: GroupCounts): readonly Offer[] {
  return room === 0 ? [] : (roster?.offers ?? []).filter(({ refused }) => refused === null);
}

function typeOfNode({ instanceTypes }: Surroundings, { group, machine }: Member): InstanceType | undefined {
  return (ownValue(instanceTypes, group.name) ?? []).find(({ id }) => id === machine.instanceType);
}

/** Whether a node of the offer alone takes the pods, with the old node gone. The packing is as it was afterwards. */
function takesAll({ packing, daemons }: Surroundings, { node, pods }: Member, { group, type }: Offer): boolean {
  const mark = packing.mark();
  const old = packing.slotOf(node.name);
  if (old !== undefined && !old.isClosed) packing.close(old);
  const slot = openComing(packing, templateSlot(group, type, `instead of ${node.name}`, 'new'), daemons);
  const counts = new Map<PodClass, number>();
  for (const pod of pods.evicted) {
    const of = packing.classOf(pod);
    counts.set(of, (counts.get(of) ?? 0) + 1);
  }
  const takes = [...counts].every(([of, count]) => pour(packing, of, count, [slot]) === count);
  packing.rollback(mark);
  return takes;
}
