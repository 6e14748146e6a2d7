import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Makes stacks of errors refer to source lines when this program is a bundle; the source map is read when the first
 * stack is needed. Node's `--enable-source-maps` scans the ten megabytes of a program at every start, and pino's look
 * at its callers makes it read the whole map; together that is a fifth of the start time.
 */
export function mapStackTraces(): void {
  const program = import.meta.filename;
  let map: SourceMap | null | undefined;
  Error.prepareStackTrace = (error, frames) => {
    if (map === undefined) map = readMap(program);
    return [heading(error), ...frames.map((frame) => `    at ${described(frame, program, map ?? null)}`)].join('\n');
  };
}

function readMap(program: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${program}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    // Without a bundle or its map, the lines are those of the running file.
    return null;
  }
}

function heading(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    // A thrown value may be impossible to convert to text.
    return '<error>';
  }
}

function described(frame: NodeJS.CallSite, program: string, map: SourceMap | null): string {
  // oxlint-disable-next-line typescript/no-base-to-string -- V8's call sites have a text of their own.
  const text = String(frame);
  const file = frame.getFileName() ?? '';
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  if (map === null || line === null || column === null) return text;
  const url = pathToFileURL(program).href;
  if (file !== program && file !== url) return text;
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalSource' in entry)) return text;
  const source = fileURLToPath(new URL(entry.originalSource, url));
  return text.replace(`${file}:${line}:${column}`, `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
}
