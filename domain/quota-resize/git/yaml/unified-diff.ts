/** The change of files as one unified diff for `git apply`, byte for byte as git prints it except for the blob ids. */
import { diffArrays } from 'diff';
import type { FileEdit } from '../locate/location/location.ts';

/** Lines of context around a change, as in git. */
const CONTEXT = 3;
// The shortest diff takes time in the square of the differing lines. For more differing lines in one range without a
// line unique to both sides, a simpler diff is used, which is correct but may be longer.
const MAX_EDIT_LENGTH = 1000;

interface Change {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The start on each side, as a line index from 0. */
  readonly beforeAt: number;
  readonly afterAt: number;
}

/** The diff of all files, sorted by path; empty when nothing changes. */
export function unifiedDiff(edits: readonly FileEdit[]): string {
  return edits
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .map(fileDiff)
    .join('');
}

function fileDiff({ path, before, after }: FileEdit): string {
  if (before === after) {
    return '';
  }
  const names = `diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}\n`;
  const created = before === null ? 'new file mode 100644\n' : '';
  const body = hunks(splitLines(before ?? ''), splitLines(after));
  if (body === '') {
    return `${names}${created}`;
  }
  const from = before === null ? '/dev/null' : headerName(`a/${path}`);
  return `${names}${created}--- ${from}\n+++ ${headerName(`b/${path}`)}\n${body}`;
}

/** Splits a text into lines with their line ends; only `\n` ends a line, as in git. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function hunks(before: readonly string[], after: readonly string[]): string {
  const groups: Change[][] = [];
  for (const change of changesBetween(before, after)) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && change.beforeAt - endOf(last) <= 2 * CONTEXT) {
      group.push(change);
    } else {
      groups.push([change]);
    }
  }
  return groups.map((group) => hunk(group, before)).join('');
}

function endOf({ beforeAt, before }: Change): number {
  return beforeAt + before.length;
}

function hunk(changes: readonly Change[], text: readonly string[]): string {
  const [first] = changes;
  const last = changes.at(-1);
  if (first === undefined || last === undefined) {
    return '';
  }
  const start = Math.max(0, first.beforeAt - CONTEXT);
  const end = Math.min(text.length, endOf(last) + CONTEXT);
  let position = start;
  let body = '';
  let grown = 0;
  for (const change of changes) {
    body += printed(' ', text.slice(position, change.beforeAt));
    body += printed('-', change.before) + printed('+', change.after);
    position = endOf(change);
    grown += change.after.length - change.before.length;
  }
  body += printed(' ', text.slice(position, end));
  const afterStart = first.afterAt - (first.beforeAt - start);
  return `@@ -${span(start, end - start)} +${span(afterStart, end - start + grown)} @@\n${body}`;
}

/** `start,count` as git prints it: a count of one is omitted, and an empty side starts at the line before. */
function span(start: number, count: number): string {
  const line = count === 0 ? start : start + 1;
  return count === 1 ? `${line}` : `${line},${count}`;
}

