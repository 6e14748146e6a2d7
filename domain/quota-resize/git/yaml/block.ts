/** Edits YAML inside YAML: the text of a literal block scalar (`patch: |-`). */
import { isScalar, Scalar } from 'yaml';
import type { Pointer } from './field-path.ts';
import { type OpenDocument, sourceOf } from './document.ts';
import { ManifestEditError } from './error.ts';
import { locationAt, pointerText, rejectShared } from './location.ts';
import type { Splice } from './splice.ts';

/**
 * The edit of the text in a literal block scalar. Unchanged lines stay byte for byte, new lines get the indentation and
 * the line ends of the block.
 *
 * @param edit gets the content of the scalar with `\n` as line ends, and the number of lines in the file before it.
 * @throws {ManifestEditError} when there is no literal block at the pointer, when an anchor shares it, or, at splicing,
 *   when the result does not read back as the edited text. Errors of `edit` are passed on.
 */
export function blockSplice(
  open: OpenDocument,
  pointer: Pointer,
  edit: (inner: string, linesBefore: number) => string,
): Splice {
  const location = locationAt(open, pointer);
  const node = location?.node;
  if (
    location === undefined ||
    !isScalar(node) ||
    node.type !== Scalar.BLOCK_LITERAL ||
    location.borrowed !== undefined
  ) {
    throw new ManifestEditError(
      `${pointerText(pointer)} is no literal block (|) of its own; write it as one to have it edited`,
    );
  }
  rejectShared(open, pointer, [...location.containers, node]);
  const inner = String(node.value);
  const edited = edit(inner, open.parsed.lineAt(node.range?.[0] ?? 0));
  const source = sourceOf(open.parsed, node);
  const header = source.indexOf('\n') + 1;
  const start = (node.range?.[0] ?? 0) + header;
  const body = source.slice(header);
  return {
    open,
    pointer,
    start,
    end: start + body.length,
    replacement: editedBody(body, inner, edited),
    value: JSON.stringify(edited),
  };
}

/** The lines of the block with the changed lines replaced. */
function editedBody(body: string, inner: string, edited: string): string {
  const raw = body.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const before = contentLines(inner);
  const after = contentLines(edited);
  const indent = indentIn(raw, before);
  const eol = /\r?\n/.exec(body)?.[0] ?? '\n';
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - head && before.at(-1 - tail) === after.at(-1 - tail)) {
    tail += 1;
  }
  const written = after.slice(head, after.length - tail).map((line) => `${line === '' ? '' : indent}${line}${eol}`);
  const lines = [...raw.slice(0, head), ...written, ...raw.slice(before.length - tail)];
  // A block at the end of a file without a final newline stays without one.
  const text = lines.join('');
  return body.endsWith('\n') || !text.endsWith('\n') ? text : text.slice(0, -eol.length);
}

function contentLines(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function indentIn(raw: readonly string[], inner: readonly string[]): string {
  const index = inner.findIndex((line) => line !== '');
  const line = (raw[index] ?? '').replace(/\r?\n$/, '');
  return line.slice(0, line.length - (inner[index] ?? '').length);
}
