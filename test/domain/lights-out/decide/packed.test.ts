import { describe, expect, it } from 'vitest';
import { packItems, unpackItem, unpackItems } from '../../../../domain/lights-out/decide/packed.ts';
import { itemOf } from '../planned.ts';

const job = { workload: { kind: 'CronJob', namespace: 'team-b', name: 'report.v2' }, from: null, to: null } as const;
const scalers = [
  { kind: 'HorizontalPodAutoscaler', name: 'web' },
  { kind: 'ScaledObject', name: 'of-web' },
] as const;

describe('a plan that travels', () => {
  it('comes out as it went in, in its order', () => {
    const items = [
      itemOf('web', { autoscalers: scalers }),
      itemOf('api', { from: 2, to: 1 }),
      { ...itemOf('report'), ...job },
      itemOf('api', { reason: 'DownAgain', manager: 'argocd-controller' }),
      itemOf('db', { reason: 'DownAgain', manager: 'helm' }),
      itemOf('last', { direction: 'Up', reason: 'Up', from: 0, to: 3, priority: -5 }),
    ];
    const groups = packItems(items);
    expect(groups).toMatchObject([
      {
        direction: 'Down',
        reason: 'Down',
        priority: 0,
        workloads: [
          'Deployment team-a/web 3 -> 0 (HorizontalPodAutoscaler web, ScaledObject of-web)',
          'Deployment team-a/api 2 -> 1',
          'CronJob team-b/report.v2',
        ],
      },
      { reason: 'DownAgain', manager: 'argocd-controller' },
      { reason: 'DownAgain', manager: 'helm' },
      { direction: 'Up', priority: -5 },
    ]);
    expect(unpackItems(JSON.parse(JSON.stringify(groups)) as typeof groups)).toEqual(items);
    expect(packItems([])).toEqual([]);
  });

  it.each(['', 'Deployment', 'Pod team-a/web', 'Deployment team-a/web 3 -> 0 (Pod web)'])('is never "%s"', (text) => {
    expect(() => unpackItem(text)).toThrow(/names no (workload|autoscaler) of a plan/);
  });
});
