/** One document of a stream, by its number, without parsing the others. */
import { type OpenDocument, type ParsedPart, parsePart, problemsOf, type StreamPart, splitStream } from './document.ts';
import { ManifestEditError } from './error.ts';

/** The documents of a text; each part of the stream is parsed once, when somebody asks for a document of it. */
export class OpenStream {
  readonly #parts: readonly StreamPart[];
  readonly #parsed = new Map<StreamPart, ParsedPart>();
  readonly #editable = new Set<OpenDocument['document']>();
  /** The number of each part's first document, as far as it is known. */
  readonly #firstIndexes: number[] = [];

  /** @param linesBefore how many lines of a file come before the text, where it is a part of one. */
  constructor(text: string, linesBefore = 0) {
    this.#parts = splitStream(text, linesBefore);
  }

  /** The document with this number, from 0 on; undefined when the stream has fewer. */
  document(index: number): OpenDocument | undefined {
    let first = 0;
    for (const [number, part] of this.#parts.entries()) {
      const next = this.#firstIndexes[number + 1] ?? first + this.#count(part);
      this.#firstIndexes[number + 1] = next;
      if (index < next) {
        const parsed = this.#parse(part);
        const document = parsed.documents[index - first];
        return document === undefined ? undefined : { parsed, document, indexInPart: index - first };
      }
      first = next;
    }
    return undefined;
  }

  /**
   * As `document`, for an edit.
   *
   * @throws {ManifestEditError} when there is no such document, or it cannot be read.
   */
  documentToEdit(index: number): OpenDocument {
    return this.#editableOne(this.document(index), index);
  }

  /**
   * As `documentToEdit`, by the number of its part and its number in there: no other part is parsed.
   *
   * @throws {ManifestEditError} when there is no such document, or it cannot be read.
   */
  documentOfPart(partIndex: number, index: number): OpenDocument {
    const part = this.#parts[partIndex];
    const parsed = part === undefined ? undefined : this.#parse(part);
    const document = parsed?.documents[index];
    const open = parsed === undefined || document === undefined ? undefined : { parsed, document, indexInPart: index };
    return this.#editableOne(open, partIndex + index);
  }

  #editableOne(open: OpenDocument | undefined, number: number): OpenDocument {
    if (open === undefined) {
      throw new ManifestEditError(`the file has no document ${number + 1}`);
    }
    if (!this.#editable.has(open.document)) {
      const [problem] = problemsOf(open.parsed, open.document);
      if (problem !== undefined) {
        throw new ManifestEditError(`line ${problem.line}: ${problem.message}`);
      }
      this.#editable.add(open.document);
    }
    return open;
  }

  /** How many documents a part has. One that begins with `---` is one document unless it has an end mark or directives. */
  #count(part: StreamPart): number {
    const { text } = part;
    const single = text.startsWith('---') && !text.includes('\n...') && !text.includes('\n%');
    return single ? 1 : this.#parse(part).documents.length;
  }

  #parse(part: StreamPart): ParsedPart {
    const parsed = this.#parsed.get(part) ?? parsePart(part);
    this.#parsed.set(part, parsed);
    return parsed;
  }
}
