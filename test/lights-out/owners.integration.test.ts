/** Workloads of an operator that sleep by the number of their owner, with an operator that puts right whatever else is written. */
import { CustomObjectsApi, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { findAsleep, wakeAll } from '../../activities/lights-out/restore.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KubernetesGate, openKubernetesGate } from '../kernel/servers/kubernetes-gate.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { accessOf } from '../kernel/stack/access.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, merge, startLightsOutPlane, UP } from './cluster.ts';
import { WIDGET_DEFINITION, Widgets, WIDGETS } from './widgets.ts';

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
let widgets: Widgets;
let gate: KubernetesGate;
let worker: SupervisedProcess;
beforeAll(async () => {
  plane = await startLightsOutPlane({ scaledOwners: [WIDGET_DEFINITION] });
  cluster = new LightsOutCluster(plane);
  widgets = new Widgets(plane.plane.adminKubeconfig);
  await widgets.define();
  widgets.start();
  gate = await openKubernetesGate(plane.plane);
  [worker] = await Promise.all([nextWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await widgets?.stop();
  await plane?.stop();
  await gate?.stop();
});

async function nextWorker(): Promise<SupervisedProcess> {
  return await plane.startWorker({ KUBECONFIG: await gate.kubeconfigFor('headroom-worker') });
}

/** A namespace with one widget, whose Deployment is there. */
async function widget(name: string, size: number, spec: Parameters<Widgets['create']>[3] = {}): Promise<void> {
  await cluster.namespace(name);
  await widgets.create(name, 'web', size, spec);
  await eventually('the operator made the Deployment', async () => (await cluster.replicas(name, 'web')) !== undefined);
}

async function bothAre(name: string, replicas: number): Promise<void> {
  await eventually(`owner and workload have ${replicas}`, async () => {
    return (await widgets.size(name, 'web')) === replicas && (await cluster.replicas(name, 'web')) === replicas;
  });
}

const scaling = { controllerOwned: 'scale' } as const;

describe.concurrent('a workload whose owner has a scale subresource', () => {
  it('sleeps and wakes by the number of its owner, and its operator has nothing to put right', async () => {
    const name = 'owned';
    await widget(name, 3);
    await cluster.asleep(name, { namespaces: [name], ...scaling, downscaleReplicas: 1 });
    await bothAre(name, 1);
    await cluster.patchSchedule(name, { spec: { downscaleReplicas: 0 } });
    await bothAre(name, 0);
    await cluster.reaches(name, 'Down', 'AsScheduled');
    const { annotations } = (await cluster.readDeployment(name, 'web')).metadata ?? {};
    expect(annotations).toMatchObject({
      'lightsout.techsupport.mk/original-replicas': '3',
      'lightsout.techsupport.mk/managed-by': name,
    });
    expect(annotations?.['lightsout.techsupport.mk/scaled-owner']).toMatch(/^widgets\.example\.com\/web@\d+$/);
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await bothAre(name, 3);
    expect(await cluster.savedState(name, 'web')).toEqual({});
    expect(widgets.fought.filter((one) => one.startsWith(`${name}/`))).toEqual([]);
  });

  it('is left alone and named where its owner has another number, or several workloads have that number', async () => {
    await widget('shards', 2, { podsEach: 3 });
    await widget('twins', 2, { twins: 1 });
    for (const name of ['shards', 'twins']) await cluster.asleep(name, { namespaces: [name], ...scaling });
    const [differs, shared] = [
      /^Deployment shards\/web: it is left alone: its owner, the Widget web, has 2, and it has 6 replicas/,
      /^Deployment twins\/web: it is left alone: its owner, the Widget web, has other workloads with the same number/,
    ];
    expect(await cluster.factMatching('shards', differs)).toMatch(differs);
    expect(await cluster.factMatching('twins', shared)).toMatch(shared);
    expect(await cluster.eventMatching('shards', /^OwnerUnclear: Deployment shards\/web/)).toMatch(/OwnerUnclear/);
    expect(await Promise.all(['shards', 'twins'].map((name) => widgets.size(name, 'web')))).toEqual([2, 2]);
    expect(await cluster.replicas('shards', 'web')).toBe(6);
    expect((await cluster.readSchedule('twins')).status?.scope?.leftAlone).toEqual([
      { reason: 'OwnerUnclear', workloads: 2 },
    ]);
  });

  it('is left as a person sets the number of its owner at night, and keeps the greater one in the morning', async () => {
    const name = 'persons';
    await widget(name, 3);
    await cluster.asleep(name, { namespaces: [name], ...scaling });
    await bothAre(name, 0);
    await widgets.scale(name, 'web', 2);
    // Of a write through the scale subresource the API server does not say whose it was.
    expect(
      await cluster.eventMatching(name, /^KeptUp: Deployment persons\/web: somebody unknown gave it 2 replicas/),
    ).toMatch(/leaves it until the schedule wakes it/);
    await bothAre(name, 2);
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await bothAre(name, 3);
  });

  it('is put to sleep again where GitOps sets the number of its owner', async () => {
    const name = 'gitops';
    await widget(name, 3);
    await cluster.asleep(name, { namespaces: [name], ...scaling });
    await bothAre(name, 0);
    await widgets.patch(name, 'web', { server: { size: 3 } }, 'argocd-controller');
    await cluster.eventMatching(name, /^PutDownAgain: Deployment gitops\/web was scaled up by argocd-controller/);
    await bothAre(name, 0);
    expect(await cluster.savedState(name, 'web')).toMatchObject({ 'original-replicas': '3' });
  });

  it('is woken by a deletion, also where the operator has deleted it meanwhile, or has taken its marks off', async () => {
    const names = ['goes', 'stripped'];
    await widget('goes', 2, { deletesAtZero: true });
    await widget('stripped', 2);
    for (const name of names) await cluster.asleep(name, { namespaces: [name], ...scaling });
    await eventually('the operator deleted it', async () => {
      return (await cluster.apps.listNamespacedDeployment({ namespace: 'goes' })).items.length === 0;
    });
    await cluster.patchDeployment('stripped', 'web', { metadata: { annotations: null, labels: null } });
    for (const name of names) await cluster.deleteSchedule(name);
    for (const name of names) await eventually('the schedule is gone', async () => await cluster.scheduleIsGone(name));
    for (const name of names) await bothAre(name, 2);
  });

  it('is woken by break glass, from the marks or the memory, and left until the morning', async () => {
    const name = 'glass';
    await widget(name, 2);
    await cluster.asleep(name, { namespaces: [name], ...scaling });
    await bothAre(name, 0);
    await cluster.patchDeployment(name, 'web', { metadata: { annotations: null, labels: null } });
    const kubernetes = connectKubernetes(accessOf(plane.plane.adminKubeconfig));
    const options = { kubernetes, systemNamespace: 'namespace-resizer-system', now: Date.now() };
    const { sleepers } = await findAsleep(options, name);
    expect(sleepers.map(({ item, isRecalled }) => [item.owner, item.to, isRecalled])).toEqual([
      ['widgets.example.com/web', 2, true],
    ]);
    expect((await wakeAll(options, sleepers)).map(({ failure }) => failure)).toEqual([null]);
    await bothAre(name, 2);
    await cluster.eventMatching(name, /^KeptUp: Deployment glass\/web: /);
    expect(await widgets.size(name, 'web')).toBe(2);
  });

  it('is woken by break glass whatever somebody has written as the mark of another workload', async () => {
    const name = 'forged';
    await widget(name, 2);
    await cluster.asleep(name, { namespaces: [name], ...scaling });
    await bothAre(name, 0);
    const of = { apiVersion: 'v1', kind: 'ConfigMap', name: 'any', controller: true };
    const { metadata } = await cluster.core.createNamespacedConfigMap({
      namespace: name,
      body: { metadata: { name: of.name } },
    });
    await cluster.deployment(name, 'other', 1, {
      annotations: {
        'lightsout.techsupport.mk/scaled-owner': 'secrets.example.net/any@1',
        'lightsout.techsupport.mk/original-replicas': '9',
        'lightsout.techsupport.mk/managed-by': name,
      },
      ownerReferences: [{ ...of, uid: metadata?.uid ?? '' }],
    });
    // Somebody who may not read every definition, as the worker.
    const kubernetes = connectKubernetes(accessOf(plane.plane.kubeconfigFor('headroom-worker')));
    const options = { kubernetes, systemNamespace: 'namespace-resizer-system', now: Date.now() };
    const { sleepers } = await findAsleep(options, name);
    const results = (await wakeAll(options, sleepers)).map(({ sleeper: { item }, failure }) => [item.owner, failure]);
    expect(results).toContainEqual(['widgets.example.com/web', null]);
    expect(results).toContainEqual([undefined, expect.stringContaining('secrets.example.net')]);
    await bothAre(name, 2);
    expect(await cluster.replicas(name, 'other')).toBe(1);
  });

  it('is named where its operator does not follow', async () => {
    const name = 'lags';
    await widget(name, 2);
    await widgets.patch(name, 'web', { isIgnored: true });
    await cluster.schedule(name, { namespaces: [name], ...scaling, ...DOWN });
    const lags =
      /^Deployment lags\/web: its owner, the Widget web, has 0, and it still has 2 replicas: the operator has not/;
    expect(await cluster.factMatching(name, lags)).toMatch(lags);
    await widgets.patch(name, 'web', { isIgnored: false });
    await bothAre(name, 0);
  });

  it('with an autoscaler of its owner, which may not wake it', async () => {
    const name = 'scaled';
    await widget(name, 4);
    const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'web' };
    await cluster.autoscaling.createNamespacedHorizontalPodAutoscaler({
      namespace: name,
      body: { metadata: { name: 'web' }, spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 9 } },
    });
    await cluster.asleep(name, { namespaces: [name], ...scaling, downscaleReplicas: 1 });
    await bothAre(name, 1);
    expect((await cluster.readHorizontalScaler(name, 'web')).spec).toMatchObject({ minReplicas: 1, maxReplicas: 1 });
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await bothAre(name, 4);
    expect((await cluster.readHorizontalScaler(name, 'web')).spec).toMatchObject({ minReplicas: 2, maxReplicas: 9 });
  });
});

describe('where the worker lacks the right', () => {
  const rbac = () => accessOf(plane.plane.adminKubeconfig).makeApiClient(RbacAuthorizationV1Api);

  it('nothing is lost, it is said, and it is done once the right is there', async () => {
    const name = 'denied';
    await widget(name, 2);
    const role = await rbac().readClusterRole({ name: 'headroom-worker-lights-out' });
    const rules = role.rules?.filter(({ resources = [] }) => !resources.includes('widgets/scale'));
    await rbac().patchClusterRole({ name: 'headroom-worker-lights-out', body: { rules } }, merge);
    const may = async (): Promise<boolean> =>
      await workersWrite(name, { spec: { replicas: 2 } }, 'scale').then(
        () => true,
        () => false,
      );
    await eventually('the right is gone', async () => !(await may()));
    await cluster.schedule(name, { namespaces: [name], ...scaling, ...DOWN });
    const refused =
      /False.*Deployment denied\/web: widgets\.example\.com "web" is forbidden: .*cannot patch resource "widgets\/scale"/;
    await eventually('Ready says it', async () => refused.test(await cluster.ready(name)));
    expect(await cluster.eventMatching(name, /^ScalingFailed: /)).toMatch(/widgets\/scale/);
    expect([await widgets.size(name, 'web'), await cluster.replicas(name, 'web')]).toEqual([2, 2]);
    await rbac().patchClusterRole({ name: 'headroom-worker-lights-out', body: { rules: role.rules } }, merge);
    await bothAre(name, 0);
    await cluster.reaches(name, 'Down', 'AsScheduled');
  });
});

describe('where the definition loses its scale subresource at night', () => {
  it('nothing is lost, by break glass and in the morning, it is said, and it is done once the definition has it again', async () => {
    const name = 'unscaled';
    await widget(name, 2);
    await cluster.asleep(name, { namespaces: [name], ...scaling });
    await bothAre(name, 0);
    await widgets.offerScale(false);
    const kubernetes = connectKubernetes(accessOf(plane.plane.adminKubeconfig));
    const options = { kubernetes, systemNamespace: 'namespace-resizer-system', now: Date.now() };
    const { sleepers } = await findAsleep(options, name);
    expect((await wakeAll(options, sleepers)).map(({ failure }) => failure)).toEqual([
      'the number of its owner web cannot be set: widgets.example.com has no scale subresource any more',
    ]);
    await cluster.patchSchedule(name, { spec: UP });
    const said =
      /False.*Deployment unscaled\/web: the number of its owner web cannot be set: widgets\.example\.com has no/;
    await eventually('Ready says it', async () => said.test(await cluster.ready(name)), 180_000);
    expect(await cluster.savedState(name, 'web')).toMatchObject({ 'original-replicas': '2' });
    await widgets.offerScale(true);
    await eventually('it is awake', async () => (await widgets.size(name, 'web')) === 2, 180_000);
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await bothAre(name, 2);
  }, 500_000);
});

describe('a worker that is killed between the marks and the number of the owner', () => {
  it('leaves nothing that the next one does not end, at night and in the morning', async () => {
    const name = 'killed';
    await widget(name, 3);
    const path = /^\/apis\/example\.com\/v1\/namespaces\/killed\/widgets\/web\/scale/;
    const killedAt = async (when: 'before' | 'after', turn: () => Promise<void>): Promise<void> => {
      const hold = gate.hold({ method: 'PATCH', path, when });
      await turn();
      await hold.held;
      await worker.kill();
      hold.abandon();
    };
    await killedAt('before', async () => await cluster.schedule(name, { namespaces: [name], ...scaling, ...DOWN }));
    expect(await cluster.savedState(name, 'web')).toMatchObject({ 'original-replicas': '3' });
    expect([await widgets.size(name, 'web'), await cluster.replicas(name, 'web')]).toEqual([3, 3]);
    worker = await nextWorker();
    await bothAre(name, 0);
    await cluster.reaches(name, 'Down', 'AsScheduled', 150_000);
    await killedAt('after', async () => await cluster.patchSchedule(name, { spec: UP }));
    worker = await nextWorker();
    await cluster.reaches(name, 'Up', 'AsScheduled', 150_000);
    await bothAre(name, 3);
    expect(await cluster.savedState(name, 'web')).toEqual({});
    expect(widgets.fought.filter((one) => one.startsWith(`${name}/`))).toEqual([]);
  }, 400_000);
});

describe('the worker', () => {
  it('may write nothing of an owner but its number', async () => {
    await widget('policy', 2);
    await expect(workersWrite('policy', { spec: { server: { size: 5 } } })).rejects.toMatchObject({ code: 403 });
    await expect(
      workersWrite('policy', { metadata: { labels: { a: 'b' } }, spec: { replicas: 1 } }, 'scale'),
    ).resolves.toBeDefined();
    // The API server takes nothing but the number of a Scale.
    expect((await widgets.read('policy', 'web')).metadata).not.toHaveProperty('labels');
  });

  it('and the starter use every right that naming a kind gives them', async () => {
    const name = 'approved';
    await widget(name, 2);
    await cluster.schedule(name, { namespaces: [name], ...scaling, ...DOWN, requireApproval: true });
    await cluster.reaches(name, 'AwaitingApproval');
    await cluster.command(name, 'approve');
    await bothAre(name, 0);
    const used = new Set(
      (await plane.plane.auditEvents())
        .filter(({ responseStatus }) => (responseStatus?.code ?? 200) < 300)
        .filter(({ objectRef }) => /widgets/.test(`${objectRef?.name ?? ''} ${objectRef?.resource ?? ''}`))
        .map(({ user, verb, objectRef }) => {
          const { resource = '', subresource } = objectRef ?? {};
          return `${user.username} ${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
        }),
    );
    expect([...used].filter((use) => use.startsWith('headroom-')).toSorted()).toEqual([
      'headroom-starter get customresourcedefinitions',
      'headroom-starter list widgets',
      'headroom-starter watch widgets',
      'headroom-worker get customresourcedefinitions',
      'headroom-worker get widgets',
      'headroom-worker list widgets',
      'headroom-worker patch widgets/scale',
    ]);
  });
});

/** As the worker itself. */
async function workersWrite(namespace: string, body: object, subresource?: 'scale'): Promise<unknown> {
  const custom = accessOf(plane.plane.kubeconfigFor('headroom-worker')).makeApiClient(CustomObjectsApi);
  const request = { ...WIDGETS, namespace, name: 'web', body };
  return subresource === undefined
    ? await custom.patchNamespacedCustomObject(request, merge)
    : await custom.patchNamespacedCustomObjectScale(request, merge);
}
