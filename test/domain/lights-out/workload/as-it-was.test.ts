import { describe, expect, it } from 'vitest';
import {
  DOWN_SINCE,
  KEDA_PAUSED,
  MANAGED_BY,
  ORIGINAL_PAUSED,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
} from '../../../../domain/lights-out/schedule/names.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import { recalled, rememberedOf } from '../../../../domain/lights-out/workload/remembered.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  changeBy,
  contextOf,
  HOUR,
  namespaceOf,
  NIGHT,
  ours,
  specOf,
  suspended,
  workloadOf,
} from '../planned.ts';

const up = { period: { state: 'Up', since: NIGHT }, now: NIGHT + HOUR } as const;

/** The patch of the workload; undefined where nothing is written. */
function patchOf(workload: Workload, over: Partial<EvaluationContext> = {}): unknown {
  const evaluation = evaluate(workload, namespaceOf(), contextOf(over));
  return evaluation.kind === 'keep' ? undefined : evaluation.writes[0]?.patch;
}

describe('a ScaledJob whose annotation says that it is not paused', () => {
  const job = (annotations: Readonly<Record<string, string>>) => workloadOf({ kind: 'ScaledJob', annotations });
  const paused = (annotations: Readonly<Record<string, string>>) => {
    const { annotations: marks } = suspended();
    return suspended({ kind: 'ScaledJob', annotations: { ...marks, [KEDA_PAUSED]: 'true', ...annotations } });
  };

  it.each(['false', 'False', '0'])('has that marked for the night, and says "%s" again after it', (text) => {
    expect(patchOf(job({ [KEDA_PAUSED]: text }))).toMatchObject({
      metadata: { annotations: { [KEDA_PAUSED]: 'true', [ORIGINAL_PAUSED]: text, [ORIGINAL_SUSPEND]: 'lightsout' } },
    });
    expect(patchOf(paused({ [ORIGINAL_PAUSED]: text }), up)).toEqual({
      metadata: {
        annotations: {
          [KEDA_PAUSED]: text,
          [ORIGINAL_PAUSED]: null,
          [ORIGINAL_SUSPEND]: null,
          [MANAGED_BY]: null,
          [DOWN_SINCE]: null,
        },
        labels: { [MANAGED_BY]: null },
      },
    });
  });

  it('has no mark where it had no annotation, and one that is left over is replaced', () => {
    const { metadata } = patchOf(job({})) as { readonly metadata: Pick<Workload, 'annotations'> };
    expect(metadata.annotations).not.toHaveProperty([ORIGINAL_PAUSED]);
    expect(patchOf(job({ [ORIGINAL_PAUSED]: 'false' }))).toMatchObject({
      metadata: { annotations: { [ORIGINAL_PAUSED]: null } },
    });
    expect(patchOf(job({ [ORIGINAL_PAUSED]: 'false', [KEDA_PAUSED]: '0' }))).toMatchObject({
      metadata: { annotations: { [ORIGINAL_PAUSED]: '0' } },
    });
  });

  it('runs again after a night in which somebody changed the mark, and keeps what somebody wrote in it', () => {
    expect(patchOf(paused({ [ORIGINAL_PAUSED]: 'true' }), up)).toMatchObject({
      metadata: { annotations: { [KEDA_PAUSED]: null, [ORIGINAL_PAUSED]: null } },
    });
    const resumed = { ...paused({ [ORIGINAL_PAUSED]: 'false', [KEDA_PAUSED]: '0' }), isSuspended: false };
    const byPerson = { ...resumed, changed: changeBy('kubectl-edit') };
    const { metadata } = patchOf(byPerson, up) as { readonly metadata: Pick<Workload, 'annotations'> };
    expect(metadata.annotations).toMatchObject({ [ORIGINAL_PAUSED]: null });
    expect(metadata.annotations).not.toHaveProperty([KEDA_PAUSED]);
    // GitOps wrote it, and it is put to sleep again: what Git has comes back.
    const byGit = { ...resumed, changed: changeBy('argocd-controller') };
    expect(patchOf(byGit)).toMatchObject({
      metadata: { annotations: { [KEDA_PAUSED]: 'true', [ORIGINAL_PAUSED]: '0' } },
    });
  });
});

describe('a Rollout without a number of replicas', () => {
  const rollout = (over: Partial<Workload> = {}) =>
    workloadOf({ kind: 'Rollout', replicas: 1, isUnwritten: true, ...over });
  const marks = (original: string) => ({ ...asleep().annotations, [ORIGINAL_REPLICAS]: original });
  const sleeping = (over: Partial<Workload> = {}) =>
    asleep({
      kind: 'Rollout',
      annotations: marks(''),
      labels: { ...asleep().labels, [ORIGINAL_REPLICAS]: '' },
      ...over,
    });

  it('has none again after the night', () => {
    expect(patchOf(rollout())).toMatchObject({
      metadata: { annotations: { [ORIGINAL_REPLICAS]: '' }, labels: { [ORIGINAL_REPLICAS]: '' } },
      spec: { replicas: 0 },
    });
    expect(patchOf(sleeping(), up)).toMatchObject({ spec: { replicas: null } });
    expect(evaluate(sleeping(), namespaceOf(), contextOf(up))).toMatchObject({ item: { from: 0, to: 1 } });
    expect(patchOf(sleeping())).toBeUndefined();
  });

  it('has none again where the schedule kept one replica at the end of the night, and one that somebody wrote stays', () => {
    const kept = sleeping({ replicas: 1 });
    expect(patchOf(sleeping(), { spec: specOf({ downscaleReplicas: 1 }) })).toMatchObject({ spec: { replicas: 1 } });
    expect(patchOf(kept, up)).toMatchObject({
      metadata: { annotations: { [ORIGINAL_REPLICAS]: null } },
      spec: { replicas: null },
    });
    expect(patchOf({ ...kept, changed: changeBy('kubectl') }, up)).not.toHaveProperty('spec');
    expect(patchOf(sleeping({ replicas: 1, isUnwritten: true, changed: null }), up)).not.toHaveProperty('spec');
  });

  it('keeps a greater number that somebody gave it, and one that had a number gets that', () => {
    const scaled = sleeping({ replicas: 2, changed: changeBy('kubectl') });
    expect(patchOf(scaled, up)).not.toHaveProperty('spec');
    expect(patchOf(sleeping({ annotations: marks('1') }), up)).toMatchObject({ spec: { replicas: 1 } });
    expect(patchOf(workloadOf({ kind: 'Rollout', replicas: 1 }))).toMatchObject({
      metadata: { annotations: { [ORIGINAL_REPLICAS]: '1' } },
    });
    // Where an earlier tool left an empty mark, nobody knows what was there.
    expect(patchOf(asleep({ annotations: marks('') }), up)).toMatchObject({ spec: { replicas: 1 } });
  });

  it('is remembered so outside of it as well', () => {
    const evaluation = evaluate(rollout(), namespaceOf(), contextOf());
    if (evaluation.kind === 'keep') throw new Error(evaluation.reason);
    const entry = rememberedOf('uid-web', evaluation);
    expect(entry?.[1]).toMatchObject({ original: '', level: 0 });
    const lost = workloadOf({ kind: 'Rollout', replicas: 0, changed: ours });
    const remembered = new Map(entry === null ? [] : [entry]);
    expect(patchOf(recalled(lost, contextOf({ remembered })), up)).toMatchObject({ spec: { replicas: null } });
  });
});
