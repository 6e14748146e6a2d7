/** The replay gate: code that would do something else than recorded histories did must not be deployed. */
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import * as workflows from '../../workflows/index.ts';
import { declaredActivities } from '../kernel/activity-names.ts';
import { type Change, changedWorkflows } from './changed-workflows.ts';
import { attributesOf, readHistories, type RecordedHistory, textsOf, UNRELEASED } from './histories.ts';

const RECORD = 'npm run replay:record';
const NONDETERMINISM = /nondeterminism/i;
const CONTINUED = 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW';

let recorded: RecordedHistory[];

beforeAll(async () => {
  // A failed replay is an outcome of this test and not a thing to log.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), telemetryOptions: { logging: { filter: 'OFF' } } });
  recorded = await readHistories();
});

/** What each history says to the workflows at this path: nothing, or why it cannot be replayed. */
async function replay(workflowsPath: string): Promise<Map<string, string | null>> {
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) });
  const histories = recorded.map(({ release, name, history }) => ({ workflowId: `${release}/${name}`, history }));
  const outcomes = new Map<string, string | null>();
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    outcomes.set(workflowId, error === undefined ? null : error.message.slice(0, 300));
  }
  return outcomes;
}

async function replayChanged(...changes: Change[]): Promise<Map<string, string | null>> {
  const { workflowsPath, remove } = await changedWorkflows(changes);
  try {
    return await replay(workflowsPath);
  } finally {
    await remove();
  }
}

function failed(outcomes: Map<string, string | null>): Record<string, string> {
  return Object.fromEntries([...outcomes].filter((entry): entry is [string, string] => entry[1] !== null));
}

function ofType(workflowType: string): RecordedHistory[] {
  return recorded.filter((one) => one.workflowType === workflowType);
}

describe('the workflows as they are', () => {
  it('replay every history that any release recorded', async () => {
    const outcomes = await replay(new URL('../../workflows/index.ts', import.meta.url).pathname);
    expect(outcomes.size).toBe(recorded.length);
    expect(failed(outcomes), `if no release has the code that recorded them, record anew: ${RECORD}`).toEqual({});
  });

  it.each(Object.keys(workflows))('have recorded histories of %s', (workflowType) => {
    expect(ofType(workflowType).length, `add a scenario of ${workflowType} and run ${RECORD}`).toBeGreaterThan(0);
  });

  it('have a recorded chain of runs that continued as new, each with the first event of the next', () => {
    const continued = recorded.filter(({ events }) => events.at(-1)?.eventType === CONTINUED);
    expect(continued.length).toBeGreaterThan(1);
    const firstRuns = new Set(recorded.map(({ events }) => attributesOf(events[0])['continuedExecutionRunId'] ?? ''));
    for (const { events } of continued) {
      expect(firstRuns).toContain(attributesOf(events[0])['originalExecutionRunId']);
    }
    const carried = recorded.filter(({ events }) => attributesOf(events[0])['continuedExecutionRunId'] !== undefined);
    expect(carried.at(-1)?.events.at(-1)?.eventType).not.toBe(CONTINUED);
  });

  it('have a recording of every activity that they can call', async () => {
    const scheduled = new Set(
      recorded
        .flatMap(({ events }) =>
          events.map((event) => attributesOf(event)['activityType'] as { name: string } | undefined),
        )
        .map((type) => type?.name),
    );
    expect([...scheduled]).toEqual(expect.arrayContaining(await declaredActivities()));
  });
});

describe('the replay gate', () => {
  const look = 'const seen = await look();';
  const file = 'workflows/quota-resize/workflow.ts';

  it('fails for one activity call more at the start of the loop', async () => {
    const outcomes = failed(
      await replayChanged({ file, from: look, to: `await observing.observeQuota({ target });${look}` }),
    );
    const resizes = ofType('quotaResize').map(({ release, name }) => `${release}/${name}`);
    expect(Object.keys(outcomes).toSorted()).toEqual(resizes.toSorted());
    for (const message of Object.values(outcomes)) expect(message).toMatch(NONDETERMINISM);
  });

  it('fails for a decision that comes out differently, far away in the domain', async () => {
    const outcomes = failed(
      await replayChanged({
        file: 'domain/quota-resize/decide/decide-decision.ts',
        from: "if (policy.mode === 'observe') {",
        to: "if (policy.mode !== 'observe') {",
      }),
    );
    expect(outcomes[`${UNRELEASED}/threshold-merged`]).toMatch(NONDETERMINISM);
  });

  it('passes for the same call behind a patch, and for other words', async () => {
    const outcomes = await replayChanged(
      { file, from: look, to: `if (patched('look-twice')) await observing.observeQuota({ target });${look}` },
      { file, from: '  log,\n', to: '  log,\n  patched,\n' },
      { file: 'domain/quota-resize/decide/decide-idle.ts', from: 'cooling down until ', to: 'resting until ' },
    );
    expect(failed(outcomes)).toEqual({});
  });
});

describe('a recorded history', () => {
  it('holds no credential, no path and no address of the machine that recorded it', () => {
    const secret =
      /(?:127\.0\.0\.1|localhost):\d+|\/(?:home|root|tmp|Users|work)\/|\bgh[pousr]_\w+|bearer |forge-token/i;
    const found = recorded.flatMap(({ name, events }) =>
      textsOf(events)
        .filter((text) => secret.test(text))
        .map((text) => `${name}: ${text.slice(0, 200)}`),
    );
    expect(found).toEqual([]);
  });
});
