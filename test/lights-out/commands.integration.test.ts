/** What operators say to schedules, by every way there is, on a real control plane. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../activities/kernel/pause.ts';
import { PAUSES } from '../../domain/kernel/pause.ts';
import { storePause } from '../../domain/kernel/stored-pause.ts';
import { EXCLUDE_UNTIL, SLEEP_UNTIL, WAKE_UNTIL } from '../../domain/lights-out/schedule/names.ts';
import { commandSignals } from '../../workflows/lights-out/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from './cluster.ts';
import { headroomWithTemporal } from '../starter/run-program.ts';

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

/** A schedule of one namespace of the same name, with one Deployment of three replicas. */
async function given(name: string, spec: Readonly<Record<string, unknown>> = DOWN): Promise<void> {
  await cluster.namespace(name);
  await cluster.deployment(name, 'web', 3);
  await cluster.schedule(name, { namespaces: [name], ...spec });
  const { downscale } = { downscale: '', ...spec };
  await cluster.reaches(name, downscale === UP.downscale ? 'Up' : 'Down', 'AsScheduled');
}

async function untilAwake(name: string, deployment = 'web'): Promise<void> {
  await eventually(`${deployment} of ${name} is awake`, async () => (await cluster.replicas(name, deployment)) === 3);
}

async function untilAsleep(name: string, deployment = 'web'): Promise<void> {
  await eventually(`${deployment} of ${name} sleeps`, async () => (await cluster.replicas(name, deployment)) === 0);
}

