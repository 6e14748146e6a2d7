import { describe, expect, it } from 'vitest';
import { packItem, unpackItem } from '../../../../domain/lights-out/decide/packed.ts';
import { planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import {
  DOWN_SINCE,
  MANAGED_BY,
  ORIGINAL_REPLICAS,
  SCALED_OWNER,
} from '../../../../domain/lights-out/schedule/names.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import {
  type Remembered,
  outdated,
  disagreement,
  recalled,
  withoutWorkload,
} from '../../../../domain/lights-out/workload/remembered.ts';
import { byOwner, markedOwner } from '../../../../domain/lights-out/workload/scaled-owner.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  byWidget,
  changeBy,
  contextOf,
  DUSK,
  HOUR,
  namespaceOf,
  ours,
  specOf,
  textOfEvaluation,
  workloadOf,
} from '../planned.ts';

const context = contextOf({ spec: specOf({ controllerOwned: 'scale' }) });
const morning = { ...context, period: { state: 'Up', since: DUSK } } as const;

function evaluated(workload: Workload, given = context): string {
  return textOfEvaluation(evaluate(workload, namespaceOf(), given));
}

function owned(over: Parameters<typeof byWidget>[0] = {}, workload: Partial<Workload> = {}): Workload {
  return workloadOf({ changed: changeBy('kubectl', DUSK - HOUR), ...byWidget(over), ...workload });
}

const MARKS = {
  annotations: {
    [ORIGINAL_REPLICAS]: '3',
    [SCALED_OWNER]: 'widgets.example.com/web@4',
    [MANAGED_BY]: 'nights',
    [DOWN_SINCE]: '2026-11-20T18:00:05Z',
  },
  labels: { [MANAGED_BY]: 'nights', [ORIGINAL_REPLICAS]: '3' },
};

/** Asleep by its owner, whose generation is another one than that of the mark. */
function sleeping(over: Partial<Workload> = {}): Workload {
  return asleep({ ...MARKS, ...byWidget({ replicas: 0, generation: 5 }), ...over });
}

describe('a workload that sleeps by the number of its owner', () => {
  it('is marked first, then its owner gets the number, and it gets none itself', () => {
    const evaluation = evaluate(owned(), namespaceOf(), context);
    expect(evaluation).toMatchObject({
      kind: 'change',
      item: { from: 3, to: 0, owner: 'widgets.example.com/web' },
      saved: { original: '3', owner: 'widgets.example.com/web@4' },
      writes: [
        { kind: 'Deployment', patch: { metadata: { annotations: { [SCALED_OWNER]: 'widgets.example.com/web@4' } } } },
        { kind: 'ScaledOwner', resourceVersion: '11', uid: 'uid-widget', patch: { spec: { replicas: 0 } } },
      ],
    });
    expect(JSON.stringify(evaluation).match(/"spec"/g)).toHaveLength(1);
  });

  it('is woken by its owner first, and then loses its marks', () => {
    const evaluation = evaluate(sleeping(), namespaceOf(), morning);
    const kinds = evaluation.kind === 'change' ? evaluation.writes.map(({ kind, patch }) => [kind, patch['spec']]) : [];
    expect(kinds).toEqual([
      ['ScaledOwner', { replicas: 3 }],
      ['Deployment', undefined],
    ]);
  });

  it('is put to sleep by whoever comes after one that died between the marks and the number', () => {
    // Its number was set by a write through the scale subresource, which may have no time.
    const marked = owned({}, { ...MARKS, changed: { manager: 'kubectl', at: null, isOnlyIt: true } });
    expect(evaluated(marked)).toBe('DownTo 3→0');
    const touched = { ...marked, ...byWidget({ generation: 6 }) };
    expect(evaluated(touched)).toBe('ChangedByPerson');
    // Nobody is said to have set the number that it has since: that was Headroom, unless there was one more change.
    const set = { ...marked, ...byWidget({ replicas: 1, generation: 5 }), replicas: 1, changed: null };
    expect(evaluated(set)).toBe('DownTo 1→0');
    expect(evaluated({ ...set, ...byWidget({ replicas: 1, generation: 6 }) })).toBe('ChangedByPerson');
    // Where the marks are lost, what somebody unknown set once all was asleep is a person's, and what was there at dusk is not.
    const unmarked = owned({}, { changed: null });
    expect(evaluated(unmarked)).toBe('ChangedByPerson');
    expect(evaluated(unmarked, { ...context, completedAt: null })).toBe('Down 3→0');
    // By day only the marks go.
    expect(evaluated(marked, morning)).toBe('Released 3→3');
  });

  it('is left alone where nobody can tell that the number is its own', () => {
    expect(evaluated(owned({ workloadReplicas: 6 }))).toBe('OwnerUnclear');
    expect(evaluated(owned({ replicas: null, workloadReplicas: 3 }))).toBe('OwnerUnclear');
    expect(evaluated(owned({ isShared: true }))).toBe('OwnerUnclear');
    // What has its marks was clear when it got them.
    expect(evaluated(sleeping({ ...byWidget({ replicas: 0, generation: 5, workloadReplicas: 3 }) }))).toBe('OwnerLags');
    expect(evaluated(owned({ replicas: 0, isShared: true }, { replicas: 0 }))).toBe('AtRest');
  });

  it('that slept by itself before its kind was named goes on like that, and one that lost its annotations to a rollback does not', () => {
    const { owner } = byWidget({ replicas: 3 });
    expect(byOwner(asleep(), owner ?? null, false).owner).toBeUndefined();
    const rolledBack = asleep({ annotations: {}, labels: { [MANAGED_BY]: 'nights', [ORIGINAL_REPLICAS]: '3' } });
    expect(byOwner(rolledBack, owner ?? null, false).owner).toBeDefined();
    const { controller } = byWidget();
    const marked = { annotations: { [SCALED_OWNER]: 'widgets.example.com/web@4' } };
    expect(markedOwner({ ...marked, ...(controller && { controller }) })).toMatchObject({ generation: 4 });
    // Somebody else's text.
    expect(
      markedOwner({
        annotations: { [SCALED_OWNER]: 'widgets.example.com/other@4' },
        ...(controller && { controller }),
      }),
    ).toBeNull();
    expect(markedOwner(marked)).toBeNull();
  });
});

