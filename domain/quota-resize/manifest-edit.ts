/**
 * Changing the limits of a ResourceQuota in the text of its file. Only the scalars of spec.hard are replaced, in the text
 * itself at their places: re-printing a parsed document would also change quotes, line ends and the indentation.
 */
import { type Document, isAlias, isScalar, type Node, Scalar, visit, type YAMLMap } from 'yaml';
import { compareQuantities, isQuantity, parseQuantity } from '../kernel/quantity.ts';
import type { ResourceList } from '../kernel/resource-list.ts';
import { limitText, offsetOf, pairOf, parsePart, type QuotaNode, sourceOf, splitStream } from './manifest-document.ts';
import { matchingQuotas, type QuotaName } from './manifest-locate.ts';
import { sameDocuments } from './manifest-same.ts';

/** One limit that was changed in the text. */
interface ChangedLimit {
  /** As it was asked for. */
  readonly resource: string;
  /** The key in the file, which may be the short name (`cpu` for `requests.cpu`). */
  readonly key: string;
  /** 1-based, the same before and after. */
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

export interface Edited {
  readonly kind: 'Edited';
  readonly text: string;
  /** Empty when the text already says what was asked for. */
  readonly changed: readonly ChangedLimit[];
}

export interface Unplaceable {
  readonly kind: 'Unplaceable';
  readonly reason:
    | 'QuotaMissing'
    | 'QuotaTwice'
    | 'NotYaml'
    | 'KeyMissing'
    | 'NotAScalar'
    | 'MultiLine'
    | 'NotAQuantity'
    | 'SharedByAnchor'
    | 'Tagged';
  /** The resource that has no place; absent where the quota itself has none. */
  readonly resource?: string;
  /** 1-based. */
  readonly line?: number;
  /** A sentence: what stands in the way, and what would be right. */
  readonly message: string;
}

/** An edit that did not read back as intended. Nothing of it is returned. */
export class ManifestEditError extends Error {
  override readonly name = 'ManifestEditError';
}

// To ResourceQuota the short names mean requests. `pods` and `count/pods` are not the same: the second counts finished
// pods too.
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'requests.cpu': 'cpu',
  'requests.memory': 'memory',
  'requests.storage': 'storage',
  'requests.ephemeral-storage': 'ephemeral-storage',
};
const LONG_NAMES = Object.fromEntries(Object.entries(SHORT_NAMES).map(([long, short]) => [short, long]));

/** The key of the file for a resource: its own, else its other name, if nobody asks for that one by itself. */
function keyFor(hard: YAMLMap, resource: string, asked: readonly string[]): string | undefined {
  if (pairOf(hard, resource) !== undefined) {
    return resource;
  }
  const other = SHORT_NAMES[resource] ?? LONG_NAMES[resource];
  return other !== undefined && !asked.includes(other) && pairOf(hard, other) !== undefined ? other : undefined;
}

/** The one quota of the text, or why there is not one. */
function onlyQuota(text: string, target: QuotaName): QuotaNode | Unplaceable {
  const { exact, unnamed, problems } = matchingQuotas(text, target);
  const matches = exact.length > 0 ? exact : unnamed;
  const label = `ResourceQuota ${target.namespace}/${target.name}`;
  const [quota, second] = matches;
  if (quota !== undefined && second !== undefined) {
    return unplaceable('QuotaTwice', `${label} is there twice, at lines ${quota.line} and ${second.line}; keep one`, {
      line: second.line,
    });
  }
  if (quota !== undefined) {
    return quota;
  }
  const [problem] = problems;
  return problem === undefined
    ? unplaceable('QuotaMissing', `${label} is not in this file`)
    : unplaceable('NotYaml', `line ${problem.line}: ${problem.message}`, { line: problem.line });
}

function unplaceable(
  reason: Unplaceable['reason'],
  message: string,
  where: { resource?: string; line?: number } = {},
): Unplaceable {
  return { kind: 'Unplaceable', reason, message, ...where };
}

