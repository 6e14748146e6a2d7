/**
 * The ResourceQuotas of a YAML stream as syntax nodes, with their places in the text.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from 'yaml';

/** A stretch of the stream that YAML forbids any node to cross, so that it can be parsed alone. */
export interface StreamPart {
  readonly text: string;
  /** Where it begins in the whole text, in UTF-16 units. */
  readonly offset: number;
  /** How many lines of the whole text come before it. */
  readonly linesBefore: number;
}

/** A part of the stream, parsed. */
export interface ParsedPart {
  readonly part: StreamPart;
  readonly documents: readonly Document.Parsed[];
  /** The 1-based line in the whole text of an offset in the part. */
  lineAt(offset: number): number;
}

/** One ResourceQuota object in a parsed part. */
export interface QuotaNode {
  readonly parsed: ParsedPart;
  readonly document: Document.Parsed;
  readonly name: string;
  /** Undefined when metadata has no namespace (or an empty one, which is the same to Kubernetes). */
  readonly namespace: string | undefined;
  /** The line of metadata.name. */
  readonly line: number;
  /** spec.hard, where it is a mapping. */
  readonly hard: YAMLMap | undefined;
  /** The nodes from the document's root down to spec.hard; where a step is an alias, the anchored node it stands for. */
  readonly containers: readonly Node[];
}

/** A document that cannot be read as YAML although it may hold a ResourceQuota. */
export interface NotYaml {
  readonly kind: 'NotYaml';
  /** 1-based, in the whole text. */
  readonly line: number;
  readonly message: string;
}

export interface StreamScan {
  readonly quotas: readonly QuotaNode[];
  readonly problems: readonly NotYaml[];
}

const KIND = 'ResourceQuota';

// A line that starts with `---` ends whatever comes before it, even in a quoted or a block scalar (c-forbidden in YAML
// 1.2.2, 9.1.2). No `m` flag: with it `^` would also match after U+2028, which is no line break in YAML 1.2.
const DOCUMENT_START = /(?:^|\n)---(?=[ \t\r\n]|$)/g;
const DIRECTIVE = /(?:^\uFEFF?|\n)%/;

/** Splits a stream before every `---` line. A stream with directives (`%TAG`) stays whole: they count from line to line. */
export function splitStream(text: string): readonly StreamPart[] {
  const starts = [0];
  if (!DIRECTIVE.test(text)) {
    for (const match of text.matchAll(DOCUMENT_START)) {
      const start = match[0].startsWith('\n') ? match.index + 1 : match.index;
      if (start > 0) {
        starts.push(start);
      }
    }
  }
  let linesBefore = 0;
  return starts.map((offset, index) => {
    const part = { text: text.slice(offset, starts[index + 1]), offset, linesBefore };
    linesBefore += part.text.split('\n').length - 1;
    return part;
  });
}

export function parsePart(part: StreamPart): ParsedPart {
  const lines = new LineCounter();
  // `merge` because the tools that apply manifests (kubectl, kustomize, Argo CD, Flux) resolve `<<`.
  const documents = parseAllDocuments(part.text, { lineCounter: lines, merge: true, prettyErrors: false });
  return { part, documents: [...documents], lineAt: (offset) => part.linesBefore + lines.linePos(offset).line };
}

/**
 * Every ResourceQuota (apiVersion v1) of the stream, also inside Lists. Never throws: a document that is not YAML but may
 * hold one becomes a problem, and the other documents are read all the same.
 *
 * @param needles words that a quota of interest has in its text, such as its name; a document without all of them is not
 *   parsed, unless escapes or templates could hide one.
 */
export function scanStream(text: string, needles: readonly string[] = []): StreamScan {
  const quotas: QuotaNode[] = [];
  const problems: NotYaml[] = [];
  if (!text.includes(KIND)) {
    return { quotas, problems };
  }
  for (const part of splitStream(text)) {
    if (!mayHold(part.text, needles)) {
      continue;
    }
    const parsed = parsePart(part);
    for (const document of parsed.documents) {
      const problem = problemOf(parsed, document);
      if (problem === undefined) {
        collectQuotas(parsed, document, quotas);
      } else {
        problems.push(problem);
      }
    }
  }
  return { quotas, problems };
}

function mayHold(text: string, needles: readonly string[]): boolean {
  if (!text.includes(KIND)) {
    return false;
  }
  return text.includes('{{') || text.includes('\\') || needles.every((needle) => text.includes(needle));
}