/** As `headroom pause --namespace` writes it; null ends it. */
async function pauseNamespace(namespace: string, by: string | null): Promise<void> {
  const value = by === null ? null : storePause({ by, reason: 'a test', at: Date.now() });
  await cluster.core.patchNamespacedConfigMap(
    {
      name: PAUSES,
      namespace: 'namespace-resizer-system',
      body: { data: { [keyOf({ kind: 'namespace', namespace })]: value } },
    },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

/** A moment that does not come while a test runs, however slow the machine is. */
function later(): string {
  return new Date(Date.now() + 3_600_000).toISOString();
}

/** A moment that is waited for: a whole second, as people write it. */
function soon(): string {
  return new Date(Math.ceil(Date.now() / 1000) * 1000 + 5_000).toISOString();
}

describe.concurrent('a schedule that is woken', () => {
  it('by the command line is awake for as long as that says', async () => {
    await given('by-cli');
    const environment = {
      CLUSTER_NAME: CLUSTER,
      KUBECONFIG: plane.plane.adminKubeconfig,
      TEMPORAL_ADDRESS: plane.temporal.address,
      TEMPORAL_NAMESPACE: plane.temporal.namespace,
    };
    /** Says when it ends. */
    const wake = async (span: string): Promise<string> => {
      const args = ['lights-out', 'wake', 'by-cli', '--for', span, '--by', 'alice', '--reason', 'release'];
      const { code, stdout, stderr } = await headroomWithTemporal(args, environment);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const form = /^Awake until (\S+Z) \(in [^)]+\) \(by alice: release\)\.\n$/;
      expect(stdout).toMatch(form);
      return form.exec(stdout)?.[1] ?? '';
    };
    await wake('1h');
    await untilAwake('by-cli');
    const { status } = await eventually('the status has it', async () => {
      const seen = await cluster.readSchedule('by-cli');
      return seen.status?.overrides !== undefined && seen;
    });
    expect(status?.overrides).toEqual([expect.objectContaining({ kind: 'wake', by: 'alice', reason: 'release' })]);
    // In the place of the hour, which is nothing to wait for.
    const until = await wake('5s');
    await untilAsleep('by-cli');
    expect(await cluster.writtenAt('by-cli', 'web', 3)).toBeGreaterThanOrEqual(Date.parse(until));
    const { overrides } = await cluster.reaches('by-cli', 'Down', 'AsScheduled');
    expect(overrides).toEqual([]);
  });

  it('by an update is awake in the namespace that this names, and the others sleep', async () => {
    await cluster.namespace('other');
    await cluster.deployment('other', 'web', 3);
    await given('by-update', { ...DOWN, namespaces: ['by-update', 'other'] });
    const answer = await cluster.command('by-update', 'wake', { for: '1h', namespace: 'other' });
    expect(answer).toMatch(/^awake in other until \S+Z \(by alice\)$/);
    await untilAwake('other');
    expect(await cluster.replicas('by-update', 'web')).toBe(0);
    await cluster.command('by-update', 'cancel');
    await untilAsleep('other');
    await expect(cluster.command('by-update', 'wake', { for: '1h', namespace: 'elsewhere' })).rejects.toMatchObject({
      cause: { message: 'elsewhere is not in the scope of the schedule' },
    });
  });

  it('by a signal is awake, and asleep when it is put to sleep by another', async () => {
    await given('by-signal');
    await cluster.handle('by-signal').signal(commandSignals.wake, { by: 'bob', for: '1h' });
    await untilAwake('by-signal');
    await cluster.handle('by-signal').signal(commandSignals.sleep, { by: 'bob', for: '1h' });
    await untilAsleep('by-signal');
  });

  it('by an annotation is awake until the moment that it names', async () => {
    await given('by-annotation');
    const says = async (until: string): Promise<void> =>
      await cluster.patchSchedule('by-annotation', { metadata: { annotations: { [WAKE_UNTIL]: until } } });
    await says(later());
    await untilAwake('by-annotation');
    const until = soon();
    await says(until);
    await untilAsleep('by-annotation');
    expect(await cluster.writtenAt('by-annotation', 'web', 3)).toBeGreaterThanOrEqual(Date.parse(until));
  });

  it('by an annotation of a Namespace is awake there until the moment that it names', async () => {
    await given('by-namespace');
    await cluster.patchNamespace('by-namespace', { annotations: { [WAKE_UNTIL]: later() } });
    await untilAwake('by-namespace');
    const until = soon();
    await cluster.patchNamespace('by-namespace', { annotations: { [WAKE_UNTIL]: until } });
    await untilAsleep('by-namespace');
    expect(await cluster.writtenAt('by-namespace', 'web', 3)).toBeGreaterThanOrEqual(Date.parse(until));
  });

  it('by an annotation of a Deployment has that awake until the moment that it names, and says what it cannot read', async () => {
    await cluster.namespace('by-workload');
    await cluster.deployment('by-workload', 'api', 3, { annotations: { [WAKE_UNTIL]: 'tomorrow' } });
    await cluster.deployment('by-workload', 'web', 3);
    await cluster.schedule('by-workload', { ...DOWN, namespaces: ['by-workload'] });
    await cluster.reaches('by-workload', 'Down', 'AsScheduled');
    await cluster.eventMatching(
      'by-workload',
      /^BadAnnotation: Deployment by-workload\/api: the annotation \S+ is "tomorrow", and is/,
    );
    expect(await cluster.replicas('by-workload', 'api')).toBe(0);
    const says = async (until: string): Promise<void> =>
      await cluster.patchDeployment('by-workload', 'web', { metadata: { annotations: { [WAKE_UNTIL]: until } } });
    await says(later());
    await untilAwake('by-workload');
    expect(await cluster.replicas('by-workload', 'api')).toBe(0);
    const until = soon();
    await says(until);
    await untilAsleep('by-workload');
    expect(await cluster.writtenAt('by-workload', 'web', 3)).toBeGreaterThanOrEqual(Date.parse(until));
  });

  it('is left alone by an annotation until the moment that it names, or until somebody can read it', async () => {
    const name = 'excluded';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.deployment(name, 'bad', 2, { annotations: { [EXCLUDE_UNTIL]: 'after the release' } });
    await cluster.schedule(name, { ...DOWN, namespaces: [name] });
    await untilAsleep(name);
    await cluster.eventMatching(
      name,
      /^BadAnnotation: Deployment excluded\/bad: the annotation \S+ is "after the release", which cannot be read, so nothing is put to sleep/,
    );
    expect(await cluster.replicas(name, 'bad')).toBe(2);
    const says = async (until: string): Promise<void> =>
      await cluster.patchDeployment(name, 'web', { metadata: { annotations: { [EXCLUDE_UNTIL]: until } } });
    await says(later());
    await untilAwake(name);
    const leftAlone = async () => (await cluster.readSchedule(name)).status?.scope?.leftAlone;
    await eventually(
      'the status counts it',
      async () => (await leftAlone())?.some(({ reason }) => reason === 'Excluded') === true,
    );
    // It goes before commands.
    await cluster.command(name, 'sleep', { for: '1h' });
    expect(await cluster.replicas(name, 'web')).toBe(3);
    await cluster.command(name, 'cancel');
    const until = soon();
    await says(until);
    await untilAsleep(name);
    expect(await cluster.writtenAt(name, 'web', 3)).toBeGreaterThanOrEqual(Date.parse(until));
    await cluster.patchDeployment(name, 'bad', { metadata: { annotations: { [EXCLUDE_UNTIL]: null } } });
    await eventually('it sleeps once the annotation is gone', async () => (await cluster.replicas(name, 'bad')) === 0);
  });

  it('is asleep by day for as long as somebody said so', async () => {
    await given('nap', UP);
    await cluster.command('nap', 'sleep', { for: '1h' });
    await untilAsleep('nap');
    // A span, as a moment that is over when it is heard is refused.
    const answer = await cluster.command('nap', 'sleep', { for: '5s' });
    const [, until = ''] = /^asleep until (\S+Z) \(by alice\)$/.exec(answer) ?? [];
    await untilAwake('nap');
    expect(await cluster.writtenAt('nap', 'web', 2)).toBeGreaterThanOrEqual(Date.parse(until));
    // The Namespace says more than the schedule.
    await cluster.patchNamespace('nap', {
      annotations: { [SLEEP_UNTIL]: new Date(Date.now() + 3_600_000).toISOString() },
    });
    await untilAsleep('nap');
    await cluster.patchNamespace('nap', { annotations: { [SLEEP_UNTIL]: null } });
    await untilAwake('nap');
  });
});

describe.concurrent('a schedule that asks for an approval', () => {
  it('puts nothing to sleep before its first run is approved, and says what it would', async () => {
    const name = 'approval';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.schedule(name, { ...DOWN, namespaces: [name], requireApproval: true });
    const status = await cluster.reaches(name, 'AwaitingApproval', 'ApprovalNeeded');
    expect(status.facts).toContain(`Waits for the approval: Deployment ${name}/web 3 -> 0`);
    expect(await cluster.ready(name)).toMatch(/^True AwaitingApproval: 1 workload would be put to sleep/);
    await cluster.eventMatching(
      name,
      /^ApprovalNeeded: 1 workload would be put to sleep for the first time: .* Approve it with headroom lights-out approve\.$/,
    );
    expect(await cluster.writes(name)).toEqual([]);
    expect(await cluster.command(name, 'approve')).toBe('approved by alice');
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(0);
    expect((await cluster.readSchedule(name)).status?.approved).toMatchObject({ by: 'alice' });
    // Only the first run is asked for.
    await cluster.patchSchedule(name, { spec: UP });
    await untilAwake(name);
    await cluster.patchSchedule(name, { spec: DOWN });
    await untilAsleep(name);
  });
});

describe.concurrent('an approval', () => {
  it('is of the workloads that were there: what joins stays up and is named until it is approved as well', async () => {
    const name = 'joined';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.schedule(name, { ...DOWN, namespaces: [name], requireApproval: true });
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalNeeded');
    const scopeOf = async () => (await cluster.readSchedule(name)).status?.scope;
    const approvalOf = async () => (await cluster.readSchedule(name)).status?.approved;
    const first = await eventually('the digest is there', scopeOf);
    await expect(cluster.command(name, 'approve', { digest: 'ffffffffffffffff' })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('look at them again') },
    });
    await cluster.command(name, 'approve', { digest: first.digest });
    await untilAsleep(name);
    await cluster.eventMatching(name, /^Approved: 1 workload is approved by alice, with the digest [0-9a-f]{16}\.$/);
    const approved = await eventually('the status has it', approvalOf);
    expect(approved).toMatchObject({ by: 'alice', digest: first.digest, workloads: 1 });
    // By a machine: what a person creates in the night is left up anyway.
    await cluster.deployment(name, 'api', 2, { fieldManager: 'argocd-controller' });
    await cluster.eventMatching(
      name,
      /^ApprovalNeeded: 1 workload has joined since the approval and stays up: Deployment joined\/api\./,
    );
    expect(await cluster.replicas(name, 'api')).toBe(2);
    expect(await cluster.replicas(name, 'web')).toBe(0);
    expect((await scopeOf())?.leftAlone).toContainEqual({ reason: 'NotApproved', workloads: 1 });
    expect(await cluster.ready(name)).toMatch(
      /1 workload that joined since the approval stays up until it is approved/,
    );
    expect(await cluster.command(name, 'approve')).toBe('approved by alice');
    await eventually('it sleeps as well', async () => (await cluster.replicas(name, 'api')) === 0);
    await eventually('the status has both', async () => (await approvalOf())?.workloads === 2);
    await cluster.patchSchedule(name, { spec: UP });
    await eventually('all are up', async () => (await cluster.replicas(name, 'api')) === 2);
    await untilAwake(name);
  });

  it('that an earlier release was given is of whatever the schedule selects', async () => {
    const name = 'earlier';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.schedule(name, { ...UP, namespaces: [name], requireApproval: true });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await cluster.handle(name).terminate();
    const body = { status: { approved: { by: 'jane', at: '2026-11-01T10:00:00Z' } } };
    await cluster.patchScheduleStatus(name, body);
    await cluster.patchSchedule(name, { spec: DOWN });
    await untilAsleep(name);
    await cluster.deployment(name, 'api', 2, { fieldManager: 'argocd-controller' });
    await eventually('what joins sleeps as well', async () => (await cluster.replicas(name, 'api')) === 0);
  });
});

