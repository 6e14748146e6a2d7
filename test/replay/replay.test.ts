/** The replay gate: code that would do something else than recorded histories did must not be deployed. */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import * as workflows from '../../workflows/index.ts';
import { declaredActivities } from '../kernel/activity-names.ts';
import type { Change } from './changed-workflows.ts';
import { controllers, coverageFor, workflowTypesOf } from './controllers.ts';
import { gapsOf } from './coverage.ts';
import { attributesOf, readHistories, type RecordedHistory, textsOf, UNRELEASED } from './histories.ts';
import { differences, idOf, replayTraced, type Traced } from './trace.ts';

const RECORD = 'npm run replay:record';
const NONDETERMINISM = /nondeterminism/i;

let recorded: RecordedHistory[];
/** Of the workflows as they are. */
let traced: readonly Traced[];

beforeAll(async () => {
  // An earlier file may have left a runtime, of which a process has one. A failed replay is an outcome and not a thing to log.
  await Runtime.instance().shutdown();
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), telemetryOptions: { logging: { filter: 'OFF' } } });
  recorded = await readHistories();
  const coverages = await Promise.all(controllers.map(coverageFor));
  const decisions = coverages.flatMap(Object.values).flatMap(({ decision }) => decision ?? []);
  traced = await replayTraced(recorded, decisions);
  // The bundle and sixty replays: ten seconds alone, and ten times as long where a dozen others want the same cores.
}, 180_000);

/** By its id, why each of these cannot be replayed with changed workflows. */
async function failedWith(
  histories: readonly RecordedHistory[],
  ...changes: Change[]
): Promise<Record<string, string>> {
  return failed(await replayTraced(histories, [], changes));
}

/** The unreleased recordings of these names. A change is tried on what it concerns: there are more than a hundred. */
function named(...names: readonly string[]): readonly RecordedHistory[] {
  const ids = names.map((name) => `${UNRELEASED}/${name}`);
  const found = recorded.filter((history) => ids.includes(idOf(history)));
  expect(found.map(idOf).toSorted()).toEqual(ids.toSorted());
  return found;
}

function resizes(): readonly RecordedHistory[] {
  return recorded.filter(({ workflowType }) => workflowType === 'quotaResize');
}

function failed(replayed: readonly Traced[]): Record<string, string> {
  return Object.fromEntries(
    replayed.flatMap(({ recorded, error }) => (error === null ? [] : [[idOf(recorded), error]])),
  );
}

describe('the workflows as they are', () => {
  it('replay every history that any release recorded', () => {
    expect(traced.length).toBeGreaterThan(0);
    expect(failed(traced), `if no release has the code that recorded them, record anew: ${RECORD}`).toEqual({});
  });

  it('search by, wait for and ask on the same task queues as in the histories that are not released', () => {
    const unreleased = traced.filter(({ recorded: { release } }) => release === UNRELEASED);
    const different = unreleased.map((history) => [idOf(history.recorded), differences(history)] as const);
    const found = Object.fromEntries(different.filter(([, differs]) => differs.length > 0));
    expect(found, `if that is meant, record anew: ${RECORD}`).toEqual({});
  });

  it('belong to a controller each', () => {
    expect(controllers.flatMap(workflowTypesOf).toSorted()).toEqual(Object.keys(workflows).toSorted());
  });

  it.each(controllers.flatMap((controller) => workflowTypesOf(controller).map((type) => ({ controller, type }))))(
    'of type $type have histories of every verdict, every answer, every failure and every phase',
    async ({ controller, type }) => {
      const { [type]: coverage } = await coverageFor(controller);
      if (coverage === undefined) throw new Error(`test/replay/${controller}/coverage.ts has no table of ${type}`);
      const ofType = traced.filter(({ recorded: { workflowType } }) => workflowType === type);
      expect(gapsOf(coverage, ofType), `add a scenario to test/replay/${controller}/ and run ${RECORD}`).toEqual([]);
    },
  );

  it('have a recording of every activity that they can call', async () => {
    const scheduled = new Set(
      recorded
        .flatMap(({ events }) =>
          events.map((event) => attributesOf(event)['activityType'] as { name: string } | undefined),
        )
        .map((type) => type?.name),
    );
    // A controller whose workflows nothing starts calls none.
    const idle = controllers.filter((controller) => workflowTypesOf(controller).length === 0);
    expect([...scheduled]).toEqual(expect.arrayContaining(await declaredActivities(idle)));
  });
});

