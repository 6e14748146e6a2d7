import { describe, expect, it } from 'vitest';
import { DOWN_SINCE, MANAGED_BY, ORIGINAL_REPLICAS } from '../../../../domain/lights-out/schedule/names.ts';
import {
  disagreement,
  outdated,
  readRemembered,
  recalled,
  type Remembered,
  rememberedText,
} from '../../../../domain/lights-out/workload/remembered.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import { asleep, changeBy, contextOf, HOUR, NIGHT, ours, workloadOf } from '../planned.ts';

const entry: Remembered = {
  kind: 'Deployment',
  namespace: 'team-a',
  name: 'web',
  original: '3',
  level: 0,
  since: '2026-11-20T18:00:05Z',
};
const context = contextOf({ remembered: new Map([['uid-web', entry]]) });

/** At the replicas of the night, without a mark. */
function bare(over: Partial<Workload> = {}): Workload {
  return workloadOf({ replicas: 0, changed: ours, ...over });
}

describe('an entry of the memory', () => {
  it('is read as it was written, and anything else is no entry', () => {
    expect(readRemembered(rememberedText(entry))).toEqual(entry);
    for (const text of ['', 'null', '[]', '{"kind":"Pod"}', rememberedText({ ...entry, level: -1 }), '{']) {
      expect(readRemembered(text)).toBeNull();
    }
  });

  it('stands for the marks of the same object at the replicas of the night', () => {
    expect(recalled(bare(), context)).toMatchObject({
      isRecalled: true,
      annotations: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'nights', [DOWN_SINCE]: entry.since },
      labels: { [MANAGED_BY]: 'nights' },
    });
  });

  it.each<[string, Workload]>([
    ['the workload has a mark', asleep()],
    ['it has the mark of another schedule', bare({ annotations: { [MANAGED_BY]: 'other' } })],
    ['it is another object of the same name', bare({ uid: 'uid-new' })],
    ['it has other replicas', bare({ replicas: 1 })],
    ['a person wrote its replicas since', bare({ changed: changeBy('kubectl') })],
    ['a person wrote them at an unknown time', bare({ changed: { manager: 'kubectl', at: null, isOnlyIt: true } })],
  ])('says nothing where %s', (_, workload) => {
    expect(recalled(workload, context)).toBe(workload);
  });

  it('counts where a person wrote the replicas before the night, or a machine or GitOps since', () => {
    const before = changeBy('kubectl', NIGHT - 6 * HOUR);
    for (const changed of [before, changeBy('argocd-controller'), changeBy('kube-controller-manager'), null]) {
      expect(recalled(bare({ changed }), context)).toMatchObject({ isRecalled: true });
    }
  });

  it('is compared with the mark, and where they differ the mark is followed', () => {
    expect(disagreement(asleep(), context)).toBeNull();
    const five = asleep({ annotations: { ...asleep().annotations, [ORIGINAL_REPLICAS]: '5' } });
    expect(disagreement(five, context)).toEqual({
      reason: 'MarkDiffers',
      detail: "its mark says 5 replicas, and Headroom's memory 3 replicas. Headroom follows the mark",
    });
    expect(disagreement(recalled(bare(), context), context)).toMatchObject({ reason: 'MarkLost' });
    expect(disagreement(bare({ changed: changeBy('kubectl') }), context)).toEqual({
      reason: 'MarkLost',
      detail:
        'its marks are gone, and kubectl wrote it since. Headroom leaves it as it is, and not as its memory says: 3 replicas',
    });
  });

  it('is outdated once its workload is gone, or awake without marks', () => {
    const memory = new Map([['uid-web', entry]]);
    expect(outdated(memory, [])).toEqual(['uid-web']);
    expect(outdated(memory, [workloadOf({ replicas: 3 })])).toEqual(['uid-web']);
    expect(outdated(memory, [bare()])).toEqual([]);
    expect(outdated(memory, [asleep({ replicas: 3 })])).toEqual([]);
  });
});
