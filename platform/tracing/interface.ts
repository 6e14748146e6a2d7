/** What the process may trace with, whatever does it. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Log } from '../log/log.ts';

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
