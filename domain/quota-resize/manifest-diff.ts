/**
 * The change of a file as a unified diff that `git apply` takes: for messages, pull requests and logs.
 */

/** Lines of context around a change, as git shows them. */
const CONTEXT = 3;

interface Line {
  readonly mark: ' ' | '-' | '+';
  /** With its own line end, where it has one. */
  readonly text: string;
}

/**
 * The unified diff from `before` to `after`, with three lines of context; empty when they are the same. Where the texts
 * have equally many lines (an edit of single values) each changed line is shown alone, otherwise everything between the
 * first and the last difference is one change.
 */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) {
    return '';
  }
  const lines = changedLines(splitLines(before), splitLines(after));
  const body = hunks(lines).join('');
  return `diff --git ${fileName('a', path)} ${fileName('b', path)}\n--- ${headerName('a', path)}\n+++ ${headerName('b', path)}\n${body}`;
}

function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function changedLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  if (before.length === after.length) {
    return pairedLines(before, after);
  }
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) {
    tail += 1;
  }
  return [
    ...before.slice(0, head).map((text): Line => ({ mark: ' ', text })),
    ...before.slice(head, before.length - tail).map((text): Line => ({ mark: '-', text })),
    ...after.slice(head, after.length - tail).map((text): Line => ({ mark: '+', text })),
    ...before.slice(before.length - tail).map((text): Line => ({ mark: ' ', text })),
  ];
}

function pairedLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  const lines: Line[] = [];
  let added: Line[] = [];
  for (const [index, text] of before.entries()) {
    const other = after[index] ?? '';
    if (text === other) {
      lines.push(...added, { mark: ' ', text });
      added = [];
    } else {
      lines.push({ mark: '-', text });
      added.push({ mark: '+', text: other });
    }
  }
  return [...lines, ...added];
}

function hunks(lines: readonly Line[]): readonly string[] {
  const changed = lines.flatMap(({ mark }, index) => (mark === ' ' ? [] : [index]));
  const spans: [start: number, end: number][] = [];
  for (const index of changed) {
    const last = spans.at(-1);
    const end = Math.min(lines.length, index + CONTEXT + 1);
    if (last !== undefined && index - CONTEXT <= last[1]) {
      last[1] = end;
    } else {
      spans.push([Math.max(0, index - CONTEXT), end]);
    }
  }
  return spans.map(([start, end]) => {
    const above = lines.slice(0, start);
    const hunk = lines.slice(start, end);
    const text = hunk.map(printed).join('');
    return `@@ -${lineSpan(above, hunk, '+')} +${lineSpan(above, hunk, '-')} @@\n${text}`;
  });
}

/** `start,count` of a hunk on the side that does not have lines marked `absent`; a side without lines starts at the line before. */
function lineSpan(above: readonly Line[], hunk: readonly Line[], absent: '-' | '+'): string {
  const before = above.filter(({ mark }) => mark !== absent).length;
  const count = hunk.filter(({ mark }) => mark !== absent).length;
  return `${count === 0 ? before : before + 1},${count}`;
}

function printed({ mark, text }: Line): string {
  return text.endsWith('\n') ? `${mark}${text}` : `${mark}${text}\n\\ No newline at end of file\n`;
}

/** A name as git writes it: C-quoted when it has a quote, a backslash or a control character. */
function fileName(side: 'a' | 'b', path: string): string {
  const name = `${side}/${path}`;
  // oxlint-disable-next-line no-control-regex -- exactly these are what git quotes
  if (!/["\\\u0000-\u001f\u007f]/.test(name)) {
    return name;
  }
  // oxlint-disable-next-line no-control-regex -- as above
  const escaped = name.replace(/["\\\u0000-\u001f\u007f]/g, (character) =>
    character === '"' || character === '\\'
      ? `\\${character}`
      : `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}

/** In the `---` and `+++` lines a tab ends a name with spaces, which would else be taken for a name and a date. */
function headerName(side: 'a' | 'b', path: string): string {
  const name = fileName(side, path);
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name;
}
