/**
 * Single values of YAML and JSON files: reading them with their lines, and changing them in the text itself, where every
 * other byte stays.
 */
import { isAlias, isScalar, Scalar } from 'yaml';
import type { Pointer } from './field-path.ts';
import { anchorsOf } from './anchors.ts';
import { parsePart, problemsOf, splitStream } from './document.ts';
import { OpenStream } from './open.ts';
import { lineOfPlace, placeAt } from './location.ts';
import { scalarSplice } from './replace.ts';
import { spliced } from './splice.ts';
import { plainValue } from './value.ts';

export type { Pointer } from './field-path.ts';
export { addToMapping, addToSequence } from './add.ts';
export { blockScalarAt, replaceInBlockScalar } from './block.ts';

/** One document of a file. */
export interface ManifestDocument {
  /** From 0 on; empty documents count, a file of comments alone has none. */
  readonly index: number;
  /** Where its content begins, from 1 on. */
  readonly line: number;
  /** Plain values, with aliases and merge keys resolved; equal aliases are one object. Undefined when there are errors. */
  readonly value: unknown;
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

/** Every document of a YAML stream or a JSON file. */
export function documentsOf(text: string): readonly ManifestDocument[] {
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
export interface ScalarInText {
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
  const open = new OpenStream(text).document(documentIndex);
  if (open === undefined || problemsOf(open.parsed, open.document).length > 0) {
    return undefined;
  }
  const place = placeAt(open, pointer);
  const scalar = anchorsOf(open.document).resolve(place?.node);
  if (place === undefined || !isScalar(scalar)) {
    return undefined;
  }
  const quoted = scalar.type === Scalar.QUOTE_DOUBLE || scalar.type === Scalar.QUOTE_SINGLE;
  return {
    line: lineOfPlace(open, place),
    value: typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? ''),
    quoted,
    aliased: isAlias(place.node) || place.borrowed !== undefined,
  };
}

/**
 * Writes a value at the pointer. It keeps its quotes and its type: a number stays one where the value is one, a string is
 * quoted where it would turn into a number. Comments, and every other byte, stay. An alias is replaced at its own place; a
 * value that a merge key brings becomes a key of the mapping itself, one added line, which wins over the merge.
 *
 * @throws {ManifestEditError} when there is no single value in one line at the pointer, when other places of the document
 *   would change with it, or when the result does not read back as intended.
 */
export function replaceScalar(text: string, documentIndex: number, pointer: Pointer, value: string): string {
  return replaceScalars(text, [{ documentIndex, pointer, value }]);
}

/** A value to write. */
export interface ScalarChange {
  readonly documentIndex: number;
  readonly pointer: Pointer;
  readonly value: string;
}

/** As `replaceScalar`, for several values at once, with each document parsed once: all are written, or none. */
export function replaceScalars(text: string, changes: readonly ScalarChange[]): string {
  const stream = new OpenStream(text);
  const splices = changes.map(({ documentIndex, pointer, value }) =>
    scalarSplice(stream.documentToEdit(documentIndex), pointer, value),
  );
  return spliced(text, splices);
}
