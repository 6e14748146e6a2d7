/** How many keys change server, measured with the ring of a client for Node that is compatible with libketama. */
import { describe, expect, it } from 'vitest';
import { read } from '../../../docs/reading.ts';
import {
  byAddress,
  byPosition,
  bySlots,
  churn,
  type Client,
  type Event,
  KEYS,
  POINTS,
  replaced,
  rolledOut,
  scaledDown,
  scaledUp,
} from './churn.ts';

const COUNTS = [3, 5, 10] as const;
const every = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
/** By chance a server has more than its share: its points are spread with a deviation of 1/√points, and four of them are rare. */
const share = (count: number): number => (1 / count) * (1 + 4 / Math.sqrt(POINTS));

/** Those that are elsewhere after an event than before it. */
function moved(client: Client, event: Event): { readonly keys: readonly number[]; readonly from: ReadonlySet<string> } {
  const moments = client(event);
  const [before = [], after = []] = [moments[0], moments.at(-1)];
  const keys = [...KEYS.keys()].filter((key) => before[key] !== after[key]);
  return { keys, from: new Set(keys.map((key) => before[key] ?? '')) };
}

describe.each(COUNTS)('with %d servers, clients that hash on slots', (count) => {
  it('lose one share at most when a pod is replaced, and no key of another server', () => {
    for (const at of every(count)) {
      const event = replaced(count, at);
      const { keys, from } = moved(bySlots, event);
      expect([...from]).toEqual([event[0].pods[at]?.address]);
      expect(keys.length / KEYS.length).toBeLessThan(share(count));
      // Each of them moves once, and to the replacement.
      expect(churn(bySlots, event)).toBe(keys.length / KEYS.length);
    }
  });

  it('lose one share at most when there is one more, or one fewer', () => {
    expect(churn(bySlots, scaledUp(count))).toBeLessThan(share(count + 1));
    for (const at of every(count)) {
      const event = scaledDown(count, at);
      expect([...moved(bySlots, event).from]).toEqual([event[0].pods[at]?.address]);
      expect(churn(bySlots, event)).toBeLessThan(share(count));
    }
  });

  it('see each key move once in a rolling update, and those that hash on addresses see it move more often', () => {
    expect(churn(bySlots, rolledOut(count))).toBe(1);
    expect(churn(byAddress, rolledOut(count))).toBeGreaterThan(1.4);
  });
});

/** The mean over every pod that may be the one. */
const EVENTS: readonly [string, (count: number) => readonly Event[]][] = [
  ['a pod is replaced', (count) => every(count).map((at) => replaced(count, at))],
  ['one server more', (count) => [scaledUp(count)]],
  ['one server fewer', (count) => every(count).map((at) => scaledDown(count, at))],
  ['a rolling update', (count) => [rolledOut(count)]],
];

function row(name: string, count: number, events: readonly Event[]): string {
  const cells = [bySlots, byAddress, byPosition].map((client) => {
    const mean = events.reduce((sum, event) => sum + churn(client, event), 0) / events.length;
    return `${Math.round(mean * 100)} %`;
  });
  return [name, String(count), ...cells].join(' | ');
}

it('the table in docs/memcached.md has what is measured', () => {
  const measured = EVENTS.flatMap(([name, events]) => COUNTS.map((count) => row(name, count, events(count))));
  const page = read('docs/memcached.md');
  const table = page.slice(page.indexOf('| what happens')).split('\n\n')[0] ?? '';
  const documented = table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
        .join(' | '),
    );
  expect(documented).toEqual(measured);
});
