/** OpenTelemetry, in a file of its own that only a process with traces loads (`tracing.ts`). */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { envDetectorSync, detectResourcesSync, Resource } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type Span as LiveSpan,
} from '@opentelemetry/sdk-trace-base';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
// oxlint-disable-next-line no-restricted-imports -- The worker of this path is Temporal's.
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { TRACE_HEADER, type TraceSinks, type WorkflowSpan } from '../../domain/kernel/trace.ts';
import { OtlpExporter } from './otlp.ts';
import type { TracingTarget } from './target.ts';
import type { SpanOptions, Tracing, TracingOptions } from './interface.ts';

/** A process that stops waits no longer than this for the receiver, in milliseconds. */
const FLUSH_MS = 2_000;
/** As Temporal's own interceptors call them. */
const WORKFLOW_ID = 'temporalWorkflowId';
const RUN_ID = 'run_id';
const ACTIVITY = 'RunActivity:';

/** Once for a process. */
export function createTracing(target: TracingTarget, options: TracingOptions): Tracing {
  const resource = resourceOf(options);
  const processor = new Spans(new OtlpExporter(target, options));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  provider.register({
    contextManager: new AsyncLocalStorageContextManager().enable(),
    propagator: new W3CTraceContextPropagator(),
  });
  const tracer = provider.getTracer('headroom');
  const sinks: InjectedSinks<TraceSinks> = {
    headroomTrace: {
      ended: { fn: ({ workflowId, runId }, span) => processor.onEnd(readable(span, resource, { workflowId, runId })) },
    },
  };
  const interceptor = tracedActivities(tracer);
  return {
    ofClient: [withinSpans(new OpenTelemetryWorkflowClientInterceptor({ tracer }))],
    ofWorker: (worker) => ({
      ...worker,
      sinks: { ...worker.sinks, ...sinks },
      interceptors: { ...worker.interceptors, activity: [interceptor, ...(worker.interceptors?.activity ?? [])] },
    }),
    root: async (span, run) => await asSpan(tracer, span, ROOT_CONTEXT, run),
    child: async (span, run) => (isWithinSpan() ? await asSpan(tracer, span, context.active(), run) : await run()),
    // A command line is over when nothing is left to do, and this alone is nothing.
    stop: async () => await Promise.race([provider.shutdown(), pause(FLUSH_MS, undefined, { ref: false })]),
  };
}

function resourceOf({ service, release, cluster }: TracingOptions): Resource {
  const own = { 'service.name': service, 'service.version': release, 'k8s.cluster.name': cluster };
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES go before.
  return new Resource(own).merge(detectResourcesSync({ detectors: [envDetectorSync] }));
}

/**
 * Keeps spans until they are sent, at most OTEL_BSP_MAX_QUEUE_SIZE of them. An attempt of an activity that only found that it has to go on
 * waiting, or that was cancelled as there is something else to do, is no span: there may be thousands, of a person who approves tomorrow.
 */
class Spans extends BatchSpanProcessor {
  /** For each open span below another one of this process, the one at the top. */
  readonly #tops = new Map<string, string>();
  /**
   * For each open one at the top, what has ended below it. It is sent with that: of an activity whose process is killed there would
   * be parts without a whole.
   */
  readonly #below = new Map<string, ReadableSpan[]>();

  override onStart(span: LiveSpan, parent: Context): void {
    const { spanId } = span.spanContext();
    const above = trace.getSpanContext(parent);
    if (above === undefined || above.isRemote === true) this.#below.set(spanId, []);
    else this.#tops.set(spanId, this.#tops.get(above.spanId) ?? above.spanId);
    super.onStart(span, parent);
  }

  override onEnd(span: ReadableSpan): void {
    const { spanId } = span.spanContext();
    const top = this.#tops.get(spanId);
    const waiting = top === undefined ? undefined : this.#below.get(top);
    const below = this.#below.get(spanId) ?? [];
    this.#tops.delete(spanId);
    this.#below.delete(spanId);
    if (waiting !== undefined) waiting.push(span);
    else if (below.length > 0 || !isWait(span)) for (const each of [...below, span]) super.onEnd(each);
  }
}

function isWait({ name, status, events }: ReadableSpan): boolean {
  if (!name.startsWith(ACTIVITY)) return false;
  // The interceptor leaves the status open for a failure that is none.
  if (status.code === SpanStatusCode.UNSET) return true;
  return events.some(({ attributes }) => attributes?.['exception.type'] === 'CancelledFailure');
}

/** Temporal's own interceptor, for activities of a traced workflow. */
function tracedActivities(tracer: Tracer): ActivityInterceptorsFactory {
  return (activity) => {
    const traced = new OpenTelemetryActivityInboundInterceptor(activity, { tracer });
    return {
      inbound: {
        execute: async (input, next) =>
          TRACE_HEADER in input.headers ? await traced.execute(input, next) : await next(input),
      },
    };
  };
}

/** What a client starts and signals within a span, and not what a process asks Temporal all the time. */
function withinSpans(traced: OpenTelemetryWorkflowClientInterceptor): WorkflowClientInterceptor {
  return {
    start: async (input, next) => (isWithinSpan() ? await traced.start(input, next) : await next(input)),
    signal: async (input, next) => (isWithinSpan() ? await traced.signal(input, next) : await next(input)),
    signalWithStart: async (input, next) =>
      isWithinSpan() ? await traced.signalWithStart(input, next) : await next(input),
    startUpdate: async (input, next) => (isWithinSpan() ? await traced.startUpdate(input, next) : await next(input)),
    startUpdateWithStart: async (input, next) =>
      isWithinSpan() ? await traced.startUpdateWithStart(input, next) : await next(input),
  };
}

function isWithinSpan(): boolean {
  return trace.getSpan(context.active()) !== undefined;
}

async function asSpan<T>(
  tracer: Tracer,
  { name, attributes, from }: SpanOptions,
  parent: Context,
  run: () => Promise<T>,
): Promise<T> {
  const options = { attributes: { ...attributes }, ...(from === undefined ? {} : { startTime: from }) };
  return await tracer.startActiveSpan(name, options, parent, async (span: Span) => {
    try {
      const result = await run();
      span.setStatus({ code: SpanStatusCode.OK });
      return result;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** A workflow's span. A replay tells of none. */
function readable(
  { name, context: { traceId, spanId, flags }, parentSpanId, from, to }: WorkflowSpan,
  resource: Resource,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): ReadableSpan {
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => spanContext,
    parentSpanId,
    startTime: highResolution(from),
    endTime: highResolution(to),
    duration: highResolution(to - from),
    status: { code: SpanStatusCode.OK },
    attributes: { [WORKFLOW_ID]: workflowId, [RUN_ID]: runId },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationLibrary: { name: 'headroom' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function highResolution(ms: number): [seconds: number, nanoseconds: number] {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
