import { expect, it } from 'vitest';
import type { KeptNode } from '../../../../domain/node-group/model/plan.ts';
import { nextMoment } from '../../../../domain/node-group/plan/next-moment.ts';
import { groupOf, NOW } from '../builders.ts';

const kept = (...moments: readonly (number | null)[]): readonly KeptNode[] =>
  moments.map((until) => ({ group: 'pool', node: 'a', reason: 'Cooldown', detail: '', until }));

it('time changes a plan when the first reason to keep a node may be over', () => {
  expect(nextMoment({ at: NOW, kept: kept(NOW + 20, null, NOW + 10) }, [])).toBe(NOW + 10);
});

it('no clock changes a plan in which no reason has an end', () => {
  expect(nextMoment({ at: NOW, kept: kept(null) }, [groupOf('pool')])).toBeNull();
  expect(nextMoment({ at: NOW, kept: [] }, [])).toBeNull();
});

it('a moment that was over when the plan was made is part of it, and not of the next one', () => {
  expect(nextMoment({ at: NOW, kept: kept(NOW - 1, NOW) }, [])).toBeNull();
});

it('time changes a plan when a group may ask for machines again', () => {
  const backoff = { until: NOW + 20, failures: 1, reason: 'it failed' };
  const scaleUp = { enabled: true, cooldownMs: 30, batchSize: 0 };
  const resting = groupOf('resting', { backoff });
  const cooling = groupOf('cooling', { lastScaleUp: NOW - 15, scaleUp });
  expect(nextMoment({ at: NOW, kept: [] }, [resting])).toBe(NOW + 20);
  expect(nextMoment({ at: NOW, kept: kept(NOW + 30) }, [resting, cooling])).toBe(NOW + 15);
});
