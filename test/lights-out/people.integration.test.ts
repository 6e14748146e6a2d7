/** What people and GitOps do to workloads while these are to sleep, on a real control plane. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, savedStateOf, merge, startLightsOutPlane, UP } from './cluster.ts';

/**
 * Much longer than the ten seconds between two looks at workloads: one falls into it on a machine as well whose processes wait
 * for seconds before it is their turn.
 */
const CONTESTED_MS = 40_000;

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
beforeAll(async () => {
  plane = await startLightsOutPlane({
    env: { 'lightsOut.contestedMin': `${CONTESTED_MS}ms` },
  });
  cluster = new LightsOutCluster(plane);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

// What takes longest comes first, and the others run meanwhile.
describe.concurrent('GitOps', () => {
  it('that wakes a workload at night loses, is told how to leave the field alone, and is not fought more often than that', async () => {
    const name = 'argo';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.asleep(name, { namespaces: [name] });
    const [first] = await cluster.writes(name, 'web');
    // Nothing is under way, so that every look that finds it up begins later than this.
    const from = Date.now();
    await cluster.reaches(name, 'Down', 'AsScheduled');
    const scaledUp = async (times: number): Promise<void> => {
      await cluster.applyReplicas(name, 'web', 3);
      await eventually(
        `it is put to sleep for the ${times}. time`,
        async () => {
          return (await cluster.writes(name, 'web')).length > times && (await cluster.replicas(name, 'web')) === 0;
        },
        CONTESTED_MS + 60_000,
      );
    };
    await scaledUp(1);
    const event = await cluster.eventMatching(
      name,
      /^PutDownAgain: Deployment argo\/web was scaled up by argocd-controller/,
    );
    expect(event).toMatch(/In Argo CD, .*ignoreDifferences.*\/spec\/replicas.*RespectIgnoreDifferences=true/);

    const again = scaledUp(2);
    const form = /^Deployment argo\/web: argocd-controller scaled it up again\. It is put to sleep at (\S+Z)\. In/;
    const [, until = ''] = form.exec(await cluster.factMatching(name, form)) ?? [];
    expect(await cluster.replicas(name, 'web')).toBe(3);
    await again;
    const moments = (await cluster.writes(name, 'web')).map((write) => Date.parse(write.requestReceivedTimestamp));
    expect(moments).toHaveLength(3);
    // It counts from the look that found it up, which a machine that is slow may have begun long before the write.
    expect(Date.parse(until)).toBeGreaterThanOrEqual(Math.floor((from + CONTESTED_MS) / 1000) * 1000);
    expect(moments[2]).toBeGreaterThanOrEqual(Date.parse(until));
    // It is the same night: what it was at dusk is what it is to be again.
    expect(await cluster.savedState(name, 'web')).toMatchObject({ 'original-replicas': '3' });
    expect(first?.verb).toBe('patch');
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(3);
  }, 300_000);
});

describe.concurrent('a person', () => {
  it('who scales a workload up at night is respected until the morning, which takes the greater number, and not longer', async () => {
    const name = 'scaled';
    const before = { more: 3, fewer: 3, none: 0 };
    await cluster.namespace(name);
    for (const [deployment, replicas] of Object.entries(before)) await cluster.deployment(name, deployment, replicas);
    const now = async () =>
      await Promise.all(Object.keys(before).map((deployment) => cluster.replicas(name, deployment)));
    await cluster.asleep(name, { namespaces: [name] });
    // The API server notes no moment for `kubectl scale`, and one for everything else.
    await cluster.scale(name, 'more', 5);
    await cluster.scale(name, 'none', 2);
    await cluster.patchDeployment(name, 'fewer', { spec: { replicas: 1 } });
    await cluster.eventMatching(
      name,
      /^KeptUp: Deployment scaled\/more: kubectl gave it 5 replicas, while it was to sleep. Headroom leaves it until the schedule/,
    );
    await cluster.factMatching(name, /^Deployment scaled\/none: kubectl gave it 2 replicas, while it was to sleep/);
    await cluster.factMatching(
      name,
      /^Deployment scaled\/fewer: kubectl-edit gave it 1 replica at \S+Z, while it was to sleep/,
    );
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await now()).toEqual([5, 1, 2]);

    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await now()).toEqual([5, 3, 2]);
    expect(await cluster.savedState(name, 'more')).toEqual({});

    await cluster.patchSchedule(name, { spec: DOWN });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await now()).toEqual([0, 0, 0]);
    expect(await cluster.savedState(name, 'more')).toMatchObject({ 'original-replicas': '5' });
  });

  it('who creates a workload at night is respected; what GitOps creates is put to sleep', async () => {
    const name = 'created';
    await cluster.namespace(name);
    await cluster.deployment(name, 'old', 1);
    await cluster.asleep(name, { namespaces: [name] });
    await cluster.deployment(name, 'by-hand', 2);
    await cluster.deployment(name, 'from-git', 2, { fieldManager: 'argocd-controller' });
    await cluster.eventMatching(name, /^KeptUp: Deployment created\/by-hand: kubectl-create created it at /);
    await eventually('what Git has sleeps', async () => (await cluster.replicas(name, 'from-git')) === 0);
    expect(await cluster.savedState(name, 'from-git')).toMatchObject({ 'original-replicas': '2' });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await cluster.replicas(name, 'by-hand')).toBe(2);
    expect(await cluster.writes(name, 'by-hand')).toEqual([]);
  });

  it('has the time that the schedule gives for what is new, whoever created it', async () => {
    const name = 'grace';
    await cluster.namespace(name);
    await cluster.deployment(name, 'old', 1);
    await cluster.asleep(name, { namespaces: [name], newWorkloadGrace: '1h' });
    await cluster.deployment(name, 'new', 2, { fieldManager: 'argocd-controller' });
    const { metadata } = await cluster.readDeployment(name, 'new');
    await cluster.factMatching(name, /^Deployment grace\/new: it is new, and is put to sleep at /);
    expect(await cluster.replicas(name, 'new')).toBe(2);
    // An hour is not waited for: most of what is given now is still to come.
    await cluster.patchSchedule(name, { spec: { newWorkloadGrace: '15s' } });
    await eventually('it sleeps', async () => (await cluster.replicas(name, 'new')) === 0);
    const age = (await cluster.writtenAt(name, 'new', 1)) - Number(metadata?.creationTimestamp);
    expect(age).toBeGreaterThanOrEqual(15_000);
  });

  it('who suspended a CronJob finds it suspended in the morning', async () => {
    const name = 'suspended';
    await cluster.namespace(name);
    await cluster.cronJob(name, 'off', true);
    await cluster.cronJob(name, 'on');
    await cluster.asleep(name, { namespaces: [name] });
    expect(savedStateOf((await cluster.readCronJob(name, 'on')).metadata?.annotations)).toMatchObject({
      'original-suspend': 'lightsout',
    });
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect([await cluster.suspended(name, 'off'), await cluster.suspended(name, 'on')]).toEqual([true, false]);
    expect(await cluster.writes(name, 'off')).toEqual([]);

    // What a person resumes by day sleeps again in the next night, although a person had suspended it once.
    await cluster.setSuspend(name, 'off', false);
    await cluster.patchSchedule(name, { spec: DOWN });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect([await cluster.suspended(name, 'off'), await cluster.suspended(name, 'on')]).toEqual([true, true]);
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect([await cluster.suspended(name, 'off'), await cluster.suspended(name, 'on')]).toEqual([false, false]);
  });

  it('who resumes a CronJob at night and suspends it again finds it suspended in the morning, too', async () => {
    const name = 'resumed';
    await cluster.namespace(name);
    await cluster.cronJob(name, 'report');
    await cluster.asleep(name, { namespaces: [name] });
    await cluster.setSuspend(name, 'report', false);
    await cluster.eventMatching(name, /^KeptUp: CronJob resumed\/report: kubectl-patch resumed it at /);
    expect(await cluster.suspended(name, 'report')).toBe(false);
    await cluster.setSuspend(name, 'report', true);
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    const report = await cluster.readCronJob(name, 'report');
    expect(report.spec?.suspend).toBe(true);
    expect(savedStateOf(report.metadata?.annotations)).toEqual({});

    await cluster.patchSchedule(name, { spec: DOWN });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await cluster.suspended(name, 'report')).toBe(true);
  });
});

