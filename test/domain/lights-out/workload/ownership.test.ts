import { describe, expect, it } from 'vitest';
import { DOWN_SINCE, MANAGED_BY, ORIGINAL_REPLICAS } from '../../../../domain/lights-out/schedule/names.ts';
import {
  isScaledDown,
  labelValue,
  savedStateOf,
  originalReplicas,
} from '../../../../domain/lights-out/workload/saved-state.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import { annotatedOwner, ownerOf } from '../../../../domain/lights-out/workload/ownership.ts';
import { asleep, contextOf, DUSK, namespaceOf, otherOf, specOf, workloadOf } from '../planned.ts';

const owner = (workload: ReturnType<typeof workloadOf>, ...others: ReturnType<typeof otherOf>[]) =>
  ownerOf(workload, namespaceOf(), contextOf({ others }));
const markedAs = (name: string) =>
  asleep({ annotations: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: name }, labels: {} });

describe('the owner of a workload', () => {
  it('is the schedule that put it to sleep, even where that is younger or suspended', () => {
    const young = otherOf({ createdAt: DUSK, isIdle: true });
    expect(owner(markedAs('other'), young)).toBe('other');
    expect(owner(asleep(), otherOf())).toBe('nights');
  });

  it('is the oldest that selects it, and by name where two are as old', () => {
    const { createdAt } = contextOf();
    expect(owner(workloadOf(), otherOf())).toBe('other');
    expect(owner(workloadOf(), otherOf(), otherOf({ name: 'oldest', createdAt: 0 }))).toBe('oldest');
    expect(owner(workloadOf(), otherOf({ createdAt: createdAt + 1 }))).toBe('nights');
    expect(owner(workloadOf(), otherOf({ name: 'a', createdAt }))).toBe('a');
    expect(owner(workloadOf(), otherOf({ name: 'z', createdAt }))).toBe('nights');
  });

  it('is never one that puts nothing down or does not select it', () => {
    expect(owner(workloadOf(), otherOf({ isIdle: true }))).toBe('nights');
    expect(owner(workloadOf(), otherOf({ spec: specOf({ namespaces: ['team-b'] }) }))).toBe('nights');
    expect(owner(workloadOf(), otherOf({ spec: specOf({ workloadTypes: ['CronJob'] }) }))).toBe('nights');
  });

  it('is the first that selects it where the schedule that put it to sleep is gone', () => {
    expect(owner(markedAs('gone'))).toBe('nights');
    expect(owner(markedAs('gone'), otherOf())).toBe('other');
  });

  it('is told by the label where the annotation was taken away', () => {
    const { annotations } = asleep();
    const workload = asleep({ annotations: { [ORIGINAL_REPLICAS]: annotations[ORIGINAL_REPLICAS] ?? '' } });
    expect(annotatedOwner(workload, contextOf())).toBe('nights');
    expect(annotatedOwner({ ...workload, labels: { [MANAGED_BY]: 'gone' } }, contextOf())).toBeNull();
    expect(annotatedOwner(workloadOf({ labels: { [MANAGED_BY]: 'nights' } }), contextOf())).toBeNull();
  });
});

describe('the annotations of a workload', () => {
  it('name a schedule in a label value that Kubernetes takes, two long names never the same', () => {
    const long = `${'a'.repeat(250)}.b`;
    expect(labelValue('nights')).toBe('nights');
    expect(labelValue('x'.repeat(63))).toBe('x'.repeat(63));
    expect(labelValue(long)).toMatch(/^[a-z0-9](?:[-a-z0-9_.]{0,61}[a-z0-9])$/);
    expect(labelValue(long)).not.toBe(labelValue(`${long}c`));
    expect(labelValue(long)).toBe(labelValue(long));
    // It is a part of the name of a ConfigMap too, where a dash may not follow a dot.
    const dotted = `${'x'.repeat(45)}.${'y'.repeat(50)}`;
    expect(labelValue(dotted)).toMatch(/^x{45}-[0-9a-f]{16}$/);
  });

  it('say what it was, and one replica where they say no number', () => {
    const original = (text: string) =>
      originalReplicas(savedStateOf(workloadOf({ replicas: 0, annotations: { [ORIGINAL_REPLICAS]: text } })));
    expect(['3', '+3', '0', '2147483647'].map(original)).toEqual([3, 3, 0, 2_147_483_647]);
    expect(['invalid', '-3', '1.5', '2147483648', '1e3', ' 3', ''].map(original)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  });

  it('say that it was put to sleep also where somebody emptied the annotation', () => {
    const emptied = { ...asleep().annotations, [ORIGINAL_REPLICAS]: '' };
    const savedState = savedStateOf(asleep({ annotations: emptied }));
    expect([isScaledDown(savedState, 'Deployment'), originalReplicas(savedState)]).toEqual([true, 1]);
    const labels = { ...asleep().labels, [ORIGINAL_REPLICAS]: '3' };
    expect(originalReplicas(savedStateOf(asleep({ annotations: emptied, labels })))).toBe(3);
  });

  it('are absent without an original value', () => {
    expect(isScaledDown(savedStateOf(workloadOf({ annotations: { [MANAGED_BY]: 'nights' } })), 'Deployment')).toBe(
      false,
    );
    expect(savedStateOf(asleep()).since).toBe(DUSK + 5000);
    expect(savedStateOf(asleep({ annotations: { [DOWN_SINCE]: 'once' } })).since).toBeNull();
  });
});

describe('a schedule that is deleted, and another that takes over', () => {
  const taker = otherOf({ name: 'new', takesOver: 'nights' });
  const deleted = (workload: Workload, over: Partial<EvaluationContext>): string => {
    const evaluation = evaluate(workload, namespaceOf(), contextOf({ isRestoringAll: true, ...over }));
    return evaluation.kind === 'keep' ? evaluation.reason : `${evaluation.item.direction} ${evaluation.item.reason}`;
  };

  it('leaves what the other selects as it is, and wakes the rest', () => {
    expect(deleted(asleep(), { others: [taker] })).toBe('OwnedByOther');
    expect(deleted(asleep(), { others: [{ ...taker, spec: specOf({ namespaces: ['team-b'] }) }] })).toBe(
      'Up ScheduleDeleted',
    );
  });

  it('wakes everything where the other puts nothing to sleep, or takes over from a third', () => {
    expect(deleted(asleep(), { others: [{ ...taker, isIdle: true }] })).toBe('Up ScheduleDeleted');
    expect(deleted(asleep(), { others: [{ ...taker, takesOver: 'else' }] })).toBe('Up ScheduleDeleted');
    expect(deleted(asleep(), { others: [otherOf()] })).toBe('Up ScheduleDeleted');
  });

  it('is the new one’s at once, with its number of replicas kept', () => {
    const evaluation = evaluate(asleep(), namespaceOf(), contextOf({ schedule: 'new' }));
    expect(evaluation).toMatchObject({
      kind: 'change',
      item: { direction: 'Down', from: 0, to: 0 },
      saved: { original: '3' },
    });
  });
});
