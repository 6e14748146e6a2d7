import { describe, expect, it } from 'vitest';
import { carrierOf, EpisodeTrace, readTraceContext, type WorkflowSpan } from '../../../domain/kernel/trace.ts';

const RUN = '019a2b3c-4d5e-7f60-8123-456789abcdef';
const request = (letter: string, flags = '01') => ({
  traceparent: `00-${letter.repeat(32)}-${letter.repeat(16)}-${flags}`,
});

function traceOf(): { readonly trace: EpisodeTrace; readonly spans: WorkflowSpan[] } {
  const spans: WorkflowSpan[] = [];
  return { trace: new EpisodeTrace({ runId: RUN, name: 'RunWorkflow:x' }, (span) => spans.push(span)), spans };
}

const traceIdOf = (trace: EpisodeTrace, now = 0) => trace.parent(now)?.traceId[0] ?? null;

describe('the trace of an episode', () => {
  it('is that of the request that started the workflow, until the workflow rests', () => {
    const { trace, spans } = traceOf();
    trace.begin(request('a'));
    trace.received(request('a'), 0);
    const parent = trace.parent(1_000);
    expect(parent).toMatchObject({ traceId: 'a'.repeat(32), flags: '01' });
    trace.published(false, 1_500);
    expect(trace.parent(2_000)).toEqual(parent);
    expect(spans).toEqual([]);
    trace.published(true, 3_000);
    expect(spans).toEqual([
      { name: 'RunWorkflow:x', context: parent, parentSpanId: 'a'.repeat(16), from: 1_000, to: 3_000 },
    ]);
  });

  it('stays that of its first request, whoever joins it', () => {
    const { trace } = traceOf();
    trace.begin(request('a'));
    trace.received(request('b'), 0);
    trace.received(request('c'), 0);
    expect(traceIdOf(trace)).toBe('a');
  });

  it('is, after a rest, that of the latest request that joined the episode before', () => {
    const { trace } = traceOf();
    trace.begin(request('a'));
    trace.received(request('b'), 0);
    trace.received(request('c'), 0);
    trace.published(true, 1);
    trace.published(false, 2);
    expect(traceIdOf(trace)).toBe('c');
  });

  it('is that of the latest request of a rest, also where the clock ends the rest', () => {
    const { trace, spans } = traceOf();
    trace.begin(request('a'));
    trace.published(true, 1);
    expect(traceIdOf(trace)).toBeNull();
    trace.received(request('b'), 2);
    expect(traceIdOf(trace, 2)).toBe('b');
    trace.published(true, 3);
    trace.received(request('c'), 4);
    trace.published(true, 5);
    expect(traceIdOf(trace, 6)).toBe('c');
    trace.published(false, 7);
    expect(traceIdOf(trace, 8)).toBe('c');
    expect(spans.map(({ context }) => context.traceId[0])).toEqual(['b']);
  });

  it('is none where a rest ends and nobody has asked for anything', () => {
    const { trace } = traceOf();
    trace.begin(request('a'));
    trace.published(true, 1);
    trace.published(false, 2);
    expect(traceIdOf(trace)).toBeNull();
  });

  it('begins with the first request that has one, where the workflow started without', () => {
    const { trace } = traceOf();
    trace.begin({});
    trace.received({}, 0);
    expect(traceIdOf(trace)).toBeNull();
    expect(trace.carried()).toBeNull();
    trace.received(request('b'), 0);
    expect(traceIdOf(trace)).toBe('b');
  });

  it('goes on in the next run, with another span, and so does the rest', () => {
    const first = traceOf();
    first.trace.begin(request('a'));
    first.trace.parent(1);
    const carried = first.trace.carried();
    first.trace.end(2);
    expect(first.spans).toHaveLength(1);
    const { trace } = traceOf();
    trace.begin(carried ?? {});
    trace.received(request('b'), 3);
    expect(traceIdOf(trace)).toBe('a');
    trace.published(true, 4);
    trace.received(request('c'), 5);
    const resting = traceOf().trace;
    resting.begin(trace.carried() ?? {});
    expect(traceIdOf(resting)).toBe('c');
    resting.received(request('d'), 6);
    expect(traceIdOf(resting)).toBe('d');
  });

  it('has the same ids in every replay, and another one for each span', () => {
    const ids = () => {
      const { trace, spans } = traceOf();
      trace.begin(request('a'));
      for (const letter of ['b', 'c', 'd']) {
        trace.parent(1);
        trace.published(true, 2);
        trace.received(request(letter), 3);
        trace.published(false, 4);
      }
      return spans.map(({ context }) => context.spanId);
    };
    expect(ids()).toEqual(ids());
    expect(new Set(ids()).size).toBe(3);
    for (const id of ids()) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('that is not sampled goes on and records nothing', () => {
    const { trace, spans } = traceOf();
    trace.begin(request('a', '00'));
    expect(trace.parent(1)).toMatchObject({ flags: '00' });
    trace.end(2);
    expect(spans).toEqual([]);
  });

  it('is read as the W3C writes it, with its state, and nothing else is', () => {
    const context = readTraceContext({ ...request('a'), tracestate: 'vendor=1' });
    expect(context).toMatchObject({ state: 'vendor=1' });
    expect(context === null ? null : carrierOf(context)).toEqual({ ...request('a'), tracestate: 'vendor=1' });
    expect(readTraceContext({})).toBeNull();
    expect(readTraceContext({ traceparent: '00-zz-1-01' })).toBeNull();
  });
});
