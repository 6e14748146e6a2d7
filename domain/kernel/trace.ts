/**
 * To which trace the work of a workflow belongs: pure, so that a replay comes to the same ids. Random ones would also shift the
 * random numbers that decisions are named by.
 */
import type { EpochMs } from './time.ts';

/** Where a trace is in the headers of Temporal's requests, by Temporal's own interceptors. */
export const TRACE_HEADER = '_tracer-data';

/** A place in a trace, as `traceparent` of the W3C has it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Two hexadecimal digits; the last bit says whether the trace is recorded. */
  readonly flags: string;
  readonly state?: string;
}

/** What a header carries. */
export interface TraceCarrier {
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** From one run to the next: whether the workflow rests. */
  readonly isResting?: boolean;
}

/** A span of a workflow, when it has ended. */
export interface WorkflowSpan {
  readonly name: string;
  readonly context: TraceContext;
  readonly parentSpanId: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** By which spans leave a workflow. */
// oxlint-disable-next-line typescript/consistent-type-definitions -- An interface is assignable to no index signature.
export type TraceSinks = { readonly headroomTrace: { ended(span: WorkflowSpan): void } };

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Null for what is no trace. */
export function readTraceContext({ traceparent, tracestate }: TraceCarrier): TraceContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, flags, ...(tracestate === undefined ? {} : { state: tracestate }) };
}

export function carrierOf({ traceId, spanId, flags, state }: TraceContext): TraceCarrier {
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  return { traceparent, ...(state === undefined ? {} : { tracestate: state }) };
}

function isRecorded({ flags }: TraceContext): boolean {
  return (Number.parseInt(flags, 16) & 1) === 1;
}

/**
 * The trace of one run of a workflow. A workflow may live for longer than what it does about one event: an episode is what it does
 * from a request until it rests, and belongs to the trace of the request that began it. Requests that come meanwhile join the
 * episode and keep traces of their own; the latest of them is the one that the next episode belongs to. Without any request there
 * is no trace: what a workflow does by the clock alone is not traced.
 */
export class EpisodeTrace {
  readonly #runId: string;
  readonly #name: string;
  readonly #ended: (span: WorkflowSpan) => void;
  #episode: TraceContext | null = null;
  /** The latest request that joined the episode. */
  #joined: TraceContext | null = null;
  #isResting = false;
  /** From the first thing that the workflow had done, until it rests. */
  #open: { readonly context: TraceContext; readonly from: EpochMs } | null = null;
  #spans = 0;

  /** @param ended hears of every span that is to be recorded. */
  constructor({ runId, name }: { readonly runId: string; readonly name: string }, ended: (span: WorkflowSpan) => void) {
    this.#runId = runId;
    this.#name = name;
    this.#ended = ended;
  }

  /** The run begins with what its start, or the run before, carried. */
  begin(carrier: TraceCarrier): void {
    this.#episode = readTraceContext(carrier);
    this.#isResting = carrier.isResting ?? false;
  }

  /** A request came: a signal or an update. */
  received(carrier: TraceCarrier, now: EpochMs): void {
    const context = readTraceContext(carrier);
    if (context === null || context.traceId === this.#episode?.traceId) return;
    if (this.#isResting || this.#episode === null) {
      this.#close(now);
      this.#episode = context;
    } else this.#joined = context;
  }

  /** What something that the workflow has done now belongs to; null where it belongs to no trace. */
  parent(now: EpochMs): TraceContext | null {
    if (this.#episode === null) return null;
    this.#open ??= { context: { ...this.#episode, spanId: this.#nextSpanId() }, from: now };
    return this.#open.context;
  }

  /** @param isResting whether nothing is under way in the phase that was published. */
  published(isResting: boolean, now: EpochMs): void {
    if (isResting) this.#close(now);
    if (isResting && !this.#isResting) {
      this.#episode = this.#joined;
      this.#joined = null;
    }
    this.#isResting = isResting;
  }

  /** The run is over. */
  end(now: EpochMs): void {
    this.#close(now);
  }

  /** What the next run begins with; null where that is nothing. */
  carried(): TraceCarrier | null {
    if (this.#episode === null) return null;
    return { ...carrierOf(this.#episode), isResting: this.#isResting };
  }

  #close(now: EpochMs): void {
    const { context, from } = this.#open ?? {};
    this.#open = null;
    if (context === undefined || from === undefined || this.#episode === null || !isRecorded(context)) return;
    this.#ended({ name: this.#name, context, parentSpanId: this.#episode.spanId, from, to: now });
  }

  /** A run's id is a random UUID, and the last half of it has at least 62 random bits. */
  #nextSpanId(): string {
    this.#spans += 1;
    const random = BigInt(`0x${this.#runId.replaceAll('-', '').slice(-16)}`);
    return BigInt.asUintN(64, random + BigInt(this.#spans))
      .toString(16)
      .padStart(16, '0');
  }
}
