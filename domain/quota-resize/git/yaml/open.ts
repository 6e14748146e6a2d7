/** One document of a stream, without parsing the others. */
import { type OpenDocument, type ParsedPart, parsePart, problemsOf, type StreamPart, splitStream } from './document.ts';
import { ManifestEditError } from './error.ts';

/** The documents of a text; each part of the stream is parsed once, when somebody asks for a document of it. */
export class OpenStream {
  readonly #parts: readonly StreamPart[];
  readonly #parsed = new Map<StreamPart, ParsedPart>();
  readonly #editable = new Set<OpenDocument['document']>();

  /** @param linesBefore how many lines of a file come before the text, where it is a part of one. */
  constructor(text: string, linesBefore = 0) {
    this.#parts = splitStream(text, linesBefore);
  }

  /**
   * The document of a part, to be edited. No other part is parsed.
   *
   * @param partIndex which stretch between `---` lines, from 0 on.
   * @param index which document of it, from 0 on.
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
