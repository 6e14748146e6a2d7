/**
 * Sends spans as OTLP has them in JSON, by `fetch`: so proxies and authorities are those of all other requests, and nothing
 * is needed of the packages that know every signal and protocol of OpenTelemetry.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { AttributeValue, HrTime } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { TracingOptions } from './interface.ts';
import type { TracingTarget } from './target.ts';

/** A receiver that is away is told of once in so many milliseconds. */
const TOLD_AGAIN_MS = 10 * 60_000;
/** Between two attempts, in milliseconds. */
const RETRY_MS = 1_000;
/** What OTLP says may be sent again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Names of the exporter's own errors, by what happened. */
const SHORT_REASONS: Readonly<Record<string, string>> = { TimeoutError: 'it did not answer in time' };

export class OtlpExporter implements SpanExporter {
  readonly #target: TracingTarget;
  readonly #options: Pick<TracingOptions, 'log' | 'redact'>;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isAway = false;

  constructor(target: TracingTarget, options: Pick<TracingOptions, 'log' | 'redact'>) {
    this.#target = target;
    this.#options = options;
  }

  /** Never fails: what cannot be sent is lost, and said in the log once in a while. */
  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    void this.#sendOrTell(spans).finally(() => done({ code: ExportResultCode.SUCCESS }));
  }

  async shutdown(): Promise<void> {}

  async #sendOrTell(spans: readonly ReadableSpan[]): Promise<void> {
    try {
      await this.#send(this.#encoded(spans));
      if (this.#isAway) this.#options.log.info(`traces are sent to ${this.#place} again`);
      this.#isAway = false;
    } catch (error) {
      this.#tell(error);
    }
  }

  async #send(body: string): Promise<void> {
    const { url, headers, timeoutMs } = this.#target;
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers.reveal(), 'content-type': 'application/json' },
        body,
        signal,
        redirect: 'error',
      });
      await response.arrayBuffer();
      if (response.ok) return;
      if (!RETRYABLE.has(response.status)) throw new Error(`it answers with ${response.status}`);
      await pause(RETRY_MS, undefined, { signal }).catch(() => {
        throw new Error(`it answers with ${response.status}`);
      });
    }
  }

  /** Without its path: some receivers know their customers by it. */
  get #place(): string {
    return new URL(this.#target.url).origin;
  }

  #tell(error: unknown): void {
    this.#isAway = true;
    const now = performance.now();
    if (now - this.#toldAt < TOLD_AGAIN_MS) return;
    this.#toldAt = now;
    const reason = reasonOf(error);
    this.#options.log.warn({ reason }, `traces cannot be sent to ${this.#place}, and are lost meanwhile: ${reason}`);
  }

  #encoded(spans: readonly ReadableSpan[]): string {
    const { redact } = this.#options;
    const attributes = (all: Readonly<Record<string, AttributeValue | undefined>>) =>
      Object.entries(all).flatMap(([key, value]) =>
        // Stacks are long, and say where something failed and not what it was about.
        value === undefined || key === 'exception.stacktrace' ? [] : [{ key, value: anyValue(value, redact) }],
      );
    const resourceSpans = spans.map((span) => {
      const { traceId, spanId, traceState } = span.spanContext();
      return {
        resource: { attributes: attributes(span.resource.attributes) },
        scopeSpans: [
          {
            scope: { name: span.instrumentationLibrary.name },
            spans: [
              {
                traceId,
                spanId,
                ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
                ...(traceState === undefined ? {} : { traceState: traceState.serialize() }),
                name: span.name,
                // The first of OTLP's is one that is not specified.
                kind: span.kind + 1,
                startTimeUnixNano: nanoseconds(span.startTime),
                endTimeUnixNano: nanoseconds(span.endTime),
                attributes: attributes(span.attributes),
                events: span.events.map((event) => ({
                  timeUnixNano: nanoseconds(event.time),
                  name: event.name,
                  attributes: attributes(event.attributes ?? {}),
                })),
                status: {
                  code: span.status.code,
                  ...(span.status.message === undefined ? {} : { message: redact(span.status.message) }),
                },
              },
            ],
          },
        ],
      };
    });
    return JSON.stringify({ resourceSpans });
  }
}

function anyValue(value: AttributeValue, redact: (text: string) => string): object {
  if (Array.isArray(value)) {
    return {
      arrayValue: {
        values: value.flatMap((each) => (each === null || each === undefined ? [] : [anyValue(each, redact)])),
      },
    };
  }
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { stringValue: redact(value) };
}

function nanoseconds([seconds, nanos]: HrTime): string {
  return `${seconds}${String(nanos).padStart(9, '0')}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  return SHORT_REASONS[cause.name] ?? cause.message;
}
