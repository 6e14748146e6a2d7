/** Tracing may be switched on and off at any time: what was recorded without it replays with it, and writes the same commands. */
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, type InjectedSinks, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { TRACE_HEADER, type TraceSinks, type WorkflowSpan } from '../../domain/kernel/trace.ts';
import { attributesOf, readHistories, type RecordedHistory } from './histories.ts';
import { idOf } from './trace.ts';

type Bundle = Awaited<ReturnType<typeof bundleWorkflowCode>>;

let recorded: readonly RecordedHistory[];
let workflowBundle: Bundle;

beforeAll(async () => {
  await Runtime.instance().shutdown();
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), telemetryOptions: { logging: { filter: 'OFF' } } });
  const path = (file: string): string => fileURLToPath(new URL(`../../workflows/${file}`, import.meta.url));
  [recorded, workflowBundle] = await Promise.all([
    readHistories(),
    bundleWorkflowCode({
      workflowsPath: path('index.ts'),
      workflowInterceptorModules: [path('kernel/trace-interceptors.ts')],
      logger: new DefaultLogger('ERROR', () => {}),
    }),
  ]);
  // As in replay.test.ts.
}, 180_000);

/** Replays everything that is recorded. @returns what failed, and the spans that the workflows would tell of. */
async function replayed(): Promise<{ readonly failed: readonly string[]; readonly spans: readonly WorkflowSpan[] }> {
  const spans: WorkflowSpan[] = [];
  const sinks: InjectedSinks<TraceSinks> = {
    headroomTrace: { ended: { callDuringReplay: true, fn: (_info, span) => void spans.push(span) } },
  };
  const ids = new Map<string, string>();
  const histories = recorded.map((one) => {
    const { workflowId, originalExecutionRunId } = attributesOf(one.events[0]) as Readonly<Record<string, string>>;
    ids.set(originalExecutionRunId ?? '', idOf(one));
    return { workflowId: workflowId ?? '', history: one.history };
  });
  const failed: string[] = [];
  for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, histories)) {
    if (error !== undefined) failed.push(`${ids.get(runId)}: ${error.message}`);
  }
  return { failed, spans };
}

/** Gives the start and each signal of a history a trace of its own, as clients do that trace. */
function withTraces({ history }: RecordedHistory): void {
  let traces = 0;
  for (const event of history.events ?? []) {
    const attributes = event.workflowExecutionStartedEventAttributes ?? event.workflowExecutionSignaledEventAttributes;
    if (!attributes) continue;
    traces += 1;
    const id = traces.toString(16);
    const traceparent = `00-${id.padStart(32, '0')}-${id.padStart(16, '0')}-01`;
    const fields = { [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
    attributes.header = { fields: { ...attributes.header?.fields, ...fields } };
  }
}

describe('with tracing, every history that any release recorded', () => {
  it('replays as it is, and tells of no span', async () => {
    expect(recorded.length).toBeGreaterThan(0);
    expect(await replayed()).toEqual({ failed: [], spans: [] });
  }, 120_000);

  it('replays where its clients traced, with a span for each episode that differs from all others', async () => {
    for (const one of recorded) withTraces(one);
    const { failed, spans } = await replayed();
    expect(failed).toEqual([]);
    expect(spans.length).toBeGreaterThan(recorded.length / 2);
    expect(new Set(spans.map(({ context }) => `${context.traceId}/${context.spanId}`)).size).toBe(spans.length);
  }, 120_000);
});
