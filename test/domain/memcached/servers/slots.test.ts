import { describe, expect, it } from 'vitest';
import { LONGEST_POD_NAME } from '../../../../domain/memcached/servers/endpoints.ts';
import { serverListBody } from '../../../../domain/memcached/servers/server-list.ts';
import { assignSlots, type Endpoint, MOST_SLOTS, type Slot } from '../../../../domain/memcached/servers/slots.ts';
import * as fc from '../../../kernel/fast-check.ts';

const podOf = (pod: string, more: Partial<Endpoint> = {}): Endpoint => ({
  pod,
  address: `ip-${pod}:11211`,
  isReady: true,
  isTerminating: false,
  ...more,
});
const slotOf = (slot: number, pod: string): Slot => ({ slot, pod, address: `ip-${pod}:11211` });
/** `0:a 1:b`: who has which slot, by the address. */
const text = (slots: readonly Slot[]): string =>
  slots.map(({ slot, address }) => `${slot}:${address.slice('ip-'.length, -':11211'.length)}`).join(' ');
const three = [slotOf(0, 'a'), slotOf(1, 'b'), slotOf(2, 'c')];
const stopping = (pod: string): Endpoint => podOf(pod, { isReady: false, isTerminating: true });
const starting = (pod: string): Endpoint => podOf(pod, { isReady: false });

describe('slots', () => {
  it.each<[string, readonly Slot[], readonly Endpoint[], number, string]>([
    ['begin at 0 with the pods that are ready', [], [podOf('b'), podOf('a'), starting('c')], 3, '0:a 1:b'],
    ['are no more than there are to be', [], [podOf('a'), podOf('b')], 1, '0:a'],
    ['stay with a pod that is not ready', three, [podOf('a'), starting('b'), podOf('c'), podOf('d')], 3, '0:a 1:b 2:c'],
    ['pass to a ready pod in place of one that is gone', three, [podOf('a'), podOf('c'), podOf('d')], 3, '0:a 1:d 2:c'],
    ['pass on the lowest first', three, [podOf('c'), podOf('d')], 3, '0:d 1:b 2:c'],
    [
      'keep the address of one that is gone until then',
      three,
      [podOf('a'), podOf('c'), starting('d')],
      3,
      '0:a 1:b 2:c',
    ],
    [
      'pass on while the one before still stops',
      three,
      [podOf('a'), stopping('b'), podOf('c'), podOf('d')],
      3,
      '0:a 1:d 2:c',
    ],
    [
      'stay with one that stops without a replacement',
      three,
      [podOf('a'), stopping('b'), podOf('c')],
      3,
      '0:a 1:b 2:c',
    ],
    ['stay as they are when nothing is known', three, [], 3, '0:a 1:b 2:c'],
    [
      'stay with a pod that gets another address',
      three,
      [podOf('a'), podOf('b', { address: 'ip-z:11211', isReady: false }), podOf('c')],
      3,
      '0:a 1:z 2:c',
    ],
    ['are added above the others', three, [podOf('a'), podOf('b'), podOf('c'), podOf('d')], 4, '0:a 1:b 2:c 3:d'],
    ['keep their numbers when one goes for good', three, [podOf('b'), podOf('c')], 2, '1:b 2:c'],
    [
      'fill a gap before they go on',
      [slotOf(1, 'b'), slotOf(2, 'c')],
      [podOf('b'), podOf('c'), podOf('d')],
      3,
      '0:d 1:b 2:c',
    ],
    ['are replaced before a gap is filled', [slotOf(1, 'b'), slotOf(2, 'c')], [podOf('c'), podOf('d')], 3, '1:d 2:c'],
    [
      'stay while more pods are there than there are to be',
      three,
      [podOf('a'), podOf('b'), podOf('c')],
      1,
      '0:a 1:b 2:c',
    ],
    ['end with the last pod', three, [stopping('a')], 0, ''],
    [
      'stay where another pod got the address',
      three,
      [podOf('a'), podOf('c'), podOf('d', { address: 'ip-b:11211' })],
      3,
      '0:a 1:b 2:c',
    ],
  ])('%s', (_, previous, endpoints, desired, expected) => {
    expect(text(assignSlots(previous, endpoints, desired))).toBe(expected);
  });

  it('are known by their addresses where nobody knows the pods', () => {
    const known = three.map(({ slot, address }) => ({ slot, address, pod: null }));
    const slots = assignSlots(known, [podOf('c'), podOf('a'), podOf('d')], 3);
    expect(slots).toEqual([slotOf(0, 'a'), slotOf(1, 'd'), slotOf(2, 'c')]);
  });
});