describe('the memory of an owner', () => {
  const entry: Remembered = {
    kind: 'Deployment',
    namespace: 'team-a',
    name: 'web',
    original: '3',
    level: 0,
    since: '2026-11-20T18:00:05Z',
    owner: 'widgets.example.com/web@4',
  };
  const remembered = new Map([['uid-widget', entry]]);

  it('counts for the number of an owner, and not what somebody wrote into the mark', () => {
    const forged = sleeping({
      annotations: { ...sleeping().annotations, [ORIGINAL_REPLICAS]: '2147483647' },
    });
    const known = { ...morning, remembered };
    expect(evaluated(recalled(forged, known), known)).toBe('Up 0→3');
    expect(disagreement(recalled(forged, known), known)).toMatchObject({
      reason: 'MarkDiffers',
      detail: expect.stringContaining('Its owner gets the number of the memory') as string,
    });
    // Without an entry nothing is raised, and the mark goes.
    const unknown = { ...morning, remembered: new Map<string, Remembered>() };
    expect(evaluated(recalled(forged, unknown), unknown)).toBe('Released 0→0');
    expect(disagreement(recalled(forged, unknown), unknown)?.detail).toContain('keeps its present number');
    // A mark that agrees is not spoken of.
    expect(disagreement(recalled(sleeping(), known), known)).toBeNull();
  });
  const given = { ...morning, remembered };

  it('wakes it when its operator has made the workload anew', () => {
    const anew = workloadOf({
      uid: 'uid-of-another',
      replicas: 0,
      changed: ours,
      ...byWidget({ replicas: 0, generation: 5 }),
    });
    expect(evaluated(recalled(anew, given), given)).toBe('Up 0→3');
    // A twin of it was never asleep by itself.
    expect(recalled({ ...anew, name: 'web-1' }, given).isRecalled).toBeUndefined();
    expect(outdated(remembered, [anew])).toEqual([]);
  });

  it('wakes it when its operator has deleted the workload', () => {
    const { owner } = byWidget({ replicas: 0, generation: 5, changed: ours });
    const gone = withoutWorkload(remembered, [], () => owner ?? null);
    expect(outdated(remembered, gone)).toEqual([]);
    const plan = planSchedule({ context: given, namespaces: [namespaceOf()], workloads: [], missing: gone });
    expect(plan.items.map(packItem)).toEqual(['Deployment team-a/web 0 -> 3 by widgets.example.com/web']);
    const [workload] = gone;
    const evaluation = workload === undefined ? null : evaluate(recalled(workload, given), namespaceOf(), given);
    expect(evaluation?.kind === 'change' ? evaluation.writes.map(({ kind }) => kind) : []).toEqual(['ScaledOwner']);
    // At night it sleeps on, also where the schedule leaves alone what lacks a label: the workload took its labels along.
    const spec = specOf({ excludeLabels: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } });
    const night = { ...context, remembered, spec };
    const atNight = planSchedule({ context: night, namespaces: [namespaceOf()], workloads: [], missing: gone });
    expect(atNight.items.map(packItem)).toEqual([]);
    // Another owner of that name has a number of its own.
    expect(withoutWorkload(new Map([['uid-of-before', entry]]), [], () => owner ?? null)).toEqual([]);
  });
});

it('a plan names the owner, and is read back', () => {
  const text = 'Deployment team-a/web 3 -> 0 by widgets.example.com/web (HorizontalPodAutoscaler web)';
  expect(unpackItem(text)).toMatchObject({ owner: 'widgets.example.com/web', from: 3, to: 0 });
  expect(packItem(unpackItem(text))).toBe(text);
});