describe.concurrent('an exception by date', () => {
  it('puts to sleep on a holiday, whatever the crons say, and its end wakes', async () => {
    const name = 'holiday';
    // Of one moment: midnight may come before the last of them is asked for.
    const now = Date.now();
    const day = (offset: number) => new Date(now + offset * 86_400_000).toISOString().slice(0, 10);
    const holidays = { from: day(-1), to: day(1), state: 'Down', reason: 'a bank holiday' };
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.schedule(name, { ...UP, namespaces: [name], exceptions: [holidays] });
    const { detail } = await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(detail).toMatch(
      new RegExp(
        `^the schedule is asleep \\(.*a bank holiday.*\\), and 1 workload is asleep\\. It wakes at \\w{3} ${day(2)} 00:00`,
      ),
    );
    expect(await cluster.replicas(name, 'web')).toBe(0);
    await cluster.patchSchedule(name, { spec: { exceptions: [] } });
    await untilAwake(name);
  });
});

describe.concurrent('a dry run', () => {
  it('lists what would be done and writes to no workload', async () => {
    const name = 'dry';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.cronJob(name, 'report');
    await cluster.schedule(name, { ...DOWN, namespaces: [name], dryRun: true });
    const status = await cluster.reaches(name, 'DryRun', 'DryRun');
    expect(status.detail).toBe('this dry run would change 2 workloads');
    const wanted = [`CronJob ${name}/report suspended`, `Deployment ${name}/web 3 -> 0`];
    expect(status.facts).toEqual(expect.arrayContaining(wanted.map((sentence) => `Would be done: ${sentence}`)));
    expect(await cluster.ready(name)).toBe(`True DryRun: This dry run would change 2 workloads: ${wanted.join('; ')}.`);
    expect([await cluster.replicas(name, 'web'), await cluster.suspended(name, 'report')]).toEqual([3, false]);
    expect(await cluster.writes(name)).toEqual([]);
    expect((await cluster.readSchedule(name)).metadata.finalizers).toBeUndefined();
    await cluster.patchSchedule(name, { spec: { dryRun: false } });
    await untilAsleep(name);
  });

  it('that begins in the night says what it leaves asleep, and is not ready', async () => {
    const name = 'dry-by-night';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.asleep(name, { namespaces: [name] });
    await cluster.patchSchedule(name, { spec: { dryRun: true } });
    await cluster.reaches(name, 'DryRun', 'DryRun');
    expect(await cluster.ready(name)).toMatch(
      /^False DryRun: This dry run would change nothing\. 1 workload that it put to sleep stays asleep until dryRun is removed\./,
    );
    expect(await cluster.replicas(name, 'web')).toBe(0);
    await cluster.patchSchedule(name, { spec: { ...UP, dryRun: false } });
    await untilAwake(name);
    await eventually('it is ready', async () => ((await cluster.ready(name)) ?? '').startsWith('True '));
  });
});