describe('the replay gate', () => {
  const observed = 'const observation = this.#quota.brought()';
  const file = 'workflows/quota-resize/episode.ts';

  it('fails for one activity call more at the start of the loop', async () => {
    const outcomes = await failedWith(resizes(), {
      file,
      from: observed,
      to: `await watching.observeQuota.executeWithOptions({ summary: 'again' }, [{ target: this.#target }]);${observed}`,
    });
    expect(Object.keys(outcomes).toSorted()).toEqual(resizes().map(idOf).toSorted());
    for (const message of Object.values(outcomes)) expect(message).toMatch(NONDETERMINISM);
  });

  it('fails for a decision that comes out differently, far away in the domain', async () => {
    const name = 'quota-resize/threshold-merged';
    const outcomes = await failedWith(named(name), {
      file: 'domain/quota-resize/decide/open.ts',
      from: "if (policy.mode === 'observe') {",
      to: "if (policy.mode !== 'observe') {",
    });
    expect(outcomes[`${UNRELEASED}/${name}`]).toMatch(NONDETERMINISM);
  });

  it('fails for a wait that is gone, for two activities in another order, and for an answer that is not given', async () => {
    const names = ['quota-usage/wrong', 'lights-out/night', 'github-budget/lived'];
    const outcomes = await failedWith(
      named(...names),
      {
        file: 'workflows/quota-usage/episode.ts',
        from: 'await this.#run.wait({ until, summary: detail });',
        to: 'await this.#run.wait({ until: null, summary: detail });',
      },
      {
        file: 'workflows/lights-out/workflow.ts',
        from: `
  if (step.isStatusWritten) await pass.writeStatus(seen, verdict.ready);
  else pass.reportLater();
  await pass.writeEvents(seen, step.before);`,
        to: `
  await pass.writeEvents(seen, step.before);
  if (step.isStatusWritten) await pass.writeStatus(seen, verdict.ready);`,
      },
      { file: 'workflows/github-budget/permits.ts', from: '    upsertMemo(memo);\n', to: '' },
    );
    expect(Object.keys(outcomes).toSorted()).toEqual(names.map((name) => `${UNRELEASED}/${name}`).toSorted());
  });

  it('tells what Temporal does not compare: search attributes, how long is waited, and task queues', async () => {
    const replayed = await replayTraced(
      named('quota-resize/threshold-merged', 'lights-out/unreadable', 'quota-usage/wrong'),
      [],
      [
        { file: 'workflows/kernel/visibility.ts', from: 'value: status.phase }', to: 'value: status.reason }' },
        {
          file: 'workflows/lights-out/schedule-pass.ts',
          from: 'const FAILED_REST_MS = 60_000;',
          to: 'const FAILED_REST_MS = 50_000;',
        },
        {
          file: 'workflows/quota-usage/activities.ts',
          from: 'taskQueue: cacheTaskQueue(cluster),',
          to: "taskQueue: 'nobody',",
        },
      ],
    );
    expect(failed(replayed)).toEqual({});
    const found = Object.fromEntries(
      replayed.map((history) => [idOf(history.recorded), differences(history).join('; ')]),
    );
    expect(found[`${UNRELEASED}/quota-resize/threshold-merged`]).toMatch(
      /"HeadroomPhase":.+ and is .+"HeadroomPhase":/,
    );
    expect(found[`${UNRELEASED}/lights-out/unreadable`]).toMatch(/timer \d+ of event \d+ was \d+ ms and is \d+ ms/);
    expect(found[`${UNRELEASED}/quota-usage/wrong`]).toContain(
      'the task queue of observeUsage was headroom-cache/test and is nobody',
    );
  });

  it('passes for the same call behind a patch, and for other words', async () => {
    const outcomes = await failedWith(
      resizes(),
      {
        file,
        from: observed,
        to: `if (patched('look-twice')) await watching.observeQuota.executeWithOptions({ summary: 'again' }, [{ target: this.#target }]);${observed}`,
      },
      { file: 'domain/quota-resize/decide/idle.ts', from: 'cooling down until ', to: 'resting until ' },
    );
    expect(outcomes).toEqual({});
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
