/** `headroom lights-out` against a cluster with schedules, with and without anybody who follows them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lightsOutId } from '../../../../domain/lights-out/target.ts';
import { taskQueue } from '../../../../domain/kernel/target.ts';
import { GROUP } from '../../../../domain/lights-out/schedule/names.ts';
import type { ScheduleRow } from '../../../../starter/cli/lights-out/rows.ts';
import { type ControlPlane, startControlPlane } from '../../../kernel/servers/control-plane.ts';
import { eventually } from '../../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../../kernel/stack/headroom-plane.ts';
import { untilReported } from '../../../kernel/stack/worker-report.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from '../../../lights-out/cluster.ts';
import { headroom, headroomWithTemporal, type ProgramOutcome } from '../../run-program.ts';

// A test starts up to seven processes, one after the other.
vi.setConfig({ testTimeout: 300_000 });

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
/** Knows nothing of schedules. */
let bare: ControlPlane;
const me = userInfo().username;

beforeAll(async () => {
  [plane, bare] = await Promise.all([startLightsOutPlane(), startControlPlane({ users: [{ name: 'nobody' }] })]);
  cluster = new LightsOutCluster(plane);
});
afterAll(async () => {
  await Promise.all([plane?.stop(), bare?.stop()]);
});

function environment(): Record<string, string> {
  return {
    CLUSTER_NAME: 'test',
    KUBECONFIG: plane.plane.adminKubeconfig,
    TEMPORAL_ADDRESS: plane.temporal.address,
    TEMPORAL_NAMESPACE: plane.temporal.namespace,
  };
}