/**
 * What the file says today, as it is written (`2000m`, `1024Mi`), so that nobody writes below it and a new value can keep
 * its unit. A value that is no quantity is left out. Empty when the quota is not in the text (or there twice).
 *
 * @param resources the limits to read, under the names they are asked by; absent: every key of the file by its own name.
 */
export function valuesInGit(text: string, target: QuotaName, resources?: readonly string[]): ResourceList {
  const quota = onlyQuota(text, target);
  if (!('parsed' in quota) || quota.hard === undefined) {
    return {};
  }
  const { hard, document } = quota;
  const names = resources ?? hard.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
  return Object.fromEntries(
    names.flatMap((resource) => {
      const key = keyFor(hard, resource, names);
      const value = key === undefined ? undefined : limitText(pairOf(hard, key)?.value, document);
      return value !== undefined && isQuantity(value) ? [[resource, value]] : [];
    }),
  );
}

interface Splice {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly change: ChangedLimit;
}

/**
 * Writes the limits into the text. Every byte outside the changed values stays: comments, quotes, order, indentation, line
 * ends, a byte order mark, other documents, a missing newline at the end. A value that already is the same amount (`2000m`
 * for `2`) stays as it is written. The result is read back, and only returned if exactly these values changed.
 *
 * It raises or lowers as told; compare with `valuesInGit` first.
 *
 * @throws {QuantityError} when a limit is not a quantity.
 * @throws {ManifestEditError} when the result does not read back as intended.
 */
export function editQuota(text: string, target: QuotaName, limits: ResourceList): Edited | Unplaceable {
  const quota = onlyQuota(text, target);
  if (!('parsed' in quota)) {
    return quota;
  }
  const splices: Splice[] = [];
  for (const resource of Object.keys(limits)) {
    const splice = spliceFor(quota, resource, limits);
    if (splice === undefined) {
      continue;
    }
    if (!('replacement' in splice)) {
      return splice;
    }
    splices.push(splice);
  }
  splices.sort((a, b) => a.start - b.start);
  const edited = applySplices(text, quota.parsed.part.offset, splices);
  verify(quota, edited, splices);
  return { kind: 'Edited', text: edited, changed: splices.map(({ change }) => change) };
}

function spliceFor(quota: QuotaNode, resource: string, limits: ResourceList): Splice | Unplaceable | undefined {
  const { hard, document, parsed, name } = quota;
  const wanted = limits[resource] ?? '';
  const amount = parseQuantity(wanted);
  const key = hard === undefined ? undefined : keyFor(hard, resource, Object.keys(limits));
  if (hard === undefined || key === undefined) {
    return missingKey(quota, resource);
  }
  const node = pairOf(hard, key)?.value;
  const line = parsed.lineAt(offsetOf(node ?? pairOf(hard, key)?.key));
  const where = { resource, line };
  const current = limitText(node, document);
  if (!node?.range || !(isScalar(node) || isAlias(node)) || (isAlias(node) && !isScalar(node.resolve(document)))) {
    return unplaceable('NotAScalar', `spec.hard of ${name} has no single value for ${key} at line ${line}`, where);
  }
  const source = sourceOf(parsed, node);
  if (source.includes('\n')) {
    return unplaceable(
      'MultiLine',
      `the value of ${key} at line ${line} goes over several lines; write it in one`,
      where,
    );
  }
  if (current === undefined || !isQuantity(current)) {
    const message = `the value of ${key} at line ${line}, ${source === '' ? 'nothing' : source}, is not a quantity such as 2, 500m or 4Gi`;
    return unplaceable('NotAQuantity', message, where);
  }
  if (compareQuantities(parseQuantity(current), amount) === 0) {
    return undefined;
  }
  // A string tag keeps what follows a string; any other tag may not fit the new text.
  if (isScalar(node) && node.tag !== undefined && node.tag !== 'tag:yaml.org,2002:str') {
    return unplaceable(
      'Tagged',
      `the value of ${key} at line ${line} has the tag ${node.tag}; take the tag away`,
      where,
    );
  }
  const anchor = sharedAnchor(quota, node);
  if (anchor !== undefined) {
    const message = `the value of ${key} at line ${line} belongs to the YAML anchor &${anchor}, which other places use; write the value out`;
    return unplaceable('SharedByAnchor', message, where);
  }
  const [start, end] = node.range;
  const change = { resource, key, line, from: current, to: wanted };
  return { node, start, end, replacement: replacementFor(node, wanted), change };
}

