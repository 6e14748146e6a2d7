/** What is a schedule's own and what is not any more, on a real control plane: scopes, owners, deletions, failures. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
beforeAll(async () => {
  plane = await startLightsOutPlane();
  cluster = new LightsOutCluster(plane);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

/** A namespace that a schedule selects by its label, with a Deployment and a CronJob that sleep. */
async function night(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await cluster.namespace(name, { night: name });
  await cluster.deployment(name, 'web', 3);
  await cluster.cronJob(name, 'report');
  await cluster.asleep(name, { namespaceSelector: { matchLabels: { night: name } }, ...spec });
  expect([await cluster.replicas(name, 'web'), await cluster.suspended(name, 'report')]).toEqual([0, true]);
}

async function untilAwake(name: string): Promise<void> {
  await eventually(`${name} is awake`, async () => {
    return (await cluster.replicas(name, 'web')) === 3 && (await cluster.suspended(name, 'report')) === false;
  });
  expect(await cluster.savedState(name, 'web')).toEqual({});
}

async function untilGone(name: string): Promise<void> {
  await eventually(`the schedule ${name} is gone`, async () => await cluster.scheduleIsGone(name));
}

describe.concurrent('what leaves the scope at night is restored at once', () => {
  it('when a namespace loses its label', async () => {
    await night('unlabelled');
    await cluster.patchNamespace('unlabelled', { labels: { night: null } });
    await untilAwake('unlabelled');
    expect(await cluster.reaches('unlabelled', 'Down', 'AsScheduled')).toMatchObject({ state: 'Down' });
  });

  it('when a namespace is excluded', async () => {
    await night('excluded');
    await cluster.patchSchedule('excluded', { spec: { excludeNamespaces: ['excluded'] } });
    await untilAwake('excluded');
  });

  it('when the schedule is for fewer kinds of workloads', async () => {
    await night('narrowed');
    await cluster.patchSchedule('narrowed', { spec: { workloadTypes: ['CronJob'] } });
    await eventually('the Deployment is awake', async () => (await cluster.replicas('narrowed', 'web')) === 3);
    await cluster.reaches('narrowed', 'Down', 'AsScheduled');
    expect(await cluster.suspended('narrowed', 'report')).toBe(true);
  });

  it('when a workload gets a label that is left alone', async () => {
    await night('labelled', { excludeLabels: { matchLabels: { keep: 'up' } } });
    await cluster.patchDeployment('labelled', 'web', { metadata: { labels: { keep: 'up' } } });
    await eventually('the Deployment is awake', async () => (await cluster.replicas('labelled', 'web')) === 3);
    await cluster.reaches('labelled', 'Down', 'AsScheduled');
    expect(await cluster.suspended('labelled', 'report')).toBe(true);
  });

  it('and what comes into it is put to sleep', async () => {
    await cluster.namespace('late');
    await cluster.deployment('late', 'web', 2);
    await night('wider');
    await cluster.patchNamespace('late', { labels: { night: 'wider' } });
    await eventually('it sleeps', async () => (await cluster.savedState('late', 'web'))['managed-by'] === 'wider');
    expect(await cluster.replicas('late', 'web')).toBe(0);
  });
});

