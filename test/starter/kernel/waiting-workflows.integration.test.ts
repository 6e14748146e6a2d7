/** Which workflows wait, as a starter finds out from a real Temporal, where no worker answers. */
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControllerName } from '../../../domain/kernel/controllers.ts';
import { WaitingWorkflows } from '../../../starter/kernel/waiting-workflows.ts';
import { borrowTemporal } from '../../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { clientConnectionOptions } from '../../../platform/temporal/temporal.ts';

let temporal: TemporalServer;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  temporal = await borrowTemporal();
  connection = await Connection.connect(clientConnectionOptions({ address: temporal.address }, 10_000));
  client = new Client({ connection, namespace: temporal.namespace });
});
afterAll(async () => {
  await connection?.close();
  await temporal?.stop();
});

const log = { warn: () => {}, info: () => {} };

/** A workflow that nobody runs, as it would be found. */
async function given(target: string, phase: string, cluster: string, controller = 'quota-resize'): Promise<string> {
  const workflowId = `${controller}/${cluster}/${target}`;
  const key = (name: string) => defineSearchAttributeKey(name, 'KEYWORD');
  await client.workflow.start('quotaResize', {
    workflowId,
    taskQueue: 'nobody',
    args: [],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: key('HeadroomController'), value: controller },
      { key: key('HeadroomTarget'), value: target },
      { key: key('HeadroomPhase'), value: phase },
      { key: key('HeadroomCluster'), value: cluster },
    ]),
  });
  return workflowId;
}

describe('the workflows that wait', () => {
  it('are those of the cluster and of none, in these phases, and the reason is Unknown where no worker says it', async () => {
    const before = Date.now();
    const blocked = await given('a/one', 'Blocked', 'here');
    await given('a/two', 'AwaitingApproval', '*');
    await given('a/three', 'CoolingDown', 'here');
    await given('a/four', 'Blocked', 'elsewhere');
    const waiting = new WaitingWorkflows({
      client,
      cluster: 'here',
      phases: ['Blocked', 'AwaitingApproval'],
      controllers: null,
      log,
    });
    const found = async () => {
      await waiting.look();
      return waiting.latest() ?? [];
    };
    // What was started is listed a moment later.
    await eventually('both are listed', async () => (await found()).length === 2);
    const all = await found();
    expect(all.map(({ target, phase, reason }) => [target, phase, reason])).toEqual([
      ['a/two', 'AwaitingApproval', 'Unknown'],
      ['a/one', 'Blocked', 'Unknown'],
    ]);
    for (const { since } of all) {
      expect(since).toBeGreaterThanOrEqual(before - 1_000);
      expect(since).toBeLessThanOrEqual(Date.now());
    }
    await client.workflow.getHandle(blocked).terminate();
    await eventually('one is left', async () => (await found()).length === 1);
  });

  it('are those of the controllers that the starter tells of', async () => {
    await given('a/one', 'Blocked', 'apart');
    await given('nights', 'Blocked', 'apart', 'lights-out');
    await given('pool', 'Blocked', 'apart', 'node-group');
    const found = async (controllers: readonly ControllerName[] | null) => {
      const waiting = new WaitingWorkflows({ client, cluster: 'apart', phases: ['Blocked'], controllers, log });
      await waiting.look();
      return waiting.latest()?.map(({ controller }) => controller);
    };
    await eventually('all are listed', async () => (await found(null))?.length === 3);
    expect(await found(['lights-out'])).toEqual(['lights-out']);
    expect(await found(['quota-resize', 'github-budget', 'node-group'])).toEqual(['node-group', 'quota-resize']);
  });

  it('are looked for when somebody asks, and told as they were found last until that is too old', async () => {
    await given('b/one', 'Blocked', 'asked');
    let now = Date.now();
    const waiting = new WaitingWorkflows({
      client,
      cluster: 'asked',
      phases: ['Blocked'],
      controllers: null,
      log,
      now: () => now,
    });
    expect(waiting.latest()).toBeNull();
    await eventually('they are found', () => waiting.latest() !== null);
    await eventually('the one is listed', () => {
      // Asked again so soon, it would tell the same.
      now += 15_000;
      return waiting.latest()?.length === 1;
    });
    const gone = new WaitingWorkflows({
      client: new Client({ connection, namespace: 'there-is-none' }),
      cluster: 'asked',
      phases: ['Blocked'],
      controllers: null,
      log,
    });
    await gone.look();
    expect(gone.latest()).toBeNull();
    expect([gone.listed(), gone.trouble]).toEqual([null, expect.stringContaining('there-is-none')]);
  });

  it('are known by their phase to whoever waits for the list, before anybody has answered for them', async () => {
    await given('c/one', 'Blocked', 'read');
    let now = Date.now();
    const waiting = new WaitingWorkflows({
      client,
      cluster: 'read',
      phases: ['Blocked'],
      controllers: null,
      log,
      now: () => now,
    });
    expect(waiting.listed()).toBeNull();
    await eventually('the one is listed', async () => {
      now += 10_000;
      await waiting.refresh(10_000);
      return waiting.listed()?.length === 1;
    });
    expect(waiting.listed()).toMatchObject([{ target: 'c/one', phase: 'Blocked', reason: 'Unknown' }]);
    // Its question has no answer yet: what metrics tell is still what was found before it.
    expect(waiting.latest() ?? []).toEqual([]);
    expect(waiting.trouble).toBeNull();
  });
});
