import { describe, expect, it } from 'vitest';
import { type Candidate, candidateScore, inRemovalOrder } from '../../../../domain/node-group/scale-down/candidates.ts';

const of = (name: string, over: Partial<Candidate> = {}): Candidate => ({
  name,
  isReady: true,
  createdAt: 100,
  unneededSince: null,
  use: { cpu: 30, memory: 30 },
  podCount: 0,
  systemPodCount: 0,
  ...over,
});

const order = (candidates: readonly Candidate[], by: 'age' | 'score' = 'age'): string =>
  inRemovalOrder(candidates, by)
    .map(({ name }) => name)
    .join(' ');

describe('nodes are looked at', () => {
  it('not ready ones first, then the oldest, then the least used, then by name', () => {
    const all = [
      of('b'),
      of('a'),
      of('no-data', { use: null }),
      of('used', { use: { cpu: 40, memory: 30 } }),
      of('old', { createdAt: 50, use: { cpu: 90, memory: 90 } }),
      of('broken', { isReady: false, createdAt: 999 }),
    ];
    expect(order(all)).toBe('broken old a b used no-data');
    expect(order(all.toReversed())).toBe('broken old a b used no-data');
  });

  it('with one that was unneeded before others of its age, whatever they use now', () => {
    expect(order([of('a', { use: { cpu: 1, memory: 1 } }), of('b', { unneededSince: 5 })])).toBe('b a');
  });

  it("by the cases' score where that is asked for", () => {
    expect(candidateScore(of('a', { use: { cpu: 20.5, memory: 10 }, podCount: 3, systemPodCount: 1 }))).toBe(952);
    const all = [
      of('c', { podCount: 3, use: null }),
      of('a', { podCount: 1, use: null }),
      of('b', { podCount: 2, use: null, createdAt: 1 }),
    ];
    expect(order(all, 'score')).toBe('a b c');
  });
});