const PODS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** A pod may be in two slices for a moment. */
const names = fc.array(fc.constantFrom(...PODS), { maxLength: 8 });
/** Of pods, most with addresses of their own. */
const endpoints = names.chain((pods) =>
  fc.tuple(
    ...pods.map((pod) =>
      fc
        .record({
          address: fc.constantFrom(pod, pod, pod, 'a', 'b', 'z'),
          isReady: fc.boolean(),
          isTerminating: fc.boolean(),
        })
        .map(({ address, ...conditions }) => podOf(pod, { ...conditions, address: `ip-${address}:11211` })),
    ),
  ),
);
const previous = fc
  .uniqueArray(fc.record({ slot: fc.nat(7), pod: fc.constantFrom(...PODS) }), {
    selector: ({ slot }) => slot,
  })
  .map((slots) => slots.filter(({ pod }, at) => slots.findIndex((other) => other.pod === pod) === at))
  .map((slots) => slots.map(({ slot, pod }) => slotOf(slot, pod)));
const desired = fc.nat(7);

const isLiving = ({ isTerminating }: Endpoint): boolean => !isTerminating;
const isEachOnce = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

describe('slots of any pods', () => {
  it('have each slot, pod and address once, whatever was before', () => {
    fc.assert(
      fc.property(previous, endpoints, desired, (before, seen, count) => {
        const slots = assignSlots(before, seen, count);
        expect(isEachOnce(slots.map(({ slot }) => slot))).toBe(true);
        expect(isEachOnce(slots.map(({ pod }) => pod))).toBe(true);
        expect(isEachOnce(slots.map(({ address }) => address))).toBe(true);
      }),
    );
  });

  it('are the same for those who ask again, and in whatever order the pods are', () => {
    fc.assert(
      fc.property(previous, endpoints, desired, (before, seen, count) => {
        const slots = assignSlots(before, seen, count);
        expect(assignSlots(slots, seen, count)).toEqual(slots);
        expect(assignSlots(before.toReversed(), seen.toReversed(), count)).toEqual(slots);
      }),
    );
  });

  it('stay with every pod that is there', () => {
    fc.assert(
      fc.property(previous, endpoints, desired, (before, seen, count) => {
        const once = seen.filter(({ pod }, at) => seen.findIndex((other) => other.pod === pod) === at);
        const own = once.map((pod) => podOf(pod.pod, { isReady: pod.isReady, isTerminating: pod.isTerminating }));
        const slots = assignSlots(before, own, count);
        const there = new Set(own.filter(isLiving).map(({ pod }) => pod));
        for (const had of before) if (had.pod !== null && there.has(had.pod)) expect(slots).toContainEqual(had);
      }),
    );
  });

  it('are as many as there are to be, unless too few pods are ready, or pods that have one have yet to go', () => {
    fc.assert(
      fc.property(previous, endpoints, desired, (before, seen, count) => {
        const slots = assignSlots(before, seen, count);
        const living = seen.filter(isLiving);
        const holding = before.filter((had) =>
          living.some((pod) => pod.pod === had.pod || pod.address === had.address),
        );
        expect(slots.length).toBeLessThanOrEqual(Math.max(count, holding.length));
        const has = (of: Endpoint): boolean =>
          slots.some(({ pod, address }) => pod === of.pod || address === of.address);
        const isComplete = slots.length >= count && slots.every(({ pod }) => living.some((other) => other.pod === pod));
        expect(isComplete || living.filter(({ isReady }) => isReady).every(has)).toBe(true);
      }),
    );
  });

  it('stay as they are while nothing is known of the pods', () => {
    fc.assert(
      fc.property(previous, (before) => {
        const sorted = before.toSorted((a, b) => a.slot - b.slot);
        expect(assignSlots(before, [], before.length)).toEqual(sorted);
      }),
    );
  });

  it('change hands only where the holder is gone or was asked to stop, in any history of pods', () => {
    const step = fc.record({
      pod: fc.constantFrom(...PODS),
      now: fc.constantFrom('ready', 'starting', 'stopping', 'gone'),
    });
    const steps = fc.array(fc.tuple(fc.array(step), desired), { maxLength: 12 });
    fc.assert(
      fc.property(steps, (history) => {
        const there = new Map<string, Endpoint>();
        let slots: readonly Slot[] = [];
        for (const [changes, count] of history) {
          for (const { pod, now } of changes) {
            if (now === 'gone') there.delete(pod);
            else there.set(pod, { ready: podOf, starting, stopping }[now](pod));
          }
          const before = slots;
          slots = assignSlots(before, [...there.values()], count);
          for (const { slot, pod } of before) {
            const holder = there.get(pod ?? '');
            if (holder === undefined || holder.isTerminating) continue;
            expect(slots.find((other) => other.slot === slot)?.pod).toBe(pod);
          }
          // Whoever is new in a slot is ready.
          const had = new Map(before.map((other) => [other.slot, other.pod] as const));
          for (const { slot, pod } of slots)
            if (had.get(slot) !== pod) expect(there.get(pod ?? '')?.isReady).toBe(true);
        }
      }),
    );
  });

  it('pass on once each in a rolling update, and are never more or others, whenever somebody asks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.infiniteStream(fc.boolean()), (count, asks) => {
        const old = PODS.slice(0, count);
        let slots = old.map((pod, slot) => slotOf(slot, pod));
        const before = slots;
        const seen = slots.map(({ address }) => [address]);
        let pods: readonly Endpoint[] = old.map((pod) => podOf(pod));
        const step = (next: readonly Endpoint[], isLast = false): void => {
          pods = next;
          if (asks.next().value === false && !isLast) return;
          slots = [...assignSlots(slots, pods, count)];
          expect(slots.map(({ slot }) => slot)).toEqual(before.map(({ slot }) => slot));
          for (const { slot, address } of slots) if (seen[slot]?.at(-1) !== address) seen[slot]?.push(address);
        };
        for (const pod of old) {
          const replacement = `new-${pod}`;
          step([...pods, starting(replacement)]);
          step(pods.map((other) => (other.pod === replacement ? podOf(replacement) : other)));
          step(pods.map((other) => (other.pod === pod ? stopping(pod) : other)));
          step(
            pods.filter((other) => other.pod !== pod),
            pod === old.at(-1),
          );
        }
        for (const addresses of seen) expect(addresses).toHaveLength(2);
        expect(new Set(slots.map(({ pod }) => pod))).toEqual(new Set(old.map((pod) => `new-${pod}`)));
      }),
    );
  });
});