describe.concurrent('what comes into the scope at night is judged from then on', () => {
  const scaled = async (namespace: string, replicas: number) => {
    await cluster.patchDeployment(namespace, 'web', { spec: { replicas } });
    // Kubernetes has the moment of the change in whole seconds.
    const at = Date.now();
    await eventually('the next second', () => Math.floor(Date.now() / 1000) * 1000 > at);
  };
  const untilDown = async (namespace: string, original: string) => {
    await eventually('it sleeps', async () => {
      return (await cluster.savedState(namespace, 'web'))['original-replicas'] === original;
    });
    expect(await cluster.replicas(namespace, 'web')).toBe(0);
  };

  it('when a namespace gets the label: what a person did there before in this night was not against it', async () => {
    await cluster.namespace('joining');
    await cluster.deployment('joining', 'web', 2);
    await night('joined');
    await scaled('joining', 4);
    await cluster.patchNamespace('joining', { labels: { night: 'joined' } });
    await untilDown('joining', '4');
    // From now on it is.
    await scaled('joining', 3);
    await cluster.eventMatching('joined', /^KeptUp: Deployment joining\/web: /);
    expect(await cluster.replicas('joining', 'web')).toBe(3);
  });

  it('when the schedule is edited to be for more kinds', async () => {
    await cluster.namespace('widened');
    await cluster.deployment('widened', 'web', 2);
    await cluster.cronJob('widened', 'report');
    await cluster.schedule('widened', { ...DOWN, namespaces: ['widened'], workloadTypes: ['CronJob'] });
    await eventually('the CronJob sleeps', async () => await cluster.suspended('widened', 'report'));
    await cluster.reaches('widened', 'Down', 'AsScheduled');
    await scaled('widened', 4);
    await cluster.patchSchedule('widened', { spec: { workloadTypes: [] } });
    await untilDown('widened', '4');
  });

  it('when a workload loses the label that it was left alone for', async () => {
    await cluster.namespace('released');
    await cluster.deployment('released', 'web', 2, { labels: { keep: 'up' } });
    await cluster.asleep('released', { namespaces: ['released'], excludeLabels: { matchLabels: { keep: 'up' } } });
    await scaled('released', 4);
    await cluster.patchDeployment('released', 'web', { metadata: { labels: { keep: null } } });
    await untilDown('released', '4');
    await scaled('released', 3);
    await cluster.eventMatching('released', /^KeptUp: Deployment released\/web: /);
    expect(await cluster.replicas('released', 'web')).toBe(3);
  });

  it('when an operator lets go of a workload', async () => {
    await cluster.namespace('orphaned');
    const owner = { apiVersion: 'example.com/v1', kind: 'App', name: 'web', uid: 'an-operator-s', controller: true };
    await cluster.deployment('orphaned', 'web', 2, { ownerReferences: [owner] });
    await cluster.asleep('orphaned', { namespaces: ['orphaned'] });
    await scaled('orphaned', 4);
    expect(await cluster.replicas('orphaned', 'web')).toBe(4);
    await cluster.patchDeployment('orphaned', 'web', { metadata: { ownerReferences: null } });
    await untilDown('orphaned', '4');
  });

  it('when another schedule gives a workload up', async () => {
    await cluster.namespace('given');
    await cluster.deployment('given', 'web', 2);
    await cluster.schedule('giver', { ...UP, namespaces: ['given'] });
    await cluster.reaches('giver', 'Up', 'AsScheduled');
    await cluster.asleep('taker', { namespaces: ['given'] });
    await scaled('given', 4);
    expect(await cluster.replicas('given', 'web')).toBe(4);
    await cluster.deleteSchedule('giver');
    await untilDown('given', '4');
    expect((await cluster.savedState('given', 'web'))['managed-by']).toBe('taker');
  });

  it('and what a person woke by a new object’s text, without any marks, is not taken for such', async () => {
    await night('replaced');
    const marks = { 'managed-by': null, 'original-replicas': null, 'down-since': null };
    const gone = Object.fromEntries(Object.keys(marks).map((mark) => [`lightsout.techsupport.mk/${mark}`, null]));
    await cluster.patchDeployment('replaced', 'web', {
      metadata: { annotations: gone, labels: gone },
      spec: { replicas: 2 },
    });
    await cluster.eventMatching('replaced', /^KeptUp: Deployment replaced\/web: /);
    // Also at every later observation.
    for (const look of ['second', 'third']) {
      await cluster.command('replaced', 'reconcileNow');
      await cluster.reaches('replaced', 'Down', 'AsScheduled');
      expect([look, await cluster.replicas('replaced', 'web')]).toEqual([look, 2]);
    }
  });
});

describe.concurrent('a schedule that is deleted', () => {
  it('wakes what it put to sleep also where that is out of its scope, and where it is suspended', async () => {
    await night('moved');
    await cluster.patchSchedule('moved', { spec: { suspend: true } });
    await cluster.reaches('moved', 'Suspended', 'Suspended');
    // Nothing is restored while it is suspended.
    await cluster.patchNamespace('moved', { labels: { night: null } });
    await cluster.command('moved', 'reconcileNow');
    await cluster.reaches('moved', 'Suspended', 'Suspended');
    expect(await cluster.replicas('moved', 'web')).toBe(0);
    await cluster.deleteSchedule('moved');
    await untilGone('moved');
    await untilAwake('moved');
    await cluster.eventMatching(
      'moved',
      /^CleanupComplete: Everything that the schedule put to sleep is awake: 2 workloads\.$/,
    );
  });

  it('wakes it also where it is invalid', async () => {
    await night('broken');
    await cluster.patchSchedule('broken', { spec: { timezone: 'Mars/Olympus' } });
    await cluster.reaches('broken', 'Invalid', 'InvalidSchedule');
    await cluster.patchNamespace('broken', { labels: { night: null } });
    await cluster.deleteSchedule('broken');
    await untilGone('broken');
    await untilAwake('broken');
  });

  it('wakes it also where somebody took the finalizer off by force', async () => {
    await night('forced');
    await cluster.patchSchedule('forced', { metadata: { finalizers: null } });
    await cluster.deleteSchedule('forced');
    await untilGone('forced');
    await untilAwake('forced');
    await eventually(
      'its workflow has ended',
      async () => (await cluster.handle('forced').describe()).status.name === 'COMPLETED',
    );
  });
});