describe.concurrent('an autoscaler', () => {
  it('that a person changes at night is left until the morning; what GitOps changes is set back at once', async () => {
    const name = 'bounds';
    await cluster.namespace(name);
    for (const autoscaler of ['web', 'api']) {
      await cluster.deployment(name, autoscaler, 4);
      await cluster.horizontalScaler(name, autoscaler, 2, 10);
    }
    const bounds = async (autoscaler: string): Promise<string> => {
      const { spec } = await cluster.readHorizontalScaler(name, autoscaler);
      return `${spec?.minReplicas}-${spec?.maxReplicas}`;
    };
    const setMaximum = async (autoscaler: string, maxReplicas: number, fieldManager: string): Promise<void> => {
      const change = { namespace: name, name: autoscaler, body: { spec: { maxReplicas } }, fieldManager };
      await cluster.autoscaling.patchNamespacedHorizontalPodAutoscaler(change, merge);
    };
    await cluster.asleep(name, { namespaces: [name], downscaleReplicas: 1 });
    expect([await bounds('web'), await bounds('api')]).toEqual(['1-1', '1-1']);
    // What is done within the second in which it was held was done before.
    const { metadata } = await cluster.readHorizontalScaler(name, 'web');
    const since = Date.parse(savedStateOf(metadata?.annotations)['down-since'] ?? '');
    await eventually('the next second', () => Math.floor(Date.now() / 1000) > Math.floor(since / 1000));
    await setMaximum('web', 5, 'kubectl-edit');
    await setMaximum('api', 7, 'argocd-controller');
    await cluster.eventMatching(
      name,
      /^KeptUp: Deployment bounds\/web: kubectl-edit changed its autoscaler, while it was to sleep/,
    );
    await eventually("GitOps' is set back", async () => (await bounds('api')) === '1-1');
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await bounds('web')).toBe('1-5');
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect([await bounds('web'), await bounds('api')]).toEqual(['2-10', '2-10']);
    expect([await cluster.replicas(name, 'web'), await cluster.replicas(name, 'api')]).toEqual([4, 4]);
    const ofScaler = (await cluster.writes(name, 'web')).filter(
      ({ objectRef }) => objectRef?.resource === 'horizontalpodautoscalers',
    );
    expect(ofScaler).toHaveLength(2);
  });
});

describe('in all of this', () => {
  it('no request of worker and starter was forbidden', async () => {
    expect(await cluster.refused()).toEqual([]);
  });
});
