import { describe, expect, it } from 'vitest';
import { inEffectNow } from '../../../../domain/lights-out/schedule/in-effect.ts';
import { workloadSelection } from '../../../../domain/lights-out/schedule/scope.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import { carriedJoins, joinedNamespaces } from '../../../../domain/lights-out/workload/joined.ts';
import { joinedUids, unmarkedUids } from '../../../../domain/lights-out/workload/unmarked.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import { changeBy, contextOf, DUSK, HOUR, namespaceOf, NIGHT, specOf, workloadOf } from '../planned.ts';

function evaluated(workload: Workload, over: Partial<EvaluationContext>): string {
  const evaluation = evaluate(workload, namespaceOf(), contextOf(over));
  return evaluation.kind === 'keep' ? evaluation.reason : `${evaluation.item.direction} ${evaluation.item.reason}`;
}

describe('what joins a schedule at night', () => {
  const scaled = workloadOf({ changed: changeBy('kubectl', DUSK + HOUR) });

  it('is judged from then on, and what was there all along from dusk', () => {
    expect(evaluated(scaled, {})).toBe('ChangedByPerson');
    expect(evaluated(scaled, { joined: { 'team-b': NIGHT } })).toBe('ChangedByPerson');
    expect(evaluated(scaled, { joined: { 'team-a': NIGHT - HOUR } })).toBe('Down Down');
    const later = workloadOf({ changed: changeBy('kubectl', NIGHT - HOUR / 2) });
    expect(evaluated(later, { joined: { 'team-a': NIGHT - HOUR } })).toBe('ChangedByPerson');
  });

  it('is also what an edit adds, by its kind, by its labels, and as an operator’s', () => {
    const until = NIGHT - HOUR;
    const before = (over: Parameters<typeof specOf>[0]) => ({
      earlier: [{ until, selection: workloadSelection(specOf(over)) }],
    });
    expect(evaluated(scaled, before({ workloadTypes: ['CronJob'] }))).toBe('Down Down');
    expect(evaluated(scaled, before({ workloadTypes: ['Deployment'] }))).toBe('ChangedByPerson');
    const edge = { ...scaled, labels: { tier: 'edge' } };
    expect(evaluated(edge, before({ excludeLabels: { matchLabels: { tier: 'edge' } } }))).toBe('Down Down');
    const owned = { ...scaled, controller: { group: 'a.io', kind: 'App', name: 'x' } };
    const spec = specOf({ controllerOwned: 'scale' });
    expect(evaluated(owned, { spec, ...before({}) })).toBe('Down Down');
  });

  it('is a namespace that was not in scope at the last observation of the same night, and existed', () => {
    const given = {
      inScope: ['team-a', 'team-b', 'team-c', 'team-new'],
      createdAt: (name: string) => (name === 'team-new' ? NIGHT - HOUR : DUSK - HOUR),
      from: DUSK,
      now: NIGHT,
    };
    const joined = { 'team-b': NIGHT - HOUR, 'team-gone': NIGHT - HOUR };
    expect(joinedNamespaces(joined, ['team-a', 'team-b'], given)).toEqual({ 'team-b': NIGHT - HOUR, 'team-c': NIGHT });
    // Nobody knows what was in scope before.
    expect(joinedNamespaces({}, null, given)).toEqual({});
  });

  it('is told by the edits of one night, the newest five of them', () => {
    const [jobs, all] = [workloadSelection(specOf({ workloadTypes: ['CronJob'] })), workloadSelection(specOf())];
    const at = (before: ReturnType<typeof inEffectNow> | null, selection: typeof all, now: number, since = DUSK) =>
      inEffectNow(before, {
        period: { state: 'Down', since },
        now,
        generation: 1,
        isActive: true,
        createdAt: 0,
        status: {},
        selection,
      });
    const first = at(null, jobs, DUSK);
    expect(at(first, jobs, NIGHT)).not.toHaveProperty('earlier');
    const second = at(first, all, NIGHT);
    expect(second).toMatchObject({ from: DUSK, earlier: [{ until: NIGHT, selection: jobs }] });
    expect(at(second, all, NIGHT + HOUR)).toMatchObject({ earlier: [{ until: NIGHT }] });
    let many = second;
    for (let edit = 1; edit <= 9; edit += 1) many = at(many, edit % 2 === 0 ? all : jobs, NIGHT + edit);
    expect(many.earlier?.map(({ until }) => until - NIGHT)).toEqual([5, 6, 7, 8, 9]);
    expect(at(many, all, NIGHT + 24 * HOUR, DUSK + 24 * HOUR)).not.toHaveProperty('earlier');
  });

  const others = (at: number, uids = 'uid-api') => ({ unmarked: unmarkedUids({ at, uids })! });

  it('is a workload that was neither asleep nor up in this night at the last observation', () => {
    expect(evaluated(scaled, others(NIGHT - HOUR))).toBe('Down Down');
    expect(evaluated(scaled, others(NIGHT - HOUR, 'uid-api uid-web'))).toBe('ChangedByPerson');
    // Its night began after that: everything is new, and nothing joined.
    expect(evaluated(scaled, others(DUSK - HOUR))).toBe('ChangedByPerson');
    // Nobody knows what was up.
    expect(unmarkedUids({ at: NIGHT - HOUR, uids: null })).toBeUndefined();
    expect(evaluated(scaled, {})).toBe('ChangedByPerson');
  });

  it('is not what was created in the night, nor what lost its marks', () => {
    const made = workloadOf({ createdAt: DUSK + 60_000, createdBy: 'kubectl-create' });
    expect(evaluated(made, others(NIGHT - HOUR))).toBe('ChangedByPerson');
    const entry = { kind: 'Deployment', namespace: 'team-a', name: 'web', original: '3', level: 0, since: '' } as const;
    const remembered = new Map([['uid-web', entry]]);
    expect(evaluated(scaled, { ...others(NIGHT - HOUR), remembered })).toBe('ChangedByPerson');
  });

  it('stays judged from then on, until it is to be up', () => {
    const night = { state: 'Down', since: NIGHT, isCompleted: false, level: {} } as const;
    const carried = carriedJoins([{ workload: scaled, night: { ...night, isNew: true } }], { now: NIGHT });
    expect(carried.unmarked).toEqual({ at: NIGHT, uids: 'uid-web' });
    const joinedWorkloads = joinedUids(carried.joinedWorkloads ?? []);
    const later = { now: NIGHT + HOUR, joinedWorkloads, ...others(NIGHT, 'uid-web') };
    expect(evaluated(scaled, later)).toBe('Down Down');
    expect(evaluated(workloadOf({ changed: changeBy('kubectl', NIGHT + 60_000) }), later)).toBe('ChangedByPerson');
    expect(carriedJoins([{ workload: scaled, night }], later).joinedWorkloads).toEqual(carried.joinedWorkloads);
    expect(carriedJoins([], later)).not.toHaveProperty('joinedWorkloads');
  });

  it('is kept for 2,000 workloads that are up, and for 1,000 that joined, of which the others join later', () => {
    const night = { state: 'Down', since: NIGHT, isCompleted: false, level: {} } as const;
    const many = (count: number, isNew: boolean) =>
      Array.from({ length: count }, (_, index) => ({
        workload: workloadOf({ uid: `${10_000_000 + index}-4c1f` }),
        night: isNew ? ({ ...night, isNew } as const) : night,
      }));
    const full = carriedJoins(many(2_000, false), { now: NIGHT });
    expect(full.unmarked.uids).toHaveLength(17_999);
    expect(carriedJoins(many(2_001, false), { now: NIGHT }).unmarked.uids).toBeNull();
    const { unmarked, joinedWorkloads } = carriedJoins(many(3_500, true), { now: NIGHT });
    expect(joinedUids(joinedWorkloads ?? []).size).toBe(1_000);
    // Those that are not kept are not among what was up either.
    expect(unmarked.uids?.split(' ')).toHaveLength(1_000);
  });
});