function problemOf(parsed: ParsedPart, document: Document.Parsed): NotYaml | undefined {
  const error = document.errors[0];
  if (error !== undefined) {
    return { kind: 'NotYaml', line: parsed.lineAt(error.pos[0]), message: `not YAML: ${error.message}` };
  }
  // `key: {{ .Values.x }}` happens to parse, as a mapping whose key is a mapping.
  let expression: string | undefined;
  let offset = 0;
  visit(document, {
    Map: (_key, map) => {
      const source = sourceOf(parsed, map);
      if (map.flow === true && source.startsWith('{{')) {
        expression = source;
        offset = map.range?.[0] ?? 0;
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return expression === undefined
    ? undefined
    : {
        kind: 'NotYaml',
        line: parsed.lineAt(offset),
        message: `not YAML: the template expression ${expression} is not quoted`,
      };
}

/** The text of a node as it stands in the part, without its anchor and tag. */
export function sourceOf(parsed: ParsedPart, node: Node): string {
  return node.range ? parsed.part.text.slice(node.range[0], node.range[1]) : '';
}

function collectQuotas(parsed: ParsedPart, document: Document.Parsed, quotas: QuotaNode[]): void {
  const visitObject = (node: unknown, above: readonly Node[], listed: boolean): void => {
    const object = resolved(node, document);
    if (!isMap(object) || above.includes(object)) {
      return;
    }
    const kind = textMember(object, 'kind', document);
    const apiVersion = textMember(object, 'apiVersion', document);
    const containers = [...above, object];
    const isQuota = kind === KIND && apiVersion === 'v1';
    // A typed list may leave its items' kind and version out.
    if (isQuota || (listed && kind === undefined && apiVersion === undefined)) {
      const quota = quotaNode(parsed, document, object, containers);
      if (quota !== undefined) {
        quotas.push(quota);
      }
      return;
    }
    if (apiVersion === 'v1' && (kind === 'List' || kind === `${KIND}List`)) {
      const items = resolved(member(object, 'items'), document);
      if (isSeq(items)) {
        for (const item of items.items) {
          visitObject(item, [...containers, items], kind !== 'List');
        }
      }
    }
  };
  visitObject(document.contents, [], false);
}

function quotaNode(
  parsed: ParsedPart,
  document: Document.Parsed,
  object: YAMLMap,
  above: readonly Node[],
): QuotaNode | undefined {
  const metadata = resolved(member(object, 'metadata'), document);
  const name = isMap(metadata) ? textMember(metadata, 'name', document) : undefined;
  if (!isMap(metadata) || name === undefined) {
    return undefined;
  }
  const spec = resolved(member(object, 'spec'), document);
  const hard = isMap(spec) ? resolved(member(spec, 'hard'), document) : undefined;
  return {
    parsed,
    document,
    name,
    namespace: textMember(metadata, 'namespace', document) || undefined,
    line: parsed.lineAt(offsetOf(member(metadata, 'name'))),
    hard: isMap(hard) ? hard : undefined,
    containers: isMap(spec) && isMap(hard) ? [...above, spec, hard] : above,
  };
}

/** The pair of a mapping with this very key, quoted or not. Merge keys are not followed. */
export function pairOf(map: YAMLMap, key: string): Pair<Node, Node | null> | undefined {
  return (map.items as Pair<Node, Node | null>[]).find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function member(map: YAMLMap, key: string): Node | null | undefined {
  return pairOf(map, key)?.value;
}

/** The node that an alias stands for; any other node is itself. */
function resolved(node: unknown, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function textMember(map: YAMLMap, key: string, document: Document.Parsed): string | undefined {
  const node = resolved(member(map, key), document);
  return isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
}

export function offsetOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}

/**
 * What a limit says as text: the content of a string, or a number as it is written. Undefined for anything that is no
 * single value, and for a number such as 010, which is eight or ten depending on the version of YAML.
 */
export function limitText(node: unknown, document: Document.Parsed): string | undefined {
  const scalar = resolved(node, document);
  if (!isScalar(scalar)) {
    return undefined;
  }
  if (typeof scalar.value === 'string') {
    return scalar.value;
  }
  const source = scalar.source;
  return typeof scalar.value === 'number' && source !== undefined && !/^[-+]?0[0-9]/.test(source) ? source : undefined;
}