describe.concurrent('a schedule that is suspended or paused', () => {
  it('neither wakes nor puts to sleep while spec.suspend is true, and does what is due afterwards', async () => {
    const name = 'suspended';
    await given(name);
    await cluster.patchSchedule(name, { spec: { ...UP, suspend: true } });
    await cluster.reaches(name, 'Suspended', 'Suspended');
    expect(await cluster.ready(name)).toMatch(/^True Suspended: /);
    await cluster.deployment(name, 'new', 3, { fieldManager: 'argocd-controller' });
    await cluster.command(name, 'reconcileNow');
    await cluster.reaches(name, 'Suspended', 'Suspended');
    expect([await cluster.replicas(name, 'web'), await cluster.replicas(name, 'new')]).toEqual([0, 3]);
    await cluster.patchSchedule(name, { spec: { suspend: false } });
    await untilAwake(name);
  });

  it('does nothing from pause to resume, and then what is due', async () => {
    const name = 'paused';
    await given(name);
    expect(await cluster.command(name, 'pause', { reason: 'upgrade' })).toMatch(/^paused by alice: /);
    const paused = await cluster.reaches(name, 'Paused', 'Paused');
    expect(paused.detail).toMatch(/^paused by alice since \S+Z: upgrade \(ConfigMap headroom-pauses/);
    await eventually('the condition says so', async () => (await cluster.ready(name)).startsWith('Unknown Paused: '));
    await cluster.patchSchedule(name, { spec: UP });
    await eventually('it has seen the change', async () => {
      const { status } = await cluster.readSchedule(name);
      return status?.observedGeneration === 2;
    });
    expect(await cluster.replicas(name, 'web')).toBe(0);
    await cluster.command(name, 'resume');
    await untilAwake(name);
    expect((await cluster.reaches(name, 'Up', 'AsScheduled')).paused).toBeNull();
  });

  it('is deleted when the pause of its namespace ends, and rests until then', async () => {
    const name = 'held';
    await given(name);
    await pauseNamespace(name, 'carol');
    await cluster.deleteSchedule(name);
    const { detail } = await cluster.reaches(name, 'CleaningUp', 'Paused');
    expect(detail).toContain('1 workload waits for the end of the pause of its namespace');
    // The starter reports the pause as well, which is one pass more; after it nothing comes.
    let [length, since] = [0, Date.now()];
    await eventually('its history stays as it is for three seconds', async () => {
      const { historyLength } = await cluster.handle(name).describe();
      if (historyLength !== length) [length, since] = [historyLength, Date.now()];
      return Date.now() - since >= 3_000;
    });
    await pauseNamespace(name, null);
    await untilAwake(name);
    await eventually('it is gone', async () => await cluster.scheduleIsGone(name));
  });
});

describe('Headroom that is paused in the whole cluster', () => {
  it('neither wakes nor puts to sleep and says who paused it, and goes on when told', async () => {
    const namespace = 'namespace-resizer-system';
    await given('global');
    await cluster.core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: 'headroom-pause' }, data: { by: 'carol', reason: 'an incident' } },
    });
    await cluster.patchSchedule('global', { spec: UP });
    const paused = await cluster.reaches('global', 'Paused', 'GloballyPaused');
    expect(paused.detail).toMatch(/^Headroom is paused in this cluster by carol since \S+: an incident/);
    expect(await cluster.replicas('global', 'web')).toBe(0);
    expect(await cluster.ready('global')).toMatch(/^Unknown GloballyPaused: /);
    await cluster.core.deleteNamespacedConfigMap({ namespace, name: 'headroom-pause' });
    await untilAwake('global');
  });
});

describe('in all of this', () => {
  it('no request of worker and starter was forbidden', async () => {
    expect(await cluster.refused()).toEqual([]);
  });
});
