/** Headroom that was away, or whose workflows were: what was missed is done late, and nothing that was said is lost. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from './cluster.ts';

// A test ends worker and starter and starts them again, between two nights.
vi.setConfig({ testTimeout: 240_000 });

const NO_HOURS = { replicaHours: '', cpuCoreHours: '', memoryGiBHours: '' };

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
let worker: SupervisedProcess;
let starter: SupervisedProcess;
beforeAll(async () => {
  plane = await startLightsOutPlane();
  cluster = new LightsOutCluster(plane);
  await comeBack();
});
afterAll(async () => {
  await plane?.stop();
});

async function goAway(): Promise<void> {
  await Promise.all([worker.stop(), starter.stop()]);
}

async function comeBack(): Promise<void> {
  [worker, starter] = await Promise.all([plane.startWorker(), plane.startStarter()]);
}

describe('Headroom that was away', () => {
  it('does late what it missed, and respects what people did before it was due', async () => {
    await cluster.namespace('evening');
    await cluster.deployment('evening', 'web', 3);
    await cluster.schedule('evening', { ...UP, namespaces: ['evening'] });
    await cluster.reaches('evening', 'Up', 'AsScheduled');
    await cluster.namespace('morning');
    await cluster.deployment('morning', 'web', 2);
    await cluster.asleep('morning', { namespaces: ['morning'] });

    await goAway();
    await cluster.patchSchedule('evening', { spec: DOWN });
    await cluster.patchSchedule('morning', { spec: UP });
    await cluster.scale('evening', 'web', 4);
    await comeBack();
    await cluster.reaches('evening', 'Down', 'AsScheduled');
    await cluster.reaches('morning', 'Up', 'AsScheduled');
    expect([await cluster.replicas('evening', 'web'), await cluster.replicas('morning', 'web')]).toEqual([0, 2]);
    expect(await cluster.savedState('evening', 'web')).toMatchObject({ 'original-replicas': '4' });
  });

  it('finds what a schedule put to sleep that was deleted by force meanwhile, with its workflow, and wakes it', async () => {
    await cluster.namespace('orphan');
    await cluster.deployment('orphan', 'web', 3);
    await cluster.asleep('orphan', { namespaces: ['orphan'] });
    await goAway();
    await cluster.handle('orphan').terminate();
    await cluster.patchSchedule('orphan', { metadata: { finalizers: null } });
    await cluster.deleteSchedule('orphan');
    expect(await cluster.scheduleIsGone('orphan')).toBe(true);
    await comeBack();
    await eventually('it is awake', async () => (await cluster.replicas('orphan', 'web')) === 3);
    expect(await cluster.savedState('orphan', 'web')).toEqual({});
  });
});

describe('starters that are away', () => {
  const rest = { namespaces: ['between'], downscaleRateLimit: { batchSize: 1, delayBetweenBatches: '5s' } };
  const replicas = async () =>
    await Promise.all(['api', 'mail', 'web'].map((deployment) => cluster.replicas('between', deployment)));
  beforeAll(async () => {
    await cluster.namespace('between');
    for (const deployment of ['api', 'mail', 'web']) await cluster.deployment('between', deployment, 2);
  });

  it.each([
    ['suspended', { suspend: true }, 'Suspended'],
    ['made a dry run', { dryRun: true }, 'DryRun'],
  ] as const)('do not keep a schedule that is %s from stopping before the next batch', async (what, spec, phase) => {
    const name = what.replaceAll(' ', '-');
    await cluster.schedule(name, { ...DOWN, ...rest });
    await eventually('the first sleeps', async () => (await replicas()).includes(0));
    await starter.stop();
    await cluster.patchSchedule(name, { spec });
    await cluster.reaches(name, phase);
    expect((await replicas()).filter((count) => count === 2)).toHaveLength(2);
    starter = await plane.startStarter();
    await cluster.deleteSchedule(name);
    await eventually('all are awake', async () => (await replicas()).join() === '2,2,2');
    await eventually('it is gone', async () => await cluster.scheduleIsGone(name));
  });

  it('do not keep a deletion waiting for more than a batch', async () => {
    await cluster.schedule('deleted-between', { ...DOWN, ...rest });
    await eventually('the first sleeps', async () => (await replicas()).includes(0));
    await starter.stop();
    await cluster.deleteSchedule('deleted-between');
    await eventually('it is gone', async () => await cluster.scheduleIsGone('deleted-between'));
    expect(await replicas()).toEqual([2, 2, 2]);
    starter = await plane.startStarter();
  });
});

describe('a schedule that was made again under its name', () => {
  it('needs an approval of its own, whatever the one before was allowed', async () => {
    const name = 'again';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    await cluster.schedule(name, { ...UP, namespaces: [name], requireApproval: true });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await cluster.command(name, 'approve');
    // It never put anything to sleep, so that nothing keeps it: it goes at once, and the workflow may not have noticed.
    await cluster.deleteSchedule(name);
    await cluster.schedule(name, { ...DOWN, namespaces: [name], requireApproval: true });
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalNeeded');
    expect(await cluster.replicas(name, 'web')).toBe(2);
  });

  it('finds the workflow of a schedule that put nothing to sleep and was deleted meanwhile, and ends it', async () => {
    await cluster.namespace('leftover');
    await cluster.schedule('leftover', { ...UP, namespaces: ['leftover'] });
    await cluster.reaches('leftover', 'Up', 'AsScheduled');
    await goAway();
    // Without a finalizer it is gone at once, and nobody is told.
    await cluster.deleteSchedule('leftover');
    expect(await cluster.scheduleIsGone('leftover')).toBe(true);
    await comeBack();
    await eventually(
      'its workflow has ended',
      async () => (await cluster.handle('leftover').describe()).status.name === 'COMPLETED',
    );
  });
});

describe('a workflow that was terminated', () => {
  it('is begun anew with what was said to the one before: overrides, the approval, what was saved', async () => {
    const name = 'anew';
    await cluster.namespace(name);
    // So many that a tenth of an hour's worth is saved within the blink of an eye; paused, it makes no pods.
    await cluster.apps.createNamespacedDeployment({
      namespace: name,
      fieldManager: 'kubectl-create',
      body: {
        metadata: { name: 'web' },
        spec: {
          paused: true,
          replicas: 100_000,
          selector: { matchLabels: { app: 'x' } },
          template: {
            metadata: { labels: { app: 'x' } },
            spec: {
              containers: [
                {
                  name: 'main',
                  image: 'registry.example/app:1',
                  resources: { requests: { cpu: '100m' }, limits: { memory: '256Mi' } },
                },
              ],
            },
          },
        },
      },
    });
    await cluster.namespace('spared');
    await cluster.deployment('spared', 'web', 2);
    await cluster.schedule(name, { ...DOWN, namespaces: [name, 'spared'], requireApproval: true });
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalNeeded');
    await cluster.command(name, 'wake', { for: '1h', namespace: 'spared', reason: 'a demo' });
    await cluster.command(name, 'approve');
    await cluster.reaches(name, 'Down', 'AsScheduled');
    const before = await eventually('something is saved, and the status has it all', async () => {
      await cluster.command(name, 'reconcileNow');
      const { status } = await cluster.readSchedule(name);
      const isWhole = status?.approved !== undefined && status.overrides !== undefined;
      return isWhole && Number((await cluster.status(name)).savedReplicaHours) > 0 && status;
    });
    // What grows all the time is written along with what else is new.
    await cluster.command(name, 'wake', { for: '2h', namespace: 'spared', reason: 'a longer demo' });
    const saved = await eventually('the status has what was saved', async () => {
      const { status } = await cluster.readSchedule(name);
      const hours = Number(status?.savedReplicaHours);
      return status?.overrides?.[0]?.reason === 'a longer demo' && hours > 0 && hours;
    });

    await cluster.handle(name).terminate();
    await starter.stop();
    starter = await plane.startStarter();
    await eventually('another run', async () => (await cluster.handle(name).describe()).status.name === 'RUNNING');
    const answer = await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(answer.overrides).toEqual([
      expect.objectContaining({ kind: 'wake', namespace: 'spared', by: 'alice', reason: 'a longer demo' }),
    ]);
    expect(Number(answer.savedReplicaHours)).toBeGreaterThanOrEqual(saved);
    expect(await cluster.replicas('spared', 'web')).toBe(2);
    expect(await cluster.writes('spared')).toEqual([]);
    const { status } = await cluster.readSchedule(name);
    expect(status?.approved).toEqual(before.approved);
    expect(status?.lastDownscaleTime).toBe(before.lastDownscaleTime);
    expect(status?.stateSince).toBe(before.stateSince);
    // By the template of its pods, and since before the workflow was ended.
    expect(status?.savings?.since).toBe(before.savings?.since ?? status?.savings?.since);
    const [{ replicaHours, cpuCoreHours, memoryGiBHours } = NO_HOURS] = status?.savings?.namespaces ?? [];
    expect(Number(replicaHours)).toBeGreaterThanOrEqual(saved);
    expect(Number(cpuCoreHours) / Number(replicaHours)).toBeCloseTo(0.1, 1);
    expect(Number(memoryGiBHours) / Number(replicaHours)).toBeCloseTo(0.25, 1);
    await cluster.patchSchedule(name, { spec: { ...UP, requireApproval: false } });
    await eventually('it is as it was', async () => (await cluster.replicas(name, 'web')) === 100_000);
  });
});

describe('the metrics', () => {
  it('of worker and starter have every name and label that they are known by', async () => {
    const name = 'measured';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.cronJob(name, 'report');
    await cluster.asleep(name, { namespaces: [name] });
    const of = `schedule="${name}"`;
    const worked = await eventually('the worker tells of it', async () => {
      const text = await scraped(worker);
      return valueOf(text, 'lightsout_scaling_duration_seconds_count', [of]) !== undefined && text;
    });
    const count = (metric: string, ...labels: readonly string[]) => valueOf(worked, metric, [of, ...labels]);
    // What was tried again is counted again, apart from the writes: those happen once.
    const tries = 1 + (await triedAgain(name));
    const expectCounted = (once: number, metric: string, ...labels: readonly string[]): void => {
      const counted = count(metric, ...labels);
      expect(counted).toBeGreaterThanOrEqual(once);
      expect(counted).toBeLessThanOrEqual(once * tries);
    };
    const deployment = [`namespace="${name}"`, 'workload_type="Deployment"', 'operation="downscale"'];
    expect(count('lightsout_scaling_operations_total', ...deployment)).toBe(1);
    expectCounted(1, 'lightsout_scaling_batches_total', 'direction="downscale"');
    expectCounted(2, 'lightsout_scaling_workloads_processed_total', 'direction="downscale"', 'result="success"');
    for (const bound of ['1', '5', '10', '30', '60', '120', '300', '600', '+Inf']) {
      expect(
        count('lightsout_scaling_duration_seconds_bucket', 'direction="downscale"', `le="${bound}"`),
      ).toBeDefined();
    }
    expectCounted(1, 'lightsout_scaling_duration_seconds_count', 'direction="downscale"');
    const lastReconcile = count('lightsout_last_reconcile_timestamp_seconds') ?? 0;
    expect(Math.abs(lastReconcile - Date.now() / 1000)).toBeLessThan(600);

    const reported = await eventually('the starter has the status', async () => {
      const text = await scraped(starter);
      return valueOf(text, 'lightsout_managed_workloads', [of, 'workload_type="CronJob"']) === 1 && text;
    });
    expect(valueOf(reported, 'lightsout_schedule_state', [of])).toBe(0);
    expect(valueOf(reported, 'lightsout_managed_workloads', [of, 'workload_type="Deployment"'])).toBe(1);
    for (const type of ['upscale', 'downscale']) {
      expect(valueOf(reported, 'lightsout_next_transition_seconds', [of, `transition_type="${type}"`])).toBeGreaterThan(
        0,
      );
    }
    expect(valueOf(reported, 'lightsout_saved_replica_hours_total', [of])).toBeDefined();

    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await eventually('the starter says Up', async () => {
      return valueOf(await scraped(starter), 'lightsout_schedule_state', [of]) === 1;
    });
    await cluster.deleteSchedule(name);
    await eventually('the series of the schedule are gone', async () => !(await scraped(starter)).includes(of));
  });

  it('count a workload that could not be written as an error', async () => {
    const name = 'refused';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.freeze(name, 'web');
    await cluster.schedule(name, { ...DOWN, namespaces: [name] });
    await cluster.reaches(name, 'Down', 'ScalingFailed');
    const text = await scraped(worker);
    const labels = [`schedule="${name}"`, `namespace="${name}"`, 'workload_type="Deployment"'];
    expect(valueOf(text, 'lightsout_scaling_errors_total', labels)).toBeGreaterThan(0);
    expect(
      valueOf(text, 'lightsout_scaling_workloads_processed_total', [`schedule="${name}"`, 'result="failed"']),
    ).toBeGreaterThan(0);
  });
});

describe('in all of this', () => {
  it('no request of worker and starter was forbidden', async () => {
    expect(await cluster.refused()).toEqual([]);
  });
});

/**
 * How often something of a schedule was done again, because who did it was not heard of in time: zero on a machine that is
 * quick enough.
 */
async function triedAgain(schedule: string): Promise<number> {
  const { events } = await cluster.handle(schedule).fetchHistory();
  return (events ?? []).reduce(
    (sum, { activityTaskStartedEventAttributes: started, workflowTaskTimedOutEventAttributes: timedOut }) =>
      sum + Math.max(0, (started?.attempt ?? 1) - 1) + (timedOut == null ? 0 : 1),
    0,
  );
}

/** What a process tells Prometheus. */
async function scraped(process: SupervisedProcess): Promise<string> {
  const [, address] = /"metrics":"([^"]+)"/.exec(await readFile(process.logFile, 'utf8')) ?? [];
  return await (await fetch(new URL('/metrics', address))).text();
}

/** The value of the one series that has all of these labels; undefined where there is none. */
function valueOf(text: string, metric: string, labels: readonly string[]): number | undefined {
  const line = text
    .split('\n')
    .find((candidate) => candidate.startsWith(`${metric}{`) && labels.every((label) => candidate.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}