describe.concurrent('an invalid schedule', () => {
  it('says so and touches nothing, neither what is awake nor what it had put to sleep, and goes on once it is corrected', async () => {
    await night('invalid');
    await cluster.patchSchedule('invalid', { spec: { timezone: 'Mars/Olympus', ...UP } });
    await cluster.reaches('invalid', 'Invalid', 'InvalidSchedule');
    expect(await cluster.ready('invalid')).toMatch(/^False InvalidSchedule: spec\.timezone: .*Mars\/Olympus/);
    expect((await cluster.readSchedule('invalid')).status).toMatchObject({ state: 'Unknown', observedGeneration: 2 });
    await cluster.eventMatching('invalid', /^InvalidSchedule: spec\.timezone: /);
    await cluster.deployment('invalid', 'new', 2, { fieldManager: 'argocd-controller' });
    await cluster.command('invalid', 'reconcileNow');
    await cluster.reaches('invalid', 'Invalid', 'InvalidSchedule');
    expect([await cluster.replicas('invalid', 'web'), await cluster.replicas('invalid', 'new')]).toEqual([0, 2]);

    await cluster.patchSchedule('invalid', { spec: { timezone: 'Europe/Berlin' } });
    await cluster.reaches('invalid', 'Up', 'AsScheduled');
    await untilAwake('invalid');
    expect(await cluster.ready('invalid')).toMatch(/^True ReconcileSucceeded: /);
  });
});

describe.concurrent('two schedules that select one workload', () => {
  it('have one owner, the older; the other says so, and takes over when that is deleted', async () => {
    await night('pair-a');
    await cluster.schedule('pair-b', { ...DOWN, namespaces: ['pair-a'] });
    await cluster.reaches('pair-b', 'Down', 'AsScheduled');
    await cluster.eventMatching(
      'pair-b',
      /^OwnedByOther: Deployment pair-a\/web: it belongs to the schedule pair-a, which put it/,
    );
    await cluster.factMatching('pair-b', /^CronJob pair-a\/report: it belongs to the schedule pair-a/);
    expect((await cluster.savedState('pair-a', 'web'))['managed-by']).toBe('pair-a');
    expect((await cluster.readSchedule('pair-b')).status?.workloadStats).toMatchObject({ deploymentsManaged: 0 });

    await cluster.deleteSchedule('pair-a');
    await untilGone('pair-a');
    await eventually('the other has it', async () => {
      return (await cluster.savedState('pair-a', 'web'))['managed-by'] === 'pair-b';
    });
    expect(await cluster.savedState('pair-a', 'web')).toMatchObject({ 'original-replicas': '3' });
    expect(await cluster.replicas('pair-a', 'web')).toBe(0);
    await cluster.patchSchedule('pair-b', { spec: UP });
    await untilAwake('pair-a');
  });
});

describe.concurrent('a schedule that takes over from another', () => {
  it('has its workloads when that is deleted, and none of them is woken', async () => {
    await night('old-a');
    await cluster.namespace('left-behind', { night: 'old-a' });
    await cluster.deployment('left-behind', 'web', 2, { fieldManager: 'argocd-controller' });
    await eventually('all sleep', async () => (await cluster.replicas('left-behind', 'web')) === 0);
    await cluster.schedule(
      'new-a',
      { ...DOWN, namespaces: ['old-a'] },
      { 'lightsout.techsupport.mk/takes-over': 'old-a' },
    );
    const before = (await cluster.writes('old-a', 'web')).length;
    await cluster.deleteSchedule('old-a');
    await untilGone('old-a');
    await eventually('the new one has it', async () => {
      return (await cluster.savedState('old-a', 'web'))['managed-by'] === 'new-a';
    });
    expect(await cluster.savedState('old-a', 'web')).toMatchObject({ 'original-replicas': '3' });
    // One write: the name of its schedule. It never had a replica meanwhile.
    expect((await cluster.writes('old-a', 'web')).length).toBe(before + 1);
    expect([await cluster.replicas('old-a', 'web'), await cluster.suspended('old-a', 'report')]).toEqual([0, true]);
    // What the new one does not select is woken as ever.
    expect(await cluster.replicas('left-behind', 'web')).toBe(2);
    await cluster.eventMatching('old-a', /^CleanupComplete: .* but for 2 workloads that another schedule takes over/);
    await cluster.patchSchedule('new-a', { spec: UP });
    await untilAwake('old-a');
  });
});

