/** Opens one document of a stream without parsing the others. */
import { type OpenDocument, type ParsedPart, parsePart, problemsOf, type StreamPart, splitStream } from './document.ts';
import { ManifestEditError } from './error.ts';

/** The documents of a text; each part of the stream is parsed at most once, on first use. */
export class OpenStream {
  readonly #parts: readonly StreamPart[];
  readonly #parsed = new Map<StreamPart, ParsedPart>();
  readonly #editable = new Set<OpenDocument['document']>();

  /** @param linesBefore how many lines of the file precede the text, when it is a part of one. */
  constructor(text: string, linesBefore = 0) {
    this.#parts = splitStream(text, linesBefore);
  }

  /**
   * The document of a part, for an edit. Other parts are not parsed.
   *
   * @param partIndex the index of the part between `---` lines, from 0 on.
   * @param index the index of the document in the part, from 0 on.
   * @throws {ManifestEditError} when there is no such document, or it cannot be read.
   */
  documentOfPart(partIndex: number, index: number): OpenDocument {
    const part = this.#parts[partIndex];
    const parsed = part === undefined ? undefined : this.#parse(part);
    const document = parsed?.documents[index];
    const open = parsed === undefined || document === undefined ? undefined : { parsed, document, indexInPart: index };
    if (open === undefined) {
      throw new ManifestEditError(`the file has no document ${partIndex + index + 1}`);
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

  #parse(part: StreamPart): ParsedPart {
    const parsed = this.#parsed.get(part) ?? parsePart(part);
    this.#parsed.set(part, parsed);
    return parsed;
  }
}
