/** Which server of a cache has which slot: what clients hash on is the slot, so a slot outlives the pod that has it. */

/** A server of the cache, as clients see it. */
export interface Slot {
  /** From 0. Numbers may be missing: after a scale-down, the others keep theirs. */
  readonly slot: number;
  /** `10.0.0.7:11211`, `[fd00::7]:11211` */
  readonly address: string;
  /** The pod's name: no two pods that are there have the same. Null where only the address is known. */
  readonly pod: string | null;
}

/** A pod with an address. */
export interface Endpoint {
  readonly pod: string;
  readonly address: string;
  readonly isReady: boolean;
  /** It was asked to stop. */
  readonly isTerminating: boolean;
}

/**
 * No cache has more slots than this: Kubernetes takes no more than 1 MiB in a ConfigMap, and what is read may be anything. Of pods
 * by hand there are 64 at most, and an autoscaler that needs more than a thousand has a mistake in it.
 */
export const MOST_SLOTS = 1000;

/**
 * Who has which slot from now on. Calling it again with its own answer changes nothing.
 *
 * - A pod that is there keeps its slot, whether it is ready or not, and with a new address if it has one.
 * - The slot of one that is gone, or was asked to stop, passes to the next ready pod without a slot: the lowest such slot first,
 *   and only then a new number. Until then the slot keeps its last address, so that nobody's keys move to the other servers
 *   and back again.
 * - There are no more slots than pods are to be there: in a rolling update the new pod waits for the slot of the one that it
 *   replaces. Only a pod that already has a slot keeps it, until it is asked to stop.
 *
 * @param previous as this function returned them.
 * @param endpoints of the cache, in any order.
 * @param desired how many pods there are to be.
 */
export function assignSlots(
  previous: readonly Slot[],
  endpoints: readonly Endpoint[],
  desired: number,
): readonly Slot[] {
  const wanted = Math.min(desired, MOST_SLOTS);
  const pods = distinct(endpoints.filter(({ isTerminating }) => !isTerminating));
  const before = previous.slice(0, MOST_SLOTS);
  const taken = holders(before, pods);
  const addresses = new Set([...taken.values()].map(({ address }) => address));
  const free = before
    .filter(({ slot, address }) => !taken.has(slot) && !addresses.has(address))
    .toSorted((a, b) => a.slot - b.slot);
  const holding = new Set([...taken.values()].map(({ pod }) => pod));
  const waiting = pods.filter(({ pod, isReady }) => isReady && !holding.has(pod));
  const next = waiting.slice(0, Math.max(0, wanted - taken.size));
  const numbers = unused(taken);
  for (const [at, { pod, address }] of next.entries()) {
    const slot = free[at]?.slot ?? numbers.next().value;
    taken.set(slot, { slot, address, pod });
  }
  const kept = free.slice(next.length).slice(0, Math.max(0, wanted - taken.size));
  return [...taken.values(), ...kept].toSorted((a, b) => a.slot - b.slot);
}

/** In one order whoever asks, with each pod and each address once: of two with the same address, the one that is ready. */
function distinct(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const addresses = new Set<string>();
  const pods = new Set<string>();
  return endpoints.toSorted(readyFirst).filter(({ pod, address }) => {
    const isNew = !pods.has(pod) && !addresses.has(address);
    if (isNew) {
      pods.add(pod);
      addresses.add(address);
    }
    return isNew;
  });
}

function readyFirst(a: Endpoint, b: Endpoint): number {
  const key = ({ pod, address, isReady }: Endpoint): string => `${isReady ? 0 : 1} ${pod} ${address}`;
  return key(a) < key(b) ? -1 : 1;
}

/**
 * Those that keep a slot: by their pod, or else by the address, which another pod may have got, or by which alone the holder is
 * known.
 */
function holders(previous: readonly Slot[], pods: readonly Endpoint[]): Map<number, Slot> {
  const taken = new Map<number, Slot>();
  const left = new Set(pods);
  const byPod = new Map(pods.map((endpoint) => [endpoint.pod, endpoint] as const));
  const byAddress = new Map(pods.map((endpoint) => [endpoint.address, endpoint] as const));
  const keep = (holderOf: (slot: Slot) => Endpoint | undefined): void => {
    for (const slot of previous) {
      const found = taken.has(slot.slot) ? undefined : holderOf(slot);
      if (found === undefined || !left.delete(found)) continue;
      taken.set(slot.slot, { slot: slot.slot, address: found.address, pod: found.pod });
    }
  };
  keep(({ pod }) => (pod === null ? undefined : byPod.get(pod)));
  keep(({ address }) => byAddress.get(address));
  return taken;
}

/** Numbers that nobody has, the lowest first. Those that are taken meanwhile are its own. */
function* unused(taken: ReadonlyMap<number, unknown>): Generator<number, never> {
  for (let slot = 0; ; slot += 1) if (!taken.has(slot)) yield slot;
}
