import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { FINALIZER } from '../../../domain/lights-out/schedule/names.ts';
import { commandDescriptions } from '../../../workflows/lights-out/messages.ts';
import { CLUSTER, type HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import { LightsOutCluster, startLightsOutPlane } from '../../lights-out/cluster.ts';
import { asleep, awake } from './schedules.ts';

let headroom: HeadroomPlane;
let cluster: LightsOutCluster;

beforeAll(async () => {
  headroom = await startLightsOutPlane();
  cluster = new LightsOutCluster(headroom);
});

afterAll(async () => {
  await headroom?.stop();
});

/** The address that the starter logged at its start. */
async function addressOf({ logFile }: SupervisedProcess, name: 'health' | 'metrics'): Promise<string> {
  return await eventually(`the starter serves its ${name}`, async () => {
    const lines = (await readFile(logFile, 'utf8')).split('\n').filter((line) => line.includes('"metrics"'));
    return lines.length > 0 && (JSON.parse(lines[0] ?? '{}') as Record<string, string>)[name];
  });
}

/** The signals that the workflow of a schedule has got, in order. There is no worker: nothing else happens to it. */
async function signals(schedule: string): Promise<string[]> {
  const { events = [] } = await cluster.handle(schedule).fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: got }) => got?.signalName ?? []);
}

/** What the starter has listed and watched so far, by resource. */
async function watched(): Promise<Set<string>> {
  const events = await headroom.plane.auditEvents();
  return new Set(
    events.filter(({ user }) => user.username === 'headroom-starter').map(({ objectRef }) => objectRef?.resource ?? ''),
  );
}

