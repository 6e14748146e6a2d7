/**
 * Under a steady load no node comes and goes within an hour. Pods that end and are made again leave holes here and there: a node comes
 * for one that fits no hole, a little later all fit without it, and so on. So a node that came for pods stays for an hour, unless the
 * load has fallen since by half of what it came for.
 */
import { ownValue } from '../../kernel/record.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { Machine } from '../model/node-group.ts';
import type { Keep } from '../model/plan.ts';
import type { Amounts } from '../../kernel/amounts.ts';
import { isComing } from '../plan/live-nodes.ts';
import { byText } from '../plan/pending.ts';
import { addAmounts } from '../../kernel/amounts.ts';
import type { Packing } from '../scheduling/packing.ts';
import type { Arrival, Arrivals, Load } from './arrival.ts';
import { type PlanMemory, RECENT_MS } from './memory.ts';
import { podsOnNode } from './pod-safety.ts';

const STEADY_MS = 3_600_000;
/** Kubernetes writes the moments of objects down in whole seconds. */
const TICK_MS = 1_000;
/** A node may go when this share of the demand that it came for is gone. */
const FALLEN_SHARE = 0.5;

export class ArrivalBook {
  /** What all pods of the cluster ask for that a node could hold. */
  readonly load: Load;
  readonly #before: Pick<PlanMemory, 'load' | 'plannedAt'>;
  readonly #at: EpochMs;
  readonly #arrivals = new Map<string, Arrival>();

  /**
   * @param memory of the plan before.
   * @param packing with pending pods in their places, on machines that are on their way too.
   */
  constructor(
    memory: Pick<PlanMemory, 'arrivals' | 'load' | 'plannedAt'>,
    { at, pods, machines, instanceTypes, coming = [], going }: ClusterState,
    packing: Packing,
  ) {
    const { arrivals: before } = memory;
    this.#before = memory;
    this.#at = at;
    const { evicted } = podsOnNode([...pods, ...coming]);
    const fits = fitsSome([...packing.slots, ...Object.values(instanceTypes).flat()]);
    this.load = loadOf(
      evicted
        // What sleeps within the hour is not there any more.
        .filter(({ uid, requests }) => going?.has(uid) !== true && fits(loadOf(requests)))
        .reduce<Amounts>((sum, { requests }) => addAmounts(sum, requests), {}),
    );
    for (const machine of machines.toSorted((a, b) => byText(a.name, b.name))) {
      if (!isComing(machine) || machine.createdAt + STEADY_MS <= at) continue;
      // A machine may be called as something that every object has, such as `constructor`.
      const known = ownValue(before, machine.name);
      const arrival = known ?? this.#seen(machine, packing);
      if (arrival !== null) this.#arrivals.set(machine.name, arrival);
    }
  }

  /** The record of a machine that is seen for the first time; null for one that was ready before the first plan. */
  #seen(machine: Machine, packing: Packing): Arrival | null {
    const slot = packing.slotOf(machine.node ?? machine.name);
    // A fast provider's machine is created and ready between two plans.
    const { plannedAt } = this.#before;
    const isNew = plannedAt !== null && machine.createdAt + TICK_MS > plannedAt;
    if (slot === undefined || (slot.origin !== 'upcoming' && !isNew)) return null;
    let own: Amounts = {};
    for (const [{ constraints }, count] of slot.pods) {
      const { requests } = constraints;
      own = addAmounts(
        own,
        Object.fromEntries(Object.entries(requests).map(([name, amount]) => [name, amount * count])),
      );
    }
    const { cpu, memory } = loadOf(own);
    // Its pods may have found a place already, or a person wanted it: then it came for as much as it holds.
    return { load: this.#loadAtArrival(), own: cpu === 0 && memory === 0 ? loadOf(slot.allocatable) : { cpu, memory } };
  }

  /**
   * It came for what the plan before saw, or for more that has come since: part of that may be gone by now. An old plan tells nothing
   * about it.
   */
  #loadAtArrival(): Load {
    const { load, plannedAt } = this.#before;
    if (plannedAt === null || this.#at - plannedAt > RECENT_MS) return this.load;
    return { cpu: Math.max(load.cpu, this.load.cpu), memory: Math.max(load.memory, this.load.memory) };
  }

  /** Why a node that came lately stays; null where it need not. */
  keptByLoad({ name, createdAt }: Pick<Machine, 'name' | 'createdAt'>): Keep | null {
    const arrival = this.#arrivals.get(name);
    if (arrival === undefined || this.#hasFallenSince(arrival)) return null;
    const until = createdAt + STEADY_MS;
    const detail =
      `its machine came for pods at ${formatInstant(createdAt)}, and no less is asked for since: ` +
      `it stays until ${formatInstant(until)}`;
    return { reason: 'CameLately', detail, until };
  }

  #hasFallenSince({ load, own }: Arrival): boolean {
    const fell = (of: keyof Load): boolean => own[of] > 0 && load[of] - this.load[of] >= own[of] * FALLEN_SHARE;
    return fell('cpu') || fell('memory');
  }

  result(): Arrivals {
    return Object.fromEntries(this.#arrivals);
  }
}

/** A pod that no node could hold brought no machine, and beside one of any size what the others ask for would not be seen. */
function fitsSome(nodes: readonly { readonly allocatable: Amounts }[]): (load: Load) => boolean {
  const sizes = nodes.map(({ allocatable }) => loadOf(allocatable));
  const most: Load = {
    cpu: sizes.reduce((max, { cpu }) => Math.max(max, cpu), 0),
    memory: sizes.reduce((max, { memory }) => Math.max(max, memory), 0),
  };
  return ({ cpu, memory }) => cpu >= 0 && memory >= 0 && cpu <= most.cpu && memory <= most.memory;
}

function loadOf(amounts: Amounts): Load {
  return { cpu: amounts['cpu'] ?? 0, memory: amounts['memory'] ?? 0 };
}
