import { afterEach, expect, it, vi } from 'vitest';
import { Packing } from '../../../../domain/node-group/scheduling/packing.ts';
import { amount } from '../../../kernel/long.ts';
import { seed as drawn } from '../../../kernel/seed.ts';
import { daysOf } from './week.ts';

/** How often a plan asks whether a pod fits a node, at most: by each of some forty kinds of pods about each of thirty nodes, and again. */
const MOST_QUESTIONS = 5_000;

const days = amount({ short: 1, long: 7 });
const seeds = Array.from({ length: amount({ short: 1, long: 12 }) }, (_, index) => drawn + index);

afterEach(() => {
  vi.restoreAllMocks();
});

it.each(seeds)(
  'cluster %i: nodes are made for pods that get them, and none is deleted while it is used, whatever tenants write',
  (seed) => {
    const misfit = vi.spyOn(Packing.prototype, 'misfit');
    let questions = 0;
    const ledger = daysOf(seed, days, () => {
      questions = Math.max(questions, misfit.mock.calls.length);
      misfit.mockClear();
    });
    const inVain = ledger.mostInVain();
    const { honest, hostile, others, deletions, longestWaitMs } = ledger;
    const a = ({ nodes, pods }: typeof honest): string =>
      `${nodes} nodes for ${pods} pods (${(nodes / pods).toFixed(2)})`;
    console.log(
      `cluster ${seed}, ${days} days: teams ${a(honest)}, hostile tenants ${a(hostile)}, ${others} other nodes, ` +
        `${deletions} deleted; at most ${inVain} nodes of a type in vain, ${longestWaitMs / 60_000} minutes of waiting, ` +
        `${questions} questions in a plan`,
    );
    expect(ledger.violations).toEqual([]);
    expect(questions).toBeLessThan(MOST_QUESTIONS);
    // The run has shown something.
    expect(Math.min(honest.nodes, hostile.pods, deletions)).toBeGreaterThan(3);
  },
);
