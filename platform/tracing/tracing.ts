/** Traces of what the process does. OpenTelemetry itself is a file of its own beside the program, which is loaded where it is needed. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SpanOptions, Tracing, TracingOptions } from './interface.ts';
import type * as openTelemetry from './open-telemetry.ts';
import type { TracingTarget } from './target.ts';

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
