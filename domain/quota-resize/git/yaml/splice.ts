/** Applies edits to a text, and verifies that the result means what was intended and nothing else. */
import { parseDocument } from 'yaml';
import type { Pointer } from './field-path.ts';
import { type OpenDocument, parsePart, splitStream } from './document.ts';
import { ManifestEditError } from './error.ts';
import { pointerText } from './location.ts';
import { plainValue, sameValue, withValues } from './value.ts';

export interface Splice {
  readonly open: OpenDocument;
  /** The pointer of the changed value. */
  readonly pointer: Pointer;
  /** Start and end offset in the part of the stream; equal for an insertion. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The YAML at the pointer after the edit. */
  readonly value: string;
}

/**
 * The text with the edits applied.
 *
 * @throws {ManifestEditError} when the result reads back as anything but the document with the new values at the
 *   pointers.
 */
export function spliced(text: string, splices: readonly Splice[]): string {
  const locations = splices
    .map((splice) => ({
      ...splice,
      at: splice.open.parsed.part.offset + splice.start,
      length: splice.end - splice.start,
    }))
    .sort((a, b) => a.at - b.at);
  let edited = '';
  let position = 0;
  for (const { at, length, replacement, pointer } of locations) {
    if (at < position) {
      throw new ManifestEditError(`${pointerText(pointer)} would be changed twice; change it once`);
    }
    edited += text.slice(position, at) + replacement;
    position = at + length;
  }
  edited += text.slice(position);
  verify(splices, edited);
  return edited;
}

function verify(splices: readonly Splice[], edited: string): void {
  const parts = Map.groupBy(splices, ({ open }) => open.parsed.part.offset);
  const grown = new Map(
    [...parts].map(([offset, ofPart]) => [
      offset,
      ofPart.reduce((sum, { start, end, replacement }) => sum + replacement.length - (end - start), 0),
    ]),
  );
  const after = new Map(splitStream(edited).map((part) => [part.offset, part]));
  let shift = 0;
  for (const offset of [...parts.keys()].sort((a, b) => a - b)) {
    const ofPart = parts.get(offset) ?? [];
    const before = ofPart[0]?.open.parsed;
    const part = after.get(offset + shift);
    const documents = part === undefined ? [] : parsePart(part).documents;
    const same =
      before?.documents.length === documents.length &&
      before.documents.every((document, index) => {
        const now = documents[index];
        const changes = ofPart.filter(({ open }) => open.indexInPart === index);
        const expected = withValues(
          plainValue(document).value,
          changes.map((change) => ({ pointer: change.pointer, value: yamlValue(change.value) })),
        );
        return now?.errors.length === document.errors.length && sameValue(expected, plainValue(now).value);
      });
    if (!same) {
      const where = ofPart.map(({ pointer }) => pointerText(pointer)).join(', ');
      throw new ManifestEditError(`changing ${where} would change more than that; nothing was written`);
    }
    shift += grown.get(offset) ?? 0;
  }
}

function yamlValue(text: string): unknown {
  return plainValue(parseDocument(text, { merge: true, prettyErrors: false })).value;
}
