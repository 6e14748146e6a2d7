import { describe, expect, it } from 'vitest';
import { planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import { approvedEntries, approvedWith, readApproved } from '../../../../domain/lights-out/workload/approved.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import { asleep, changeBy, contextOf, DUSK, HOUR, namespaceOf, NIGHT, workloadOf } from '../planned.ts';

describe('what is approved', () => {
  it('is read as it is written, in entries of a hundred', () => {
    const names = Array.from({ length: 250 }, (_, index) => [`Deployment team-a/web-${index}`, DUSK] as const);
    const approved = new Map([...names, ['CronJob team-b/job', NIGHT] as const]);
    const entries = approvedEntries(approved);
    expect(entries.size).toBe(4);
    expect(readApproved([...entries])).toEqual(approved);
  });

  it('is none without an entry, and nothing with one of nothing or one that cannot be read', () => {
    expect(readApproved([['0b2c-uid', '{"kind":"Deployment"}']])).toBeNull();
    expect(readApproved([...approvedEntries(new Map())])).toEqual(new Map());
    expect(readApproved([['approved.0', '{{']])).toEqual(new Map());
  });

  it('stays approved since when it was, and goes with what is gone', () => {
    const before = new Map([
      ['Deployment team-a/web', DUSK],
      ['Deployment team-a/left-the-scope', DUSK],
      ['Deployment team-a/gone', DUSK],
    ]);
    const existing = new Set(['Deployment team-a/web', 'Deployment team-a/left-the-scope', 'Deployment team-a/new']);
    const inScope = ['Deployment team-a/web', 'Deployment team-a/new'];
    expect(approvedWith(before, { inScope, existing, at: NIGHT })).toEqual(
      new Map([
        ['Deployment team-a/web', DUSK],
        ['Deployment team-a/new', NIGHT],
        ['Deployment team-a/left-the-scope', DUSK],
      ]),
    );
  });
});

function evaluated(workload: Workload, over: Partial<EvaluationContext>): string {
  const evaluation = evaluate(workload, namespaceOf(), contextOf(over));
  return evaluation.kind === 'keep' ? evaluation.reason : `${evaluation.item.direction} ${evaluation.item.reason}`;
}

describe('a schedule with approved workloads', () => {
  const approved = new Map([['Deployment team-a/web', DUSK - HOUR]]);

  it('puts those to sleep and leaves the others, but for what sleeps already', () => {
    expect(evaluated(workloadOf(), { approved })).toBe('Down Down');
    expect(evaluated(workloadOf({ name: 'api' }), { approved })).toBe('NotApproved');
    expect(evaluated(asleep({ name: 'api' }), { approved })).toBe('AsDesired');
    expect(evaluated(asleep({ name: 'api' }), { approved, period: { state: 'Up', since: DUSK } })).toBe('Up Up');
  });

  it('names the others by day as well', () => {
    const { notes, leftAlone, items } = planSchedule({
      context: contextOf({ approved, period: { state: 'Up', since: DUSK } }),
      namespaces: [namespaceOf()],
      workloads: [workloadOf(), workloadOf({ name: 'api' })],
    });
    expect(items).toEqual([]);
    expect(leftAlone).toEqual({ NotApproved: 1 });
    expect(notes).toMatchObject([{ workload: 'Deployment team-a/api', reason: 'NotApproved' }]);
  });

  it('judges what is approved by night from then on: what somebody did before was not against it', () => {
    const scaled = workloadOf({ changed: changeBy('kubectl', DUSK + HOUR) });
    expect(evaluated(scaled, { approved })).toBe('ChangedByPerson');
    expect(evaluated(scaled, { approved: new Map([['Deployment team-a/web', DUSK + 2 * HOUR]]) })).toBe('Down Down');
  });
});