describe.concurrent('a workload that cannot be written', () => {
  it('holds up nothing else, is shown with why, is tried again, and keeps a deleted schedule until it is awake', async () => {
    const name = 'frozen';
    await cluster.namespace(name);
    for (const deployment of ['stuck', 'web', 'api']) await cluster.deployment(name, deployment, 2);
    const thaw = await cluster.freeze(name, 'stuck');
    await cluster.schedule(name, { ...DOWN, namespaces: [name] });
    const status = await cluster.reaches(name, 'Down', 'ScalingFailed');
    const why = /ValidatingAdmissionPolicy 'freeze-frozen' .* denied request: frozen for an audit$/;
    expect(status.failing).toEqual([{ workload: `Deployment ${name}/stuck`, message: expect.stringMatching(why) }]);
    const all = async () =>
      await Promise.all(['stuck', 'web', 'api'].map((deployment) => cluster.replicas(name, deployment)));
    expect(await all()).toEqual([2, 0, 0]);
    expect(await cluster.ready(name)).toMatch(
      /^False ReconcileFailed: 1 workload cannot be written: Deployment frozen\/stuck: .*frozen for an audit/,
    );
    await cluster.eventMatching(name, /^ScalingFailed: 1 workload cannot be written: Deployment frozen\/stuck: /);
    await thaw();
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await all()).toEqual([0, 0, 0]);
    expect(await cluster.ready(name)).toMatch(/^True ReconcileSucceeded: /);

    const again = await cluster.freeze(name, 'stuck');
    await cluster.deleteSchedule(name);
    await cluster.eventMatching(
      name,
      /^CleanupPartialFailure: 1 workload cannot be woken yet, .*Deployment frozen\/stuck: /,
    );
    expect(await all()).toEqual([0, 2, 2]);
    expect(await cluster.ready(name)).toMatch(/^False CleanupFailed: .*frozen for an audit/);
    expect(await cluster.scheduleIsGone(name)).toBe(false);
    await again();
    await untilGone(name);
    expect(await all()).toEqual([2, 2, 2]);
  });
});

describe.concurrent('a finalizer that a policy refuses', () => {
  const why = /ValidatingAdmissionPolicy 'finalizers-\w+' .* denied request: finalizers are not for everybody/.source;

  it('is said in the condition and an Event, and nothing is put to sleep without it', async () => {
    const name = 'unheld';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    await cluster.schedule(name, { ...UP, namespaces: [name] });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    const allow = await cluster.keepFinalizers(name);
    await cluster.patchSchedule(name, { spec: DOWN });
    await cluster.eventMatching(
      name,
      new RegExp(`^ScalingFailed: The finalizer cannot be added to the schedule, .*${why}`),
    );
    expect(await cluster.ready(name)).toMatch(
      new RegExp(`^False ReconcileFailed: The finalizer cannot be added .*${why}`),
    );
    expect(await cluster.replicas(name, 'web')).toBe(2);
    await allow();
    await cluster.command(name, 'reconcileNow');
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(0);
    expect(await cluster.ready(name)).toMatch(/^True /);
  });

  it('keeps a deleted schedule, and only when it is gone everything is said to be cleaned up', async () => {
    const name = 'unreleased';
    await night(name);
    const allow = await cluster.keepFinalizers(name);
    await cluster.deleteSchedule(name);
    await cluster.eventMatching(
      name,
      new RegExp(`^CleanupPartialFailure: Everything is awake, but the finalizer .*${why}`),
    );
    expect(await cluster.ready(name)).toMatch(new RegExp(`^False CleanupFailed: Everything is awake, but .*${why}`));
    expect((await cluster.events(name)).filter((event) => event.startsWith('CleanupComplete'))).toEqual([]);
    await untilAwake(name);
    await allow();
    await cluster.command(name, 'reconcileNow');
    await untilGone(name);
    await cluster.eventMatching(name, /^CleanupComplete: /);
  });
});

describe('the namespaces that keep Headroom running', () => {
  it('are never touched by a schedule that selects every namespace', async () => {
    const spared = ['kube-system', 'namespace-resizer-system', 'temporal'];
    await cluster.namespace('temporal');
    await cluster.namespace('ordinary');
    for (const namespace of [...spared, 'ordinary']) await cluster.deployment(namespace, 'server', 1);
    const everything = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'Exists' }] };
    await cluster.schedule('all', { ...DOWN, namespaceSelector: everything, namespaces: spared });
    await cluster.reaches('all', 'Down', 'AsScheduled');
    expect(await cluster.replicas('ordinary', 'server')).toBe(0);
    for (const namespace of spared) expect(await cluster.replicas(namespace, 'server')).toBe(1);
    const { status } = await cluster.readSchedule('all');
    expect(status?.namespaces).toContain('ordinary');
    expect(status?.namespaces?.filter((namespace) => spared.includes(namespace))).toEqual([]);
    await cluster.deleteSchedule('all');
    await untilGone('all');
    expect(await cluster.replicas('ordinary', 'server')).toBe(1);
  });
});

describe('in all of this', () => {
  it('no request of worker and starter was forbidden', async () => {
    expect(await cluster.refused()).toEqual([]);
  });
});
