import { describe, expect, it } from 'vitest';
import { countsOf, surveyWorkloads } from '../../../../domain/lights-out/decide/survey.ts';
import { EXCLUDE_UNTIL, WAKE_UNTIL } from '../../../../domain/lights-out/schedule/names.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import { asleep, contextOf, namespaceOf, otherOf, scaledObject, specOf, suspended, workloadOf } from '../planned.ts';

const namespaces = [namespaceOf('team-a'), namespaceOf('left-out'), namespaceOf('kube-system'), namespaceOf('shop')];

function surveyed(workloads: readonly Workload[], over: Partial<EvaluationContext> = {}): readonly string[] {
  return surveyWorkloads(contextOf(over), namespaces, workloads).map(
    ({ workload, does, reason, from, to, autoscalers }) =>
      [
        `${workload.namespace}/${workload.name} ${does}: ${reason}`,
        ...(from === null ? [] : [`${from} -> ${to}`]),
        ...autoscalers,
      ].join(' '),
  );
}

describe('a survey', () => {
  it('has every workload once, with what becomes of it and why', () => {
    const spec = specOf({
      namespaces: ['team-a', 'left-out'],
      excludeNamespaces: ['left-out'],
      workloadTypes: ['Deployment', 'CronJob'],
      excludeLabels: { matchLabels: { tier: 'edge' } },
    });
    const workloads = [
      workloadOf({ name: 'zero', replicas: 0 }),
      workloadOf({ name: 'web' }),
      workloadOf({ name: 'held', autoscalers: [scaledObject()] }),
      workloadOf({ name: 'edge', labels: { tier: 'edge' } }),
      workloadOf({ name: 'db', kind: 'StatefulSet' }),
      workloadOf({ name: 'dns', namespace: 'kube-system' }),
      workloadOf({ name: 'shop', namespace: 'shop' }),
      workloadOf({ name: 'late', annotations: { [WAKE_UNTIL]: '2099-01-01T00:00:00Z' } }),
      workloadOf({ name: 'kept', annotations: { [EXCLUDE_UNTIL]: '2099-01-01T00:00:00Z' } }),
      workloadOf({ name: 'going', isDeleting: true }),
      workloadOf({ name: 'gate', labels: { 'app.kubernetes.io/name': 'cert-manager' } }),
      workloadOf({ name: 'pg', controller: { group: 'postgresql.cnpg.io', kind: 'Cluster', name: 'main' } }),
      workloadOf({ name: 'left', namespace: 'left-out' }),
      asleep({ name: 'down' }),
      suspended({ name: 'job' }),
    ];
    const all = surveyed(workloads, { spec });
    expect(all).toHaveLength(workloads.length);
    expect(all).toMatchInlineSnapshot(`
      [
        "team-a/held sleeps: Down 3 -> 0 ScaledObject web",
        "team-a/web sleeps: Down 3 -> 0",
        "team-a/job stays: AsDesired",
        "team-a/down stays: AsDesired",
        "team-a/gate stays: Protected",
        "team-a/going stays: Deleting",
        "team-a/kept stays: Excluded",
        "team-a/late stays: Awake",
        "team-a/pg stays: ControllerOwned",
        "team-a/zero stays: AtRest",
        "kube-system/dns stays: NamespaceProtected",
        "left-out/left stays: NamespaceExcluded",
        "shop/shop stays: NamespaceNotSelected",
        "team-a/edge stays: LabelExcluded",
        "team-a/db stays: KindNotSelected",
      ]
    `);
  });

  it('says why a part of the cluster and a workload of an operator stay up', () => {
    const details = surveyWorkloads(contextOf(), namespaces, [
      workloadOf({ name: 'gate', labels: { 'app.kubernetes.io/name': 'cert-manager' } }),
      workloadOf({ name: 'pg', controller: { group: 'postgresql.cnpg.io', kind: 'Cluster', name: 'main' } }),
    ]).map(({ detail }) => detail);
    expect(details).toEqual([
      'it is a part of cert-manager, which no schedule puts to sleep',
      expect.stringMatching(/^it belongs to the Cluster main, whose controller sets its replicas/),
    ]);
  });

  it('says of a workload that lost its marks what the memory has of it', () => {
    const entry = {
      kind: 'Deployment',
      namespace: 'team-a',
      name: 'web',
      original: '3',
      level: 0,
      since: '2026-11-20T18:00:00Z',
    } as const;
    const lost = workloadOf({ name: 'web', replicas: 0 });
    const [line] = surveyWorkloads(contextOf({ remembered: new Map([[lost.uid, entry]]) }), namespaces, [lost]);
    expect(line).toMatchObject({ does: 'stays', reason: 'MarkLost', detail: expect.stringContaining('3 replicas') });
  });

  it('names the schedule that a workload belongs to', () => {
    const [line] = surveyWorkloads(contextOf({ others: [otherOf({ createdAt: 0 })] }), namespaces, [workloadOf()]);
    expect(line).toMatchObject({ does: 'stays', reason: 'OwnedByOther', detail: expect.stringContaining('is older') });
  });

  it('counts what there is of each, what is touched first', () => {
    const all = surveyWorkloads(contextOf(), namespaces, [
      workloadOf({ name: 'zero', replicas: 0 }),
      workloadOf({ name: 'web' }),
      workloadOf({ name: 'nil', replicas: 0 }),
    ]);
    expect(countsOf(all)).toEqual([
      { does: 'sleeps', reason: 'Down', count: 1 },
      { does: 'stays', reason: 'AtRest', count: 2 },
    ]);
  });
});
