/** Traces of what the process does. OpenTelemetry itself is a file of its own beside the program, which is loaded where it is needed. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Log } from '../log/log.ts';
import type * as openTelemetry from './open-telemetry.ts';
import type { TracingTarget } from './target.ts';

export interface SpanOptions {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** When it began; now if absent. */
  readonly from?: EpochMs;
}

export interface Tracing {
  /** What a client of Temporal carries the trace on with, for calls that are made within a span. */
  readonly ofClient: readonly WorkflowClientInterceptor[];
  /** The options of a worker whose activities and workflows are traced. */
  readonly ofWorker: <Options extends Pick<WorkerOptions, 'interceptors' | 'sinks'>>(options: Options) => Options;
  /** Runs something as the first span of a trace of its own. */
  readonly root: RunAsSpan;
  /** Runs something as a span of the trace that it is called in; without a span where it is called in none. */
  readonly child: RunAsSpan;
  /** Sends what has not been sent yet, within two seconds. */
  readonly stop: () => Promise<void>;
}

type RunAsSpan = <T>(span: SpanOptions, run: () => Promise<T>) => Promise<T>;

export interface TracingOptions {
  /** The program, its release and what it runs for: `service.name` unless the environment has another one. */
  readonly service: string;
  readonly release: string;
  readonly cluster: string;
  readonly log: Log;
  /** Removes credentials from a text. */
  readonly redact: (text: string) => string;
}

/** The file beside the program; `npm run build` puts it there. */
const OPEN_TELEMETRY = 'tracing.js';

/** Null where nothing is traced. */
export async function startTracing(target: TracingTarget | null, options: TracingOptions): Promise<Tracing | null> {
  if (target === null) return null;
  const file = pathToFileURL(join(import.meta.dirname, OPEN_TELEMETRY)).href;
  const { createTracing } = (await import(file)) as typeof openTelemetry;
  return createTracing(target, options);
}

/** Runs something as the first span of a trace, where there are any. */
export async function asRoot<T>(tracing: Tracing | null, span: SpanOptions, run: () => Promise<T>): Promise<T> {
  return tracing === null ? await run() : await tracing.root(span, run);
}
