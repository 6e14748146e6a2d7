import { expect, it } from 'vitest';
import { Owners } from '../../../activities/lights-out/owners.ts';
import { withOwnersAutoscalers } from '../../../activities/lights-out/read-scaler.ts';
import { MANAGED_BY, ORIGINAL_BOUNDS, SCALED_OWNER } from '../../../domain/lights-out/schedule/names.ts';
import { evaluate } from '../../../domain/lights-out/workload/evaluate.ts';
import type { Autoscaler, Workload } from '../../../domain/lights-out/workload/workload.ts';
import {
  autoscaler,
  asleep,
  byWidget,
  contextOf,
  namespaceOf,
  ours,
  specOf,
  textOfEvaluation,
  workloadOf,
} from '../../domain/lights-out/planned.ts';

const context = contextOf({ spec: specOf({ controllerOwned: 'scale' }) });

/** Workloads of the widget, which has this number, as the schedule sees them. */
function ofWidget(replicas: number, workloads: readonly Workload[], autoscalers: readonly Autoscaler[] = []) {
  const { owner, controller } = byWidget({ replicas, generation: 5, changed: ours });
  if (owner === undefined || controller === undefined) throw new Error('expected an owner');
  const owners = new Owners();
  owners.follow({ ...owner, path: ['server', 'size'] });
  owners.put({ ...owner, namespace: 'team-a' });
  const attached = owners.attachedAll(
    workloads.map((workload) => ({ controller: { ...controller, uid: owner.uid }, ...workload })),
  );
  return attached.map((workload) => withOwnersAutoscalers(workload, () => autoscalers));
}

it('the autoscaler of an owner is held for the workload that sleeps by it, whatever other workloads it has', () => {
  const sleeping = asleep();
  const annotations = { ...sleeping.annotations, [SCALED_OWNER]: 'widgets.example.com/web@4' };
  const held = autoscaler(1, 9, { [MANAGED_BY]: 'nights', [ORIGINAL_BOUNDS]: '0-9' });
  const proxy = { name: 'web-proxy', uid: 'uid-proxy' };
  const others = [
    workloadOf({ ...proxy, replicas: 1 }),
    workloadOf({ ...proxy, replicas: 0 }),
    workloadOf({ ...proxy, replicas: 0, annotations: { 'lightsout.techsupport.mk/exclude': 'true' } }),
  ];
  for (const other of others) {
    const texts = ofWidget(0, [{ ...sleeping, annotations }, other], [held]).map((workload) => {
      const evaluation = evaluate(workload, namespaceOf(), context);
      return evaluation.kind === 'change' ? `${textOfEvaluation(evaluation)} ${workload.name}` : 'kept';
    });
    expect(texts).toEqual(['kept', 'kept']);
  }
});

it('another object of the name, or of another kind, is no owner of a workload, whatever its mark says', () => {
  const controller = { group: 'example.com', kind: 'Widget', name: 'web', uid: 'uid-of-before' };
  const annotations = { [SCALED_OWNER]: 'widgets.example.com/web@4' };
  const others = [
    workloadOf({ controller }),
    workloadOf({ controller, annotations }),
    workloadOf({
      controller: { ...controller, group: '', kind: 'ConfigMap', uid: 'uid-of-a-config-map' },
      annotations,
    }),
  ];
  expect(ofWidget(3, others).map(({ owner }) => owner)).toEqual([undefined, undefined, undefined]);
  expect(ofWidget(3, [workloadOf()]).map(({ owner }) => owner?.name)).toEqual(['web']);
});