describe('what is read may be anything:', () => {
  const many = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => podOf(`${prefix}${at}`));

  it('there are at most a thousand slots, which fit into a ConfigMap', () => {
    const slots = assignSlots([], many('a', 20_000), 20_000);
    expect(slots.map(({ slot }) => slot)).toEqual(Array.from({ length: MOST_SLOTS }, (_, at) => at));
    const memcached = { name: 'x'.repeat(63), namespace: 'y'.repeat(63), uid: 'owner' };
    const address = '[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:11211';
    const longest = slots.map(({ slot }) => ({ slot, address, pod: 'p'.repeat(LONGEST_POD_NAME) }));
    expect(JSON.stringify(serverListBody(memcached, longest)).length).toBeLessThan(1024 * 1024);
  });

  it('each pod and each slot is looked at once, however many there are', () => {
    let compared = 0;
    const counted = (endpoint: Endpoint): Endpoint => ({
      ...endpoint,
      get pod() {
        compared += 1;
        return endpoint.pod;
      },
    });
    const before = assignSlots([], many('a', MOST_SLOTS), MOST_SLOTS);
    const slots = assignSlots(before, many('b', MOST_SLOTS).map(counted), MOST_SLOTS);
    expect(slots.every(({ pod }) => pod?.startsWith('b'))).toBe(true);
    // Sorting compares n log n times; a search for each slot would read a million.
    expect(compared).toBeLessThan(100 * MOST_SLOTS);
  });
});