describe('the starter', () => {
  it('watches no schedules and no workloads while it does not follow schedules', async () => {
    const starter = await headroom.startStarter({ HEADROOM_LIGHTS_OUT: 'false' });
    await eventually('its watches are in the audit log', async () => (await watched()).has('resourcequotas'));
    expect(
      [...(await watched())].filter((resource) => /schedules|deployments|statefulsets|cronjobs/.test(resource)),
    ).toEqual([]);
    await starter.stop();
  });

  it('starts the workflow of a schedule, and requests a reconcile at a start of the starter for one that nobody observed, and for what is not as it should be', async () => {
    await cluster.namespace('night');
    await cluster.schedule('night', { ...asleep, namespaces: ['night'] });
    const first = await headroom.startStarter();
    const description = await eventually('its workflow runs', async () => await cluster.handle('night').describe());
    expect(description).toMatchObject({
      type: 'lightsOut',
      status: { name: 'RUNNING' },
      taskQueue: taskQueue(CLUSTER),
      priority: { priorityKey: 3 },
    });
    expect(await description.staticSummary()).toBe(`night in ${CLUSTER}`);
    const details = await description.staticDetails();
    for (const command of Object.keys(commandDescriptions)) expect(details).toContain(`**${command}**`);
    expect(await signals('night')).toEqual(['scheduleChanged']);

    await first.stop();
    await headroom.startStarter();
    await eventually('it is told of the second start', async () => (await signals('night')).length === 2);
    await cluster.deployment('night', 'web', 2, { fieldManager: 'argocd-controller' });
    const all = await eventually('it is told of the workload', async () => {
      const sent = await signals('night');
      return sent.length > 2 && sent;
    });
    expect(all).toEqual(['scheduleChanged', 'scheduleChanged', 'workloadsChanged']);
  });

  it('is ready, and has the series of a schedule for as long as that is there', async () => {
    const starter = await headroom.startStarter();
    await cluster.schedule('measured', { ...awake, namespaces: ['nowhere'] });
    const metrics = await addressOf(starter, 'metrics');
    const text = async (): Promise<string> => await (await fetch(`${metrics}/metrics`)).text();
    await eventually('the schedule is measured', async () => (await text()).includes('"measured"'));
    await eventually('its workflow runs', async () => await cluster.handle('measured').describe());
    expect(await text()).toMatch(
      new RegExp(
        `^lightsout_next_transition_seconds\\{schedule="measured",transition_type="upscale",cluster="${CLUSTER}"\\} [\\d.]+$`,
        'm',
      ),
    );
    for (const resource of [
      'lightsoutschedules',
      'namespaces (lights-out)',
      'deployments',
      'statefulsets',
      'cronjobs',
    ]) {
      // A watch is connected shortly after its list.
      await eventually(`${resource} are watched`, async () =>
        (await text())
          .split('\n')
          .includes(`headroom_starter_watch_stale_seconds{resource="${resource}",cluster="${CLUSTER}"} 0`),
      );
    }
    const health = await addressOf(starter, 'health');
    const ready = await eventually('the starter is ready', async () => {
      const answer = await fetch(`${health}/readyz`);
      return answer.status === 200 && answer;
    });
    expect([ready.status, await ready.json()]).toEqual([
      200,
      expect.objectContaining({
        conditions: expect.objectContaining({
          'watch lightsoutschedules': { ready: true },
          'lights-out reconcile requests': { ready: true },
        }),
      }),
    ]);
    await cluster.deleteSchedule('measured');
    await eventually('its series are gone', async () => !(await text()).includes('"measured"'));
  });

  it('counts the reconcile requests that it sends to schedules, and those that wait', async () => {
    await Promise.all(headroom.processes.map(async (process) => await process.stop()));
    // So that there is nothing to be told of the schedules of before, but that the one is there: without a worker, what is
    // told of the other's end goes on for ever.
    await cluster.apps.deleteNamespacedDeployment({ namespace: 'night', name: 'web' });
    await cluster.handle('measured').terminate('no worker ends it here');
    // The starter asks Temporal's visibility what runs, which hears of an end a moment later.
    const { client } = headroom;
    const query = `WorkflowId = '${cluster.handle('measured').workflowId}' AND ExecutionStatus = 'Running'`;
    await eventually('it is known to be over', async () => (await client.workflow.count(query)).count === 0);
    const starter = await headroom.startStarter();
    const metrics = await addressOf(starter, 'metrics');
    const says = async (line: string): Promise<boolean> =>
      (await (await fetch(`${metrics}/metrics`)).text()).split('\n').includes(line);
    const sent = (kind: string, count: number): string =>
      `headroom_starter_reconcile_requests_total{kind="${kind}",cluster="${CLUSTER}"} ${count}`;
    const waiting = (count: number): string =>
      `headroom_starter_reconcile_requests_waiting{cluster="${CLUSTER}"} ${count}`;
    await eventually(
      'it sent a reconcile request for the schedule of before',
      async () => await says(sent('schedule', 1)),
    );
    await eventually('none waits', async () => await says(waiting(0)));
    await cluster.namespace('rehearsed');
    // It gets one reconcile request a minute for its workloads, so the second one waits.
    await cluster.schedule('rehearsed', { ...asleep, namespaces: ['rehearsed'], dryRun: true });
    await eventually('it sent a reconcile request for the new one', async () => await says(sent('schedule', 2)));
    await cluster.deployment('rehearsed', 'web', 2, { fieldManager: 'argocd-controller' });
    await eventually('it sent a reconcile request for its workload', async () => await says(sent('workloads', 1)));
    await cluster.deployment('rehearsed', 'api', 2, { fieldManager: 'argocd-controller' });
    await eventually('one waits', async () => await says(waiting(1)));
    expect(await says(sent('workloads', 1))).toBe(true);
  });

  it('begins a workflow again that was terminated, also where nothing is to be done, and lets those be that run', async () => {
    await Promise.all(headroom.processes.map(async (process) => await process.stop()));
    const nowhere = { ...asleep, namespaces: ['nowhere'] };
    await cluster.schedule('at-rest', nowhere);
    await cluster.schedule('suspended', { ...nowhere, suspend: true });
    await cluster.schedule('deleting', nowhere);
    await cluster.patchSchedule('deleting', { metadata: { finalizers: [FINALIZER] } });
    await cluster.deleteSchedule('deleting');
    await cluster.schedule('running', nowhere);
    await headroom.startStarter({ 'starter.resyncInterval': '1s' });
    const { runId: first } = await eventually(
      'the last one runs',
      async () => await cluster.handle('running').describe(),
    );
    const ended = ['at-rest', 'suspended', 'deleting'];
    // Twice: the first time a reconcile request of the start might begin it.
    for (let times = 0; times < 2; times += 1) {
      for (const schedule of ended) {
        const { runId } = await eventually(`${schedule} runs`, async () => await cluster.handle(schedule).describe());
        await cluster.handle(schedule).terminate('by mistake');
        await eventually(`${schedule} runs again`, async () => {
          const again = await cluster.handle(schedule).describe();
          return again.runId !== runId && again.status.name === 'RUNNING';
        });
      }
    }
    for (const schedule of ended) expect(await signals(schedule)).toEqual([]);
    expect((await cluster.handle('running').describe()).runId).toBe(first);
    expect(await signals('running')).toEqual(['scheduleChanged']);
  });
});
