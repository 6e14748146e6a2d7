/** Positions in the sources of a bundle, from the text of its source map. */

/** A line and a column, both from 0. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface SourcePosition extends Position {
  /** As in the map's `sources`. */
  readonly source: string;
}

/** What is read of a source map, version 3. */
export interface SourceMapText {
  readonly sources: readonly string[];
  readonly mappings: string;
}

const SEMICOLON = 59;
const COMMA = 44;
/** The values of the digits of base 64, by character code. */
const DIGITS = new Int8Array(128).fill(-1);
const BASE_64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let value = 0; value < BASE_64.length; value += 1) DIGITS[BASE_64.charCodeAt(value)] = value;
/** In each digit: there is another one. */
const CONTINUED = 32;
const BITS = 5;

/**
 * Where each of these positions of the bundle is in the sources; null where it is in none of them. It reads the mappings once
 * from the beginning and keeps nothing: Node's own `SourceMap` takes fifteen megabytes for the 500 kilobytes of a program.
 */
export function findInSources(
  { sources, mappings }: SourceMapText,
  wanted: readonly Position[],
): readonly (SourcePosition | null)[] {
  const found: (SourcePosition | null)[] = wanted.map(() => null);
  const byPlace = [...wanted.entries()].toSorted(([, a], [, b]) => a.line - b.line || a.column - b.column);
  // What the last segment says, which holds up to the next one.
  let current: SourcePosition | null = null;
  let [line, column, source, sourceLine, sourceColumn] = [0, 0, 0, 0, 0];
  let next = byPlace[0];
  let at = 0;
  const field = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += BITS) {
      const digit = DIGITS[mappings.charCodeAt(at)] ?? -1;
      at += 1;
      value += (digit & (CONTINUED - 1)) << shift;
      if ((digit & CONTINUED) === 0) break;
    }
    return (value & 1) === 1 ? -(value >> 1) : value >> 1;
  };
  while (at < mappings.length && next !== undefined) {
    const code = mappings.charCodeAt(at);
    if (code === SEMICOLON) {
      line += 1;
      column = 0;
      at += 1;
      continue;
    }
    if (code === COMMA) {
      at += 1;
      continue;
    }
    column += field();
    // Everything before this segment is where the one before it is.
    while (next !== undefined && (next[1].line < line || (next[1].line === line && next[1].column < column))) {
      found[next[0]] = current;
      byPlace.shift();
      next = byPlace[0];
    }
    if (isEndOfSegment(mappings, at)) current = null;
    else {
      source += field();
      sourceLine += field();
      sourceColumn += field();
      current = { source: sources[source] ?? '', line: sourceLine, column: sourceColumn };
      if (!isEndOfSegment(mappings, at)) field();
    }
  }
  for (const [index] of byPlace) found[index] = current;
  return found;
}

function isEndOfSegment(mappings: string, at: number): boolean {
  const code = mappings.charCodeAt(at);
  return at >= mappings.length || code === COMMA || code === SEMICOLON;
}