function missingKey(quota: QuotaNode, resource: string): Unplaceable {
  const { hard, name, line } = quota;
  const merged = hard?.items.some(({ key }) => isScalar(key) && (key.value === '<<' || typeof key.value === 'symbol'));
  if (merged === true) {
    const message = `spec.hard of ${name} (line ${line}) has no ${resource} of its own, only what it merges with <<; write the key out`;
    return unplaceable('SharedByAnchor', message, { resource, line });
  }
  return unplaceable('KeyMissing', `spec.hard of ${name} (line ${line}) has no ${resource}; add the key to the file`, {
    resource,
    line,
  });
}

/** The anchor through which a change of this value would change another place too. */
function sharedAnchor(quota: QuotaNode, value: Node): string | undefined {
  const used = aliasNames(quota.document);
  for (const node of [...quota.containers, value]) {
    if (!isAlias(node) && node.anchor !== undefined && used.has(node.anchor)) {
      return node.anchor;
    }
  }
  return undefined;
}

function aliasNames(document: Document.Parsed): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    Alias: (_key, alias) => {
      names.add(alias.source);
    },
  });
  return names;
}

function replacementFor(node: Node, wanted: string): string {
  // A quantity has no character that would need an escape in quotes.
  if (isScalar(node) && node.type === Scalar.QUOTE_SINGLE) {
    return `'${wanted}'`;
  }
  return (isScalar(node) && node.type === Scalar.QUOTE_DOUBLE) || !readsPlain(wanted) ? `"${wanted}"` : wanted;
}

// Every YAML reader takes these for what they are, and Kubernetes takes the number or the string for the same quantity. A
// leading zero (octal in YAML 1.1), an exponent, and more digits than an int64 or a double holds must be quoted.
const PLAIN_WHOLE = /^(?:0|[1-9][0-9]{0,17})$/;
const PLAIN_FRACTION = /^(?:0|[1-9][0-9]{0,8})\.[0-9]{1,6}$/;
const PLAIN_SUFFIXED = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[numkMGTPE]|[KMGTPE]i)$/;

function readsPlain(text: string): boolean {
  return PLAIN_WHOLE.test(text) || PLAIN_FRACTION.test(text) || PLAIN_SUFFIXED.test(text);
}

function applySplices(text: string, offset: number, splices: readonly Splice[]): string {
  let edited = '';
  let position = 0;
  for (const { start, end, replacement } of splices) {
    edited += text.slice(position, offset + start) + replacement;
    position = offset + end;
  }
  return edited + text.slice(position);
}

function verify(quota: QuotaNode, edited: string, splices: readonly Splice[]): void {
  const { part, documents } = quota.parsed;
  const editedPart = splitStream(edited).find(({ offset }) => offset === part.offset);
  const expected = new Map(splices.map(({ node, change }) => [node, change.to]));
  if (editedPart === undefined || !sameDocuments(documents, parsePart(editedPart).documents, expected)) {
    const changes = splices.map(({ change }) => `${change.key} at line ${change.line} to ${change.to}`).join(', ');
    throw new ManifestEditError(
      `setting ${changes} in ResourceQuota ${quota.name} would change more than these values; nothing was written`,
    );
  }
}
