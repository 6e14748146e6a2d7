/** Splits a YAML stream into parts that are parsed separately, and explains why a part cannot be read. */
import { type Document, isScalar, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import { anchorsOf } from './anchors.ts';
import { reportDuplicateKeys } from './duplicate-keys.ts';

/** A part of the stream that YAML forbids any node to cross, so that it can be parsed alone. */
export interface StreamPart {
  readonly text: string;
  /** The start in the whole text, in UTF-16 code units. */
  readonly offset: number;
  /** How many lines of the whole text precede it. */
  readonly linesBefore: number;
}

/** A part of the stream, parsed. */
export interface ParsedPart {
  readonly part: StreamPart;
  readonly documents: readonly Document.Parsed[];
  /** Whether the part is JSON, which has exactly one document. */
  readonly json: boolean;
  /** The 1-based line in the whole text for an offset in the part. */
  lineAt(offset: number): number;
}

/** One document of a parsed part. */
export interface OpenDocument {
  readonly parsed: ParsedPart;
  readonly document: Document.Parsed;
  /** Its index among the documents of the part. */
  readonly indexInPart: number;
}

/** Why a document cannot be read as YAML. */
interface NotYaml {
  readonly kind: 'NotYaml';
  /** 1-based, in the whole text. */
  readonly line: number;
  readonly message: string;
}

/**
 * Splits a stream before every `---` line: such a line ends everything before it, even a quoted or a block scalar
 * (c-forbidden in YAML 1.2.2, 9.1.2). A stream with directives (`%TAG`) is not split, because directives depend on the
 * position. Implemented with plain string searches, because a file may have thousands of documents and is split for
 * each edit.
 *
 * @param before how many lines of the file precede the text, when it is a part of one.
 */
export function splitStream(text: string, before = 0): readonly StreamPart[] {
  const parts: StreamPart[] = [];
  let offset = 0;
  let linesBefore = before;
  const whole = hasDirectives(text);
  while (offset < text.length || parts.length === 0) {
    const end = whole ? text.length : nextDocumentStart(text, offset);
    parts.push({ text: text.slice(offset, end), offset, linesBefore });
    linesBefore += newlines(text, offset, end);
    offset = end;
  }
  return parts;
}

/**
 * Only `\n` ends a line here: a regular expression with the m flag would also match after U+2028, which is no line
 * break in YAML 1.2.
 */
function hasDirectives(text: string): boolean {
  return text.startsWith('%') || text.startsWith('\uFEFF%') || text.includes('\n%');
}

/** The offset of the next `---` line after the one at the given offset. */
function nextDocumentStart(text: string, offset: number): number {
  let at = text.indexOf('\n---', offset);
  while (at !== -1) {
    const after = text[at + 4];
    if (after === undefined || after === ' ' || after === '\t' || after === '\r' || after === '\n') {
      return at + 1;
    }
    at = text.indexOf('\n---', at + 4);
  }
  return text.length;
}

function newlines(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
    count += 1;
  }
  return count;
}

export function parsePart(part: StreamPart): ParsedPart {
  const lines = new LineCounter();
  // `merge` because the tools that apply manifests (kubectl, kustomize, Argo CD, Flux) resolve `<<`.
  const documents = parseAllDocuments(part.text, {
    lineCounter: lines,
    merge: true,
    // The tokens contain the indentation of each collection.
    keepSourceTokens: true,
    prettyErrors: false,
    uniqueKeys: false,
  });
  for (const document of documents) {
    reportDuplicateKeys(document);
  }
  const json = isJson(part.text);
  return { part, documents: [...documents], json, lineAt: (offset) => part.linesBefore + lines.linePos(offset).line };
}

/** Whether a text is a JSON object or array. */
function isJson(text: string): boolean {
  const body = text.replace(/^\uFEFF/, '');
  if (!/^[ \t\r\n]*[{[]/.test(body)) {
    return false;
  }
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

/**
 * Why a document cannot be read: all syntax errors, or else the first template expression that happens to be valid
 * YAML.
 */
export function problemsOf(parsed: ParsedPart, document: Document.Parsed): readonly NotYaml[] {
  if (document.errors.length > 0) {
    // An error at the end of the part is reported in its last line, not in the next document.
    const end = parsed.part.text.trimEnd().length;
    return document.errors.map(({ pos, message }) => ({
      kind: 'NotYaml',
      line: parsed.lineAt(Math.min(pos[0], end)),
      message: `not YAML: ${message}`,
    }));
  }
  if (!parsed.part.text.includes('{{')) {
    return [];
  }
  // `key: {{ .Values.x }}` happens to be valid YAML: a mapping whose key is a mapping.
  const expressions: NotYaml[] = [];
  visit(document, {
    Map: (_key, map) => {
      const source = map.flow === true ? sourceOf(parsed, map) : '';
      if (!source.startsWith('{{')) {
        return undefined;
      }
      const line = parsed.lineAt(map.range?.[0] ?? 0);
      expressions.push({
        kind: 'NotYaml',
        line,
        message: `not YAML: the template expression ${source} is not quoted`,
      });
      return visit.BREAK;
    },
  });
  return expressions;
}

/** The source text of a node, without its anchor and tag. */
export function sourceOf(parsed: ParsedPart, node: Node): string {
  return node.range ? parsed.part.text.slice(node.range[0], node.range[1]) : '';
}

/**
 * The text of a limit: the content of a string, or a number as written. Undefined for anything that is not a scalar,
 * and for a number such as 010, which is eight or ten depending on the version of YAML.
 */
export function limitText(node: unknown, document: Document.Parsed): string | undefined {
  const scalar = anchorsOf(document).resolve(node);
  if (!isScalar(scalar)) {
    return undefined;
  }
  if (typeof scalar.value === 'string') {
    return scalar.value;
  }
  const source = scalar.source;
  return typeof scalar.value === 'number' && source !== undefined && !/^[-+]?0[0-9]/.test(source) ? source : undefined;
}
