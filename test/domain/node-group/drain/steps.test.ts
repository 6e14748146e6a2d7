import { describe, expect, it } from 'vitest';
import {
  afterDeleted,
  afterEvicted,
  afterFailure,
  afterMarked,
  afterReplacement,
  afterStop,
  type DrainOrder,
  type DrainStep,
  firstStep,
  shownStep,
} from '../../../../domain/node-group/drain/steps.ts';

const order: DrainOrder = {
  target: { cluster: 'test', group: 'pool', node: 'pool-1', uid: 'uid-1' },
  removal: { machine: 'machine-1', reason: 'Underutilized', detail: 'less than half of it is used' },
  replacement: null,
};
const evicting = firstStep(order);
const deleting: DrainStep = { kind: 'deleting', takenBack: 0 };

function counted(step: DrainStep): { readonly takenBack?: number } {
  return step.kind === 'evicting' || step.kind === 'deleting' ? step : {};
}

describe('the steps of a drain', () => {
  it('are evictions and the deletion of the machine', () => {
    expect(evicting.kind).toBe('evicting');
    expect(afterEvicted({ kind: 'empty' })).toEqual(deleting);
    expect(afterDeleted(order, false)).toEqual({
      kind: 'ended',
      ending: {
        outcome: 'drained',
        reason: 'Drained',
        pdb: null,
        detail: 'pool-1 was drained, and its machine machine-1 deleted',
      },
    });
  });

  it('begin with the cordon where a replacement must be ready first', () => {
    expect(firstStep({ replacement: 'machine-2' })).toEqual({ kind: 'marking' });
    expect(afterMarked({ kind: 'marked' })).toEqual({ kind: 'awaitingReplacement' });
    expect(afterReplacement({ kind: 'ready' })).toEqual(evicting);
  });

  it('keep what refuses evictions, for people and for the next look', () => {
    const progress = { at: 1, left: 1, waiting: 1 };
    const step = afterEvicted({ kind: 'refused', by: ['shop/web'], progress, detail: 'shop/web refuses' });
    expect(step).toMatchObject({ kind: 'evicting', progress, refusedBy: ['shop/web'], detail: 'shop/web refuses' });
    expect(shownStep(step, order)).toMatchObject({
      phase: 'Draining',
      reason: 'EvictionsRefused',
      detail: 'shop/web refuses',
    });
  });

  it('count how often the node was empty, and its machine could not go', () => {
    const progress = { at: 1, left: 1, waiting: 1 };
    let step = evicting;
    for (const takenBack of [1, 2, 3]) {
      const refused = afterEvicted(
        { kind: 'refused', by: ['shop/web'], progress, detail: 'it refuses' },
        counted(step),
      );
      step = afterDeleted(order, true, counted(afterEvicted({ kind: 'empty' }, counted(refused))));
      // It is looked at anew, as if it had never been empty.
      expect(step).toEqual({ ...evicting, takenBack });
    }
  });

  it.each<[string, DrainStep, object]>([
    [
      'a budget that refuses for too long',
      afterEvicted({ kind: 'blocked', reason: 'PodDisruptionBudget', pdb: 'shop/web', detail: 'blocked' }),
      { outcome: 'blocked', reason: 'PodDisruptionBudget', pdb: 'shop/web', detail: 'blocked' },
    ],
    [
      'a replacement that failed',
      afterReplacement({ kind: 'failed', detail: 'it failed' }),
      { outcome: 'blocked', reason: 'ReplacementFailed', pdb: null, detail: 'it failed' },
    ],
    [
      'a write in vain',
      afterFailure('refused'),
      { outcome: 'blocked', reason: 'WriteFailed', pdb: null, detail: 'refused' },
    ],
    [
      'a person who uncordons the node',
      afterEvicted({ kind: 'uncordoned' }),
      { outcome: 'cancelled', reason: 'Cancelled', pdb: null, detail: 'somebody made the node schedulable again' },
    ],
    [
      'the marks of another drain',
      afterMarked({ kind: 'foreign', drain: 'node-drain/other/uid-1' }),
      {
        outcome: 'blocked',
        reason: 'OtherDrain',
        pdb: null,
        detail: 'the node has the marks of another drain: node-drain/other/uid-1',
      },
    ],
  ])('are undone by %s', (_, step, ending) => {
    expect(step).toEqual({ kind: 'undoing', ending });
  });

  it('end at once when the node is gone, as its marks are too', () => {
    expect(afterEvicted({ kind: 'nodeGone' })).toMatchObject({ kind: 'ended', ending: { outcome: 'nodeGone' } });
  });

  it.each<DrainStep>([{ kind: 'marking' }, { kind: 'awaitingReplacement' }, evicting])(
    'are undone where somebody stops them at $kind',
    (step) => {
      const ending = { outcome: 'cancelled', reason: 'Cancelled', pdb: null, detail: 'stopped by alice' };
      expect(afterStop(step, 'stopped by alice')).toEqual({ kind: 'undoing', ending });
    },
  );

  it('only go forward once the deletion of the machine was asked for, and are not undone twice', () => {
    expect(afterStop(deleting, 'stopped by alice')).toBeNull();
    expect(afterStop(afterFailure('refused'), 'stopped by alice')).toBeNull();
    expect(afterStop(afterDeleted(order, false), 'stopped by alice')).toBeNull();
  });
});
