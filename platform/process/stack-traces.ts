import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Has the stacks of errors name the lines of the sources where this program is a bundle: its source map is read when the first
 * stack is asked for. With `--enable-source-maps` Node measures the ten megabytes of a program at every start, and pino's
 * look at its callers has it read the whole map, together a fifth of a start.
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
    // Not bundled, or shipped without its map: the lines are those of the file that runs.
    return null;
  }
}

function heading(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    // Whoever threw it made it so that it cannot be read.
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
