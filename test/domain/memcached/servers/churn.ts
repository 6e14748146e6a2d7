/** Which keys change server when pods come and go, for clients that hash on slots, and for those that hash on addresses. */
import HashRing from 'hashring';
import { serverListBody } from '../../../../domain/memcached/servers/server-list.ts';
import { assignSlots, type Endpoint, type Slot } from '../../../../domain/memcached/servers/slots.ts';

/** The pods behind the Service at a moment, and how many there are to be. */
interface Moment {
  readonly pods: readonly Endpoint[];
  readonly desired: number;
}

/** What happens, from before until after. */
export type Event = readonly [Moment, ...Moment[]];

/** Where each key is, at one moment after the other. */
export type Client = (event: Event) => readonly (readonly string[])[];

/** Points of a server on libketama's ring. */
export const POINTS = 160;
export const KEYS: readonly string[] = Array.from({ length: 4000 }, (_, at) => `session:${at}`);

const readyPod = (at: number): Endpoint => ({
  pod: `cache-${at}`,
  address: `10.244.${(at * 7) % 5}.${20 + at}:11211`,
  isReady: true,
  isTerminating: false,
});
const podsOf = (count: number): readonly Endpoint[] => Array.from({ length: count }, (_, at) => readyPod(at));
const starting = (pod: Endpoint): Endpoint => ({ ...pod, isReady: false });
const stopping = (pod: Endpoint): Endpoint => ({ ...pod, isReady: false, isTerminating: true });

/** One pod is gone, and another one is started for it. */
export function replaced(count: number, at: number): Event {
  const pods = podsOf(count);
  const others = pods.filter((_, index) => index !== at);
  const replacement = readyPod(100);
  const desired = count;
  return [
    { pods, desired },
    { pods: others, desired },
    { pods: [...others, starting(replacement)], desired },
    { pods: [...others, replacement], desired },
  ];
}

export function scaledUp(count: number): Event {
  const pods = podsOf(count);
  const added = readyPod(count);
  const desired = count + 1;
  return [
    { pods, desired: count },
    { pods: [...pods, starting(added)], desired },
    { pods: [...pods, added], desired },
  ];
}

/** The ReplicaSet chooses whom. */
export function scaledDown(count: number, at: number): Event {
  const pods = podsOf(count);
  const desired = count - 1;
  return [
    { pods, desired: count },
    { pods: pods.map((pod, index) => (index === at ? stopping(pod) : pod)), desired },
    { pods: pods.filter((_, index) => index !== at), desired },
  ];
}

/** One pod after the other, and the new one first. */
export function rolledOut(count: number): Event {
  let pods = podsOf(count);
  const first = { pods, desired: count };
  const moments: Moment[] = [];
  for (const old of podsOf(count)) {
    const replacement = readyPod(100 + moments.length);
    const others = pods.filter(({ pod }) => pod !== old.pod);
    pods = [...others, replacement];
    moments.push(
      { pods: [old, ...others, starting(replacement)], desired: count },
      { pods: [old, ...others, replacement], desired: count },
      { pods: [stopping(old), ...others, replacement], desired: count },
      { pods, desired: count },
    );
  }
  return [first, ...moments];
}

const rings = new Map<string, HashRing>();

/** Where the keys are, for servers that have these names. */
function placed(names: readonly string[], addressOf: (name: string) => string): readonly string[] {
  const id = names.join();
  const ring = rings.get(id) ?? new HashRing([...names]);
  rings.set(id, ring);
  return KEYS.map((key) => addressOf(ring.get(key)));
}

/** By the names in the ConfigMap. */
export const bySlots: Client = (event) => {
  let slots: readonly Slot[] = [];
  return event.map(({ pods, desired }) => {
    slots = assignSlots(slots, pods, desired);
    const { data } = serverListBody({ name: 'sessions', namespace: 'team-a', uid: 'u' }, slots);
    const { servers } = JSON.parse(data?.['servers.json'] ?? '') as {
      readonly servers: readonly { readonly name: string; readonly address: string }[];
    };
    const addresses = new Map(servers.map(({ name, address }) => [name, address] as const));
    return placed([...addresses.keys()], (name) => addresses.get(name) ?? '');
  });
};

/** What DNS says of a headless Service, sorted, because its own order changes from answer to answer. */
function addressesAt({ pods }: Moment): readonly string[] {
  return pods
    .filter(({ isReady }) => isReady)
    .map(({ address }) => address)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** By the addresses of the headless Service, on the same ring. */
export const byAddress: Client = (event) => event.map((moment) => placed(addressesAt(moment), (address) => address));

/** By the position in the list of the addresses, without a ring. */
export const byPosition: Client = (event) =>
  event.map((moment) => {
    const addresses = addressesAt(moment);
    return KEYS.map((key) => addresses[checksum(key) % addresses.length] ?? '');
  });

/** As clients without consistent hashing count a key. */
function checksum(key: string): number {
  let sum = 5381;
  for (const letter of key) sum = (sum * 33 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}

/** How often keys change server, for each key there is: 1 where each of them does once. */
export function churn(client: Client, event: Event): number {
  const moments = client(event);
  const changes = moments
    .slice(1)
    .map((now, at) => now.filter((address, key) => address !== moments[at]?.[key]).length);
  return changes.reduce((sum, count) => sum + count, 0) / KEYS.length;
}
