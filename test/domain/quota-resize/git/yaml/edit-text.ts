/** Single values of a text, read and changed by the number of their document: what the product does with them, in short calls. */
import { isAlias, isScalar, Scalar } from 'yaml';
import { anchorsOf } from '../../../../../domain/quota-resize/git/yaml/anchors.ts';
import { blockSplice } from '../../../../../domain/quota-resize/git/yaml/block.ts';
import { changedText } from '../../../../../domain/quota-resize/git/yaml/changed-text.ts';
import {
  type OpenDocument,
  parsePart,
  problemsOf,
  splitStream,
} from '../../../../../domain/quota-resize/git/yaml/document.ts';
import type { Pointer } from '../../../../../domain/quota-resize/git/yaml/field-path.ts';
import { lineOfLocation, locationAt } from '../../../../../domain/quota-resize/git/yaml/location.ts';
import { OpenStream } from '../../../../../domain/quota-resize/git/yaml/open.ts';
import { spliced } from '../../../../../domain/quota-resize/git/yaml/splice.ts';
import { plainValue } from '../../../../../domain/quota-resize/git/yaml/value.ts';
import type { DocumentLocation } from '../../../../../domain/quota-resize/git/yaml/value-edit.ts';

export type { Pointer } from '../../../../../domain/quota-resize/git/yaml/field-path.ts';

/** One document of a file. */
interface DocumentInText {
  /** From 0 on; empty documents count, a file of comments alone has none. */
  readonly index: number;
  /** Where its content begins, from 1 on. */
  readonly line: number;
  /** Plain values, with aliases and merge keys resolved; equal aliases are one object. Undefined when there are errors. */
  readonly value: unknown;
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

/** Every document of a YAML stream or a JSON file. */
export function documentsOf(text: string): readonly DocumentInText[] {
  const documents = splitStream(text).flatMap((part) => {
    const parsed = parsePart(part);
    return parsed.documents.map((document) => {
      const line = parsed.lineAt(document.contents?.range?.[0] ?? document.range[0]);
      const syntax = problemsOf(parsed, document);
      if (syntax.length > 0) {
        return { line, value: undefined, errors: syntax.map(({ line, message }) => ({ line, message })) };
      }
      const { value, problems } = plainValue(document);
      const errors = problems.map(({ offset, message }) => ({ line: parsed.lineAt(offset), message }));
      return { line, value: errors.length === 0 ? value : undefined, errors };
    });
  });
  return documents.map((document, index) => ({ index, ...document }));
}

/** A single value in the text. */
interface ScalarInText {
  /** From 1 on; of an alias or a merge key, its own. */
  readonly line: number;
  /** As it is written, without quotes: `010` stays `010`. Through an alias, as its anchor is written. */
  readonly value: string;
  readonly quoted: boolean;
  /** Whether the value comes through an alias or a merge key, its own or one on the way. */
  readonly aliased: boolean;
}

/** The single value at the pointer; undefined when there is none, or the document cannot be read. */
export function scalarAt(text: string, documentIndex: number, pointer: Pointer): ScalarInText | undefined {
  const open = readable(text, documentIndex);
  if (open === undefined) {
    return undefined;
  }
  const location = locationAt(open, pointer);
  const scalar = anchorsOf(open.document).resolve(location?.node);
  if (location === undefined || !isScalar(scalar)) {
    return undefined;
  }
  const quoted = scalar.type === Scalar.QUOTE_DOUBLE || scalar.type === Scalar.QUOTE_SINGLE;
  return {
    line: lineOfLocation(open, location),
    value: typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? ''),
    quoted,
    aliased: isAlias(location.node) || location.borrowed !== undefined,
  };
}

/** Where a document of a text is: which stretch between `---` lines, and which document of that. */
function locationOf(text: string, documentIndex: number): DocumentLocation {
  const counts = splitStream(text).map((part) => parsePart(part).documents.length);
  let rest = documentIndex;
  for (const [part, count] of counts.entries()) {
    if (rest < count) {
      return { path: 'file.yaml', part, index: rest };
    }
    rest -= count;
  }
  return { path: 'file.yaml', part: counts.length, index: rest };
}

export function replaceScalar(text: string, documentIndex: number, pointer: Pointer, value: string): string {
  return replaceScalars(text, [{ documentIndex, pointer, value }]);
}

/** A value to write. */
interface ScalarChange {
  readonly documentIndex: number;
  readonly pointer: Pointer;
  readonly value: string;
}

export function replaceScalars(text: string, changes: readonly ScalarChange[]): string {
  return changedText(
    text,
    changes.map(({ documentIndex, pointer, value }) => ({
      kind: 'replace',
      at: locationOf(text, documentIndex),
      pointer,
      value,
    })),
  );
}

export function addToMapping(
  text: string,
  documentIndex: number,
  pointer: Pointer,
  key: string,
  value: string,
): string {
  return changedText(text, [{ kind: 'add', at: locationOf(text, documentIndex), pointer, key, value }]);
}

export function addToSequence(text: string, documentIndex: number, pointer: Pointer, item: string): string {
  return changedText(text, [{ kind: 'append', at: locationOf(text, documentIndex), pointer, items: [item] }]);
}

/** A literal block scalar: what it says, and the line of its first inner line. */
interface BlockScalarInText {
  readonly inner: string;
  readonly line: number;
}

/** The literal block scalar at the pointer, also through an alias; undefined when there is none. */
export function blockScalarAt(text: string, documentIndex: number, pointer: Pointer): BlockScalarInText | undefined {
  const open = readable(text, documentIndex);
  const scalar = open === undefined ? undefined : anchorsOf(open.document).resolve(locationAt(open, pointer)?.node);
  return open === undefined || !isScalar(scalar) || scalar.type !== Scalar.BLOCK_LITERAL
    ? undefined
    : { inner: String(scalar.value), line: open.parsed.lineAt(scalar.range?.[0] ?? 0) + 1 };
}

export function replaceInBlockScalar(
  text: string,
  documentIndex: number,
  pointer: Pointer,
  edit: (inner: string) => string,
): string {
  const { part, index } = locationOf(text, documentIndex);
  return spliced(text, [blockSplice(new OpenStream(text).documentOfPart(part, index), pointer, edit)]);
}

/** A document without errors; undefined where there is none with this number. */
function readable(text: string, documentIndex: number): OpenDocument | undefined {
  const { part, index } = locationOf(text, documentIndex);
  const stretch = splitStream(text)[part];
  const parsed = stretch === undefined ? undefined : parsePart(stretch);
  const document = parsed?.documents[index];
  return parsed === undefined || document === undefined || problemsOf(parsed, document).length > 0
    ? undefined
    : { parsed, document, indexInPart: index };
}
