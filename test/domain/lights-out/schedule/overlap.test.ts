import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { mayClash, schedulesOverlap } from '../../../../domain/lights-out/schedule/overlap.ts';
import type { LabelSelector } from '../../../../domain/kernel/label-selector.ts';
import type { ScheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';

type Scope = Parameters<typeof mayClash>[0];

const scope = (part: Partial<ScheduleSpec>): Scope => ({
  namespaces: [],
  excludeNamespaces: [],
  workloadTypes: [],
  ...part,
});
const byLabel = (environment: string): LabelSelector => ({ matchLabels: { environment } });

const selectors = fc.constantFrom<LabelSelector | undefined>(undefined, {}, byLabel('dev'), byLabel('test'), {
  matchExpressions: [{ key: 'environment', operator: 'In', values: ['dev', 'prod'] }],
});
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'));
const scopes = fc.record({
  namespaceSelector: selectors,
  namespaces: names,
  excludeNamespaces: names,
  workloadTypes: fc.uniqueArray(fc.constantFrom('Deployment' as const, 'CronJob' as const)),
});

describe('two schedules overlap', () => {
  it.each<[string, boolean, Partial<ScheduleSpec>, Partial<ScheduleSpec>]>([
    ['where both name a namespace', true, { namespaces: ['a', 'b'] }, { namespaces: ['b', 'c'] }],
    ['not where they name different ones', false, { namespaces: ['a'] }, { namespaces: ['b'] }],
    [
      'where both select by labels, the same',
      true,
      { namespaceSelector: byLabel('dev') },
      { namespaceSelector: byLabel('dev') },
    ],
    [
      'where both select by labels, whatever they are',
      true,
      { namespaceSelector: byLabel('a') },
      { namespaceSelector: byLabel('b') },
    ],
    ['not where one selects and the other names', false, { namespaceSelector: byLabel('a') }, { namespaces: ['a'] }],
    ['where one selects by nothing and the other names', true, { namespaceSelector: {} }, { namespaces: ['a'] }],
    ['not where the other names nothing', false, { namespaceSelector: {} }, { namespaces: [] }],
  ])('%s', (_, expected, a, b) => {
    expect(schedulesOverlap(scope(a), scope(b))).toBe(expected);
    expect(schedulesOverlap(scope(b), scope(a))).toBe(expected);
  });

  it('or do not, from whichever side one looks; and who does not overlap cannot clash', () => {
    fc.assert(
      fc.property(scopes, scopes, (a, b) => {
        expect(schedulesOverlap(a, b)).toBe(schedulesOverlap(b, a));
        expect(mayClash(a, b)).toBe(mayClash(b, a));
        if (!schedulesOverlap(a, b)) expect(mayClash(a, b)).toBe(false);
      }),
    );
  });
});

describe('two schedules that overlap cannot clash', () => {
  it.each<[string, boolean, Partial<ScheduleSpec>, Partial<ScheduleSpec>]>([
    [
      'where one excludes what both name',
      false,
      { namespaces: ['a', 'b'] },
      { namespaces: ['b'], excludeNamespaces: ['b'] },
    ],
    [
      'but where they name another besides',
      true,
      { namespaces: ['a', 'b'] },
      { namespaces: ['a', 'b'], excludeNamespaces: ['b'] },
    ],
    [
      'where they are about different kinds of workloads',
      false,
      { namespaces: ['a'], workloadTypes: ['Deployment', 'StatefulSet'] },
      { namespaces: ['a'], workloadTypes: ['CronJob'] },
    ],
    [
      'but where one is about all kinds',
      true,
      { namespaces: ['a'] },
      { namespaces: ['a'], workloadTypes: ['CronJob'] },
    ],
    [
      'where a label would need two values',
      false,
      { namespaceSelector: byLabel('dev') },
      { namespaceSelector: { matchExpressions: [{ key: 'environment', operator: 'In', values: ['test', 'prod'] }] } },
    ],
    [
      'but where both can have it',
      true,
      { namespaceSelector: byLabel('dev') },
      { namespaceSelector: { matchExpressions: [{ key: 'environment', operator: 'In', values: ['test', 'dev'] }] } },
    ],
    [
      'but where the labels are different ones',
      true,
      { namespaceSelector: byLabel('dev') },
      { namespaceSelector: { matchLabels: { team: 'payments' } } },
    ],
    [
      'but where both name a namespace beside labels that contradict',
      true,
      { namespaceSelector: byLabel('dev'), namespaces: ['a'] },
      { namespaceSelector: byLabel('test'), namespaces: ['a'] },
    ],
  ])('%s', (_, expected, a, b) => {
    expect(mayClash(scope(a), scope(b))).toBe(expected);
    expect(mayClash(scope(b), scope(a))).toBe(expected);
  });
});
