import { expect, it } from 'vitest';
import { Owners } from '../../../activities/lights-out/owners.ts';
import { SCALED_OWNER } from '../../../domain/lights-out/schedule/names.ts';
import type { Workload } from '../../../domain/lights-out/workload/workload.ts';
import { byWidget, ours, workloadOf } from '../../domain/lights-out/planned.ts';

/** Workloads of the widget, which has this number, as the schedule sees them. */
function ofWidget(replicas: number, workloads: readonly Workload[]) {
  const { owner, controller } = byWidget({ replicas, generation: 5, changed: ours });
  if (owner === undefined || controller === undefined) throw new Error('expected an owner');
  const owners = new Owners();
  owners.follow({ ...owner, path: ['server', 'size'] });
  owners.put({ ...owner, namespace: 'team-a' });
  return owners.attachedAll(
    workloads.map((workload) => ({ controller: { ...controller, uid: owner.uid }, ...workload })),
  );
}

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