function printed(mark: ' ' | '-' | '+', lines: readonly string[]): string {
  return lines
    .map((line) => (line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`))
    .join('');
}

/** The changes in the order of the text. */
function changesBetween(before: readonly string[], after: readonly string[]): readonly Change[] {
  const changes: Change[] = [];
  for (const { beforeAt, beforeEnd, afterAt, afterEnd } of stretches(before, after)) {
    const old = before.slice(beforeAt, beforeEnd);
    const now = after.slice(afterAt, afterEnd);
    changes.push(...shortest(old, now).map((change) => shifted(change, beforeAt, afterAt)));
  }
  return changes;
}

function shifted(change: Change, before: number, after: number): Change {
  return { ...change, beforeAt: change.beforeAt + before, afterAt: change.afterAt + after };
}

interface Stretch {
  readonly beforeAt: number;
  readonly beforeEnd: number;
  readonly afterAt: number;
  readonly afterEnd: number;
}

/**
 * Ranges between lines that are unique on each side and in the same order (patience diff). The ranges are small even in
 * large files, so a few edits in a large file cost little more than reading it.
 */
function stretches(before: readonly string[], after: readonly string[]): readonly Stretch[] {
  const found: Stretch[] = [];
  let beforeAt = 0;
  let afterAt = 0;
  for (const [beforeEnd, afterEnd] of [...commonUniqueLines(before, after), [before.length, after.length] as const]) {
    const stretch = trimmed(before, after, { beforeAt, beforeEnd, afterAt, afterEnd });
    if (stretch.beforeAt < stretch.beforeEnd || stretch.afterAt < stretch.afterEnd) {
      found.push(stretch);
    }
    beforeAt = beforeEnd + 1;
    afterAt = afterEnd + 1;
  }
  return found;
}

/** A range without the equal lines at both ends. */
function trimmed(before: readonly string[], after: readonly string[], stretch: Stretch): Stretch {
  let { beforeAt, beforeEnd, afterAt, afterEnd } = stretch;
  while (beforeAt < beforeEnd && afterAt < afterEnd && before[beforeAt] === after[afterAt]) {
    beforeAt += 1;
    afterAt += 1;
  }
  while (beforeAt < beforeEnd && afterAt < afterEnd && before[beforeEnd - 1] === after[afterEnd - 1]) {
    beforeEnd -= 1;
    afterEnd -= 1;
  }
  return { beforeAt, beforeEnd, afterAt, afterEnd };
}

/** The longest common subsequence of lines that are unique on each side. */
function commonUniqueLines(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [number, number])[] {
  const locations = uniqueLines(after);
  const pairs = [...uniqueLines(before)].flatMap(([line, index]) => {
    const other = locations.get(line);
    return other === undefined ? [] : [[index, other] as const];
  });
  return longestIncreasing(pairs.sort(([a], [b]) => a - b));
}

function uniqueLines(lines: readonly string[]): ReadonlyMap<string, number> {
  const unique = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, line] of lines.entries()) {
    if (repeated.has(line)) {
      continue;
    }
    if (unique.delete(line)) {
      repeated.add(line);
    } else {
      unique.set(line, index);
    }
  }
  return unique;
}

/** The longest subsequence of pairs with increasing second numbers, by patience sorting. */
function longestIncreasing(pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  interface Card {
    readonly pair: readonly [number, number];
    readonly below: Card | undefined;
  }
  const tops: Card[] = [];
  for (const pair of pairs) {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tops[middle]?.pair[1] ?? 0) < pair[1]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    tops[low] = { pair, below: tops[low - 1] };
  }
  const run: (readonly [number, number])[] = [];
  for (let card = tops.at(-1); card !== undefined; card = card.below) {
    run.push(card.pair);
  }
  return run.reverse();
}

/** The shortest diff of a range; line by line, or as one change, when the shortest would take too long. */
function shortest(before: readonly string[], after: readonly string[]): readonly Change[] {
  const parts = diffArrays([...before], [...after], { maxEditLength: MAX_EDIT_LENGTH });
  if (parts === undefined) {
    return before.length === after.length ? paired(before, after) : [{ before, after, beforeAt: 0, afterAt: 0 }];
  }
  const changes: Change[] = [];
  let beforeAt = 0;
  let afterAt = 0;
  let removed: readonly string[] = [];
  let added: readonly string[] = [];
  const close = (): void => {
    if (removed.length > 0 || added.length > 0) {
      changes.push({ before: removed, after: added, beforeAt, afterAt });
      beforeAt += removed.length;
      afterAt += added.length;
      removed = [];
      added = [];
    }
  };
  for (const part of parts) {
    if (part.removed) {
      removed = [...removed, ...part.value];
    } else if (part.added) {
      added = [...added, ...part.value];
    } else {
      close();
      beforeAt += part.value.length;
      afterAt += part.value.length;
    }
  }
  close();
  return changes;
}

/** Pairs the lines by position and returns those that differ. */
function paired(before: readonly string[], after: readonly string[]): readonly Change[] {
  return before.flatMap((line, index) => {
    const other = after[index] ?? '';
    return line === other ? [] : [{ before: [line], after: [other], beforeAt: index, afterAt: index }];
  });
}

const ESCAPES: Readonly<Record<number, string>> = {
  0x07: '\\a',
  0x08: '\\b',
  0x09: '\\t',
  0x0a: '\\n',
  0x0b: '\\v',
  0x0c: '\\f',
  0x0d: '\\r',
  0x22: '\\"',
  0x5c: '\\\\',
};

/**
 * A file name as git prints it (core.quotePath): quoted as in C when it has a quote, a backslash, a control or a
 * non-ASCII byte.
 */
function quoted(name: string): string {
  if (/^[ !#-[\]-~]*$/.test(name)) {
    return name;
  }
  const bytes = [...new TextEncoder().encode(name)].map((byte) => {
    const plain = byte >= 0x20 && byte < 0x7f;
    return ESCAPES[byte] ?? (plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`);
  });
  return `"${bytes.join('')}"`;
}

/**
 * Git puts a tab after a name with spaces in the `---` and `+++` lines, because it would otherwise be parsed as a name
 * and a date.
 */
function headerName(name: string): string {
  return `${quoted(name)}${name.includes(' ') ? '\t' : ''}`;
}