async function lightsOut(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ProgramOutcome> {
  // Where a test says that Temporal is elsewhere, it is not there.
  const run = 'TEMPORAL_ADDRESS' in env ? headroom : headroomWithTemporal;
  return await run(['lights-out', ...args], { ...environment(), ...env });
}

/** What a command that must succeed prints. */
async function says(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await lightsOut(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** The one sentence of a command that cannot do what it is asked to. */
async function fails(
  code: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const outcome = await lightsOut(args, env);
  expect({ ...outcome, stderr: outcome.stderr.trimEnd().split('\n').length }).toEqual({ code, stdout: '', stderr: 1 });
  return outcome.stderr.trimEnd();
}

async function row(schedule: string): Promise<ScheduleRow | undefined> {
  const rows = JSON.parse(await says('list', '--output', 'json')) as ScheduleRow[];
  return rows.find((listed) => listed.schedule === schedule);
}

describe('headroom lights-out, where nobody follows the schedules,', () => {
  it('says that there are none', async () => {
    expect(await says('list')).toBe('test has no LightsOutSchedule.\n');
    expect(await says('preview')).toBe('test has no LightsOutSchedule.\n');
    expect(await fails(2, ['status', 'nights'])).toBe('there is no LightsOutSchedule "nights" in test: it has none');
  });

  it('lists them with what they say, and that no workflow follows them', async () => {
    await cluster.schedule('quiet', { ...DOWN, timezone: 'Europe/Berlin', namespaces: ['team-z'] });
    const { code, stdout } = await lightsOut(['list']);
    expect(code).toBe(0);
    const [heading, line, ...rest] = stdout.split('\n');
    expect(heading).toMatch(/^SCHEDULE +STATE +PHASE +NEXT +MANAGED +DOWN +SAVED +READY$/);
    expect(line).toMatch(
      /^quiet +Down +- +Up \w{3} \d{4}-01-01 00:00 \+01:00, in \d+ [a-z]+(?: \d+ [a-z]+)? +0 +0 +0\.0 +-$/,
    );
    expect(rest.join(' ').replaceAll(/ +/g, ' ')).toContain(
      'no workflow follows it: it is new, or no starter and worker with HEADROOM_LIGHTS_OUT=true run for the cluster',
    );
    expect(await fails(1, ['wake', 'quiet', '--for', '3h'])).toMatch(
      /^No workflow follows quiet in test: it is new, or/,
    );
  });

  it('names the schedule that was meant', async () => {
    expect(await fails(2, ['pause', 'quiett'])).toBe(
      'there is no LightsOutSchedule "quiett" in test: did you mean quiet?',
    );
    expect(await fails(2, ['preview', 'Quiet'])).toBe(
      'there is no LightsOutSchedule "Quiet" in test: did you mean quiet?',
    );
  });

  it('reports what schedules saved, in words, as JSON and as CSV', async () => {
    const since = '2026-10-30T18:00:00Z';
    const until = '2026-11-02T06:00:00Z';
    const hours = (replicaHours: string, cpuCoreHours: string, memoryGiBHours: string) => {
      return { replicaHours, cpuCoreHours, memoryGiBHours };
    };
    await cluster.schedule('frugal', { ...DOWN, namespaces: ['team-y'] });
    await cluster.patchScheduleStatus('frugal', {
      status: {
        savings: {
          since,
          until,
          months: [
            { month: '2026-11', ...hours('20.00', '5.00', '10.05') },
            { month: '2026-10', ...hours('10.10', '2.55', '5.00') },
          ],
          namespaces: [
            { namespace: 'team-y', ...hours('20.10', '6.55', '10.00') },
            { namespace: '(others)', ...hours('10.00', '1.00', '5.05') },
          ],
        },
      },
    });
    const table = [
      `frugal, from ${since} to ${until}`,
      '  NAMESPACE       REPLICA-HOURS  CPU CORE-HOURS  MEMORY GiB-HOURS',
      '  team-y                   20.1             6.5              10.0',
      '  (others)                 10.0             1.0               5.0',
      '  all namespaces           30.1             7.5              15.1',
      '  MONTH (UTC)     REPLICA-HOURS  CPU CORE-HOURS  MEMORY GiB-HOURS',
      '  2026-11                  20.0             5.0              10.1',
      '  2026-10                  10.1             2.5               5.0',
    ].join('\n');
    expect(await says('report', 'frugal')).toContain(`${table}\n\nIt is what would have run`);
    const all = await says('report');
    expect(all).toContain(table);
    expect(all).toContain('quiet\n  It has saved nothing that its status knows of.');
    expect(all).toContain('\n  all schedules           30.1             7.5              15.1\n');
    expect(await says('report', 'frugal', '--csv')).toBe(
      [
        'schedule,namespace,since,until,replica_hours,cpu_core_hours,memory_gib_hours',
        `frugal,team-y,${since},${until},20.10,6.55,10.00`,
        `frugal,(others),${since},${until},10.00,1.00,5.05`,
        '',
      ].join('\r\n'),
    );
    expect(JSON.parse(await says('report', 'frugal', '--output', 'json'))).toMatchObject([
      { schedule: 'frugal', since, total: { replicaHours: 30.1, cpuCoreHours: 7.55, memoryGiBHours: 15.05 } },
    ]);
    expect(await fails(2, ['report', 'frugl'])).toMatch(/"frugl" in test: did you mean frugal\?$/);
    await cluster.deleteSchedule('frugal');
  });

  it('says of every workload what a schedule would do that is not applied yet, and why it leaves the others', async () => {
    await cluster.namespace('surveyed');
    await cluster.deployment('surveyed', 'web', 3);
    await cluster.deployment('surveyed', 'rest', 0);
    await cluster.deployment('surveyed', 'gate', 1, { labels: { 'app.kubernetes.io/name': 'cert-manager' } });
    const owner = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', name: 'main', uid: 'u1', controller: true };
    await cluster.deployment('surveyed', 'pg', 1, { ownerReferences: [owner] });
    await cluster.namespace('elsewhere');
    await cluster.deployment('elsewhere', 'shop', 2);
    const folder = await mkdtemp(join(tmpdir(), 'headroom-survey-'));
    const file = join(folder, 'new.yaml');
    const spec = { upscale: '0 6 * * *', downscale: '0 20 * * *', namespaces: ['surveyed'], dryRun: true };
    await writeFile(
      file,
      JSON.stringify({ apiVersion: `${GROUP}/v1alpha1`, kind: 'LightsOutSchedule', metadata: { name: 'new' }, spec }),
    );
    try {
      const asked = ['preview', 'new', '--workloads', '--file', file];
      expect(await says(...asked, '--csv')).toBe(
        [
          'namespace,kind,name,does,reason,from,to,autoscalers,detail',
          'surveyed,Deployment,web,sleeps,Down,3,0,,the schedule selects it',
          'surveyed,Deployment,gate,stays,Protected,,,,"it is a part of cert-manager, which no schedule puts to sleep"',
          'surveyed,Deployment,pg,stays,ControllerOwned,,,,"it belongs to the Cluster main, whose controller sets its replicas. To put it to sleep all the same, set spec.controllerOwned: scale"',
          'surveyed,Deployment,rest,stays,AtRest,,,,it has no more replicas than the schedule keeps',
          'elsewhere,Deployment,shop,stays,NamespaceNotSelected,,,,the schedule does not select its namespace',
          '',
        ].join('\r\n'),
      );
      const { counts, workloads } = JSON.parse(await says(...asked, '--output', 'json'));
      expect(counts).toContainEqual({ does: 'sleeps', reason: 'Down', count: 1 });
      expect(workloads).toHaveLength(5);
      const text = await says(...asked);
      expect(text).toMatch(
        /^new in test, the night at .*\n {2}scope [0-9a-f]{16}: 2 workloads\n {2}1 sleeps: Down\n {2}1 left alone: Protected\n/,
      );
      expect(text).toMatch(/sleeps\s+Deployment surveyed\/web\s+3 -> 0\s+Down\s+the schedule selects it/);
      expect(await fails(1, [...asked, '--page', '2'])).toContain('there is 1');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  // These wait for answers that do not come, or ask another cluster: they need not wait for each other.
  it.concurrent('previews a schedule of the cluster without Temporal, and lists without phases', async () => {
    const away = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const preview = await lightsOut(
      ['preview', 'quiet', '--next', '400d', '--from', '2026-06-01T00:00:00Z', '--output', 'json'],
      away,
    );
    expect(preview.code).toBe(0);
    expect(preview.stderr).toMatch(
      /^The settings of the workers are not known: Temporal cannot be reached at 127\.0\.0\.1:1.*\nThis answer goes by the settings of the command line\.\n$/,
    );
    expect(JSON.parse(preview.stdout)).toEqual([
      {
        schedule: 'quiet',
        timezone: 'Europe/Berlin',
        state: 'Down',
        since: '2025-12-31T23:01:00Z',
        transitions: [
          { at: '2026-12-31T23:00:00Z', local: '2027-01-01T00:00:00+01:00', state: 'Up', exception: null },
          { at: '2026-12-31T23:01:00Z', local: '2027-01-01T00:01:00+01:00', state: 'Down', exception: null },
        ],
        days: [],
        downShare: 1,
        problems: [],
        warnings: [],
      },
    ]);
    const list = await lightsOut(['list', '--output', 'json'], away);
    expect(list.code).toBe(0);
    expect(list.stderr).toMatch(/^The phases are not known: Temporal cannot be reached at 127\.0\.0\.1:1: [^\n]*\n$/);
    expect(JSON.parse(list.stdout)).toMatchObject([{ schedule: 'quiet', state: 'Down', phase: null, notes: [] }]);
  });

  it.concurrent('says how to install the definition where the cluster has none, and what its user may not see', async () => {
    const without = { KUBECONFIG: bare.adminKubeconfig };
    for (const args of [['list'], ['preview'], ['status', 'nights']]) {
      expect(await fails(1, args, without)).toContain(
        `Cluster test has no definition of LightsOutSchedule (lightsoutschedules.${GROUP}): install it with "kubectl apply --server-side -f deploy/chart-crds/definitions/lights-out.yaml"`,
      );
    }
    expect(await fails(1, ['list'], { KUBECONFIG: bare.kubeconfigFor('nobody') })).toMatch(
      /^Kubernetes answers: .*cannot list resource "lightsoutschedules".*\. headroom lights-out reads with your own rights, and needs to list lightsoutschedules\.$/,
    );
  });

  it.concurrent('says that no worker answers, where a workflow waits for one', async () => {
    await plane.client.workflow.start('lightsOut', {
      workflowId: lightsOutId({ cluster: 'idle', schedule: 'nights' }),
      taskQueue: taskQueue('idle'),
      args: [{ target: { cluster: 'idle', schedule: 'nights' } }],
    });
    expect(await fails(1, ['status', 'nights'], { CLUSTER_NAME: 'idle' })).toMatch(
      /^No worker of idle answered within 10 s\. Is one running\?/,
    );
  });

  it('previews what the definition lets through and the controller does not, and ends with 1', async () => {
    await cluster.schedule('astray', { ...UP, timezone: 'Europe/Berlyn', namespaces: ['team-z'] });
    const { code, stdout } = await lightsOut(['preview', '--next', '1d']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^astray: invalid\n {2}spec\.timezone: .*Europe\/Berlyn/);
    expect(stdout).toContain('\n\nquiet: Down since');
    expect((await row('astray'))?.notes).toContainEqual(expect.stringMatching(/^invalid: spec\.timezone: /));
    await cluster.deleteSchedule('astray');
  });
});

describe('headroom lights-out, where worker and starter follow the schedules,', () => {
  beforeAll(async () => {
    await Promise.all([plane.startWorker(), plane.startStarter()]);
    await untilReported(plane.client, 'test');
    await cluster.namespace('team-a');
    await cluster.namespace('team-b');
    // By a machine: what a person creates while the schedule says Down is left up.
    await cluster.deployment('team-a', 'web', 3, { fieldManager: 'argocd-controller' });
    await cluster.deployment('team-b', 'web', 2, { fieldManager: 'argocd-controller' });
    await cluster.schedule('nights', { ...DOWN, namespaces: ['team-a', 'team-b'] });
    await cluster.reaches('nights', 'Down');
  });

  it('lists where each stands, and says more of one', async () => {
    const listed = await eventually('the phase is listed', async () => {
      const seen = await row('nights');
      return seen?.phase === 'Down' && seen.ready !== null && seen;
    });
    expect(listed).toMatchObject({
      timezone: 'UTC',
      state: 'Down',
      next: { state: 'Up', local: expect.stringMatching(/-01-01 00:00 \+00:00$/), exception: null },
      managed: 2,
      scaled: 2,
      ready: { status: 'True' },
      notes: [],
    });
    const { scope } = JSON.parse(await says('preview', 'nights', '--workloads', '--output', 'json'));
    expect(scope).toEqual({ digest: expect.stringMatching(/^[0-9a-f]{16}$/), workloads: 2 });
    expect((await cluster.readSchedule('nights')).status?.scope).toEqual(scope);
    const text = await says('status', 'nights');
    expect(text).toContain(`  Scope ${scope.digest}: 2 workloads`);
    expect(text).toContain('headroom lights-out preview nights --workloads');
    expect(text).toMatch(/^nights: Down \(\w+\) since \d{4}-/);
    expect(text).toMatch(/^ {2}The schedule says Down\.\n {2}Next: Up at \d{4}-01-01T00:00:00Z \(in /m);
    expect(text).toMatch(/^ {2}Saved so far: \d+\.\d replica-hours$/m);
    expect(JSON.parse(await says('status', 'nights', '--output', 'json'))).toMatchObject({
      target: { cluster: 'test', schedule: 'nights' },
      phase: 'Down',
    });
  });

  it('wakes one namespace for a while in the name of the user, and cancels it', async () => {
    const answer = await says('wake', 'nights', '--for', '3h', '--namespace', 'team-a', '--reason', 'release');
    expect(answer).toMatch(new RegExp(`^Awake in team-a until \\S+Z \\(in .*\\) \\(by ${me}: release\\)\\.\\n$`));
    await eventually('team-a is up', async () => (await cluster.replicas('team-a', 'web')) === 3);
    expect(await cluster.replicas('team-b', 'web')).toBe(0);
    expect(await says('status', 'nights')).toMatch(
      new RegExp(`^ {2}Awake in team-a until \\S+ \\(in .*\\), by ${me}: release$`, 'm'),
    );
    await eventually('the list has it, too', async () =>
      (await row('nights'))?.notes.some((note) => note.startsWith('awake in team-a until ')),
    );
    expect(await says('cancel', 'nights', '--by', 'bob')).toMatch(/^Ended: awake in team-a until /);
    await eventually('team-a is down', async () => (await cluster.replicas('team-a', 'web')) === 0);
  });

  it('takes a moment for an end, and passes on why the workflow rejects it', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const answer = JSON.parse(
      await says('sleep', 'nights', '--until', until, '--by', 'alice', '--output', 'json'),
    ) as unknown;
    expect(answer).toEqual({
      command: 'sleep',
      answer: `asleep until ${until.replace(/\.\d+Z$/, 'Z')} (by alice)`,
    });
    await says('cancel', 'nights');
    expect(await fails(1, ['cancel', 'nights'])).toMatch(/^There is nothing to cancel/);
    expect(await fails(1, ['wake', 'nights', '--until', '2020-01-01T00:00:00Z'])).toBe(
      '2020-01-01T00:00:00Z is in the past.',
    );
    expect(await fails(1, ['approve', 'nights'])).toBe('The schedule asks for no approval.');
  });

  it('pauses, resumes and reconciles', async () => {
    expect(await says('pause', 'nights', '--reason', 'upgrade')).toBe(
      `Paused by ${me}: lights-out of nights. Nothing is written for it until resume.\n`,
    );
    const isPaused = new RegExp(`^Paused by ${me} since \\S+ \\(.* ago\\): upgrade \\(ConfigMap headroom-pauses`, 'm');
    await eventually('the status shows the pause', async () => isPaused.test(await says('status', 'nights')));
    expect(await fails(1, ['pause', 'nights'])).toBe(
      `Paused already by ${me}: lights-out of nights. headroom pauses shows since when.`,
    );
    expect(await says('resume', 'nights')).toBe(`Resumed by ${me}: lights-out of nights.\n`);
    await eventually('the status shows the end', async () => !isPaused.test(await says('status', 'nights')));
    expect(await says('reconcile-now', 'nights')).toBe(`Checking again now, as asked by ${me}.\n`);
  });
});
