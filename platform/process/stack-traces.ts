import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { findInSources, type Position, type SourceMapText } from './source-positions.ts';

/** Positions of the bundle are remembered, as the same stacks come again and again; never more than so many. */
const MOST_REMEMBERED = 2_000;

/**
 * Makes stacks of errors refer to source lines when this program is a bundle. The source map is read when a stack has a position
 * that was in none before, and not kept. Node's `--enable-source-maps` reads all of it at every start, and keeps it.
 */
export function mapStackTraces(): void {
  const program = import.meta.filename;
  const url = pathToFileURL(program).href;
  /** By `line:column`, what a frame says in place of it; null for what is in no source. */
  const remembered = new Map<string, string | null>();
  Error.prepareStackTrace = (error, frames) => {
    const ours = frames.flatMap((frame) => {
      const position = positionOf(frame, program, url);
      return position === null || remembered.has(keyOf(position)) ? [] : [position];
    });
    if (ours.length > 0) {
      if (remembered.size + ours.length > MOST_REMEMBERED) remembered.clear();
      const places = placesOf(program, ours);
      for (const [index, position] of ours.entries()) remembered.set(keyOf(position), places[index] ?? null);
    }
    return [heading(error), ...frames.map((frame) => `    at ${described(frame)}`)].join('\n');
  };

  function described(frame: NodeJS.CallSite): string {
    // oxlint-disable-next-line typescript/no-base-to-string -- V8's call sites have a text of their own.
    const text = String(frame);
    const position = positionOf(frame, program, url);
    const place = position === null ? null : (remembered.get(keyOf(position)) ?? null);
    if (position === null || place === null) return text;
    return text.replace(`${frame.getFileName() ?? ''}:${position.line + 1}:${position.column + 1}`, place);
  }
}

/** Null for a frame of another file. */
function positionOf(frame: NodeJS.CallSite, program: string, url: string): Position | null {
  const file = frame.getFileName();
  if (file !== program && file !== url) return null;
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  return line === null || column === null ? null : { line: line - 1, column: column - 1 };
}

function keyOf({ line, column }: Position): string {
  return `${line}:${column}`;
}

/** `file:line:column` of each position, the file as in the map, from the root of the repository; null where it is in no source of ours. */
function placesOf(program: string, positions: readonly Position[]): readonly (string | null)[] {
  const map = readMap(program);
  if (map === null) return positions.map(() => null);
  return findInSources(map, positions).map((found) => {
    if (found === null || found.source.startsWith('node_modules/')) return null;
    return `${found.source}:${found.line + 1}:${found.column + 1}`;
  });
}

function readMap(program: string): SourceMapText | null {
  try {
    return JSON.parse(readFileSync(`${program}.map`, 'utf8')) as SourceMapText;
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
