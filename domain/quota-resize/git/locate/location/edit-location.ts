/** Raises the limits of a located quota in the files that contain them. */
import { compareQuantities, isQuantity, parseQuantity } from '../../../../kernel/quantity.ts';
import { type ResourceList, resourceEntries } from '../../../../kernel/resource-list.ts';
import { ManifestEditError } from '../../yaml/error.ts';
import { changedText, type TextEdit } from '../../yaml/changed-text.ts';
import { folderOf } from '../tree/paths.ts';
import type { FileEdit, TreeSnapshot, LocatedValue, QuotaLocation } from './location.ts';
import type { ValueEdit } from '../../yaml/value-edit.ts';
import { spelledFor, whyUnspelled } from './spelling.ts';
import { keyOf } from './value-keys.ts';

/** One limit that an edit raises. */
interface RaisedLine {
  readonly resource: string;
  /** The present value as written, and its place. */
  readonly from: LocatedValue;
  readonly to: string;
  /** The changed file: the file of the value, or of a patch that overrides it. */
  readonly path: string;
}

export type LocationEdited =
  /** `edits` is empty when Git has every limit already. */
  | { readonly kind: 'edited'; readonly edits: readonly FileEdit[]; readonly lines: readonly RaisedLine[] }
  | { readonly kind: 'unplaceable'; readonly message: string };

/** The present limits in Git, under the names that were asked for. */
export function limitsInGit(location: QuotaLocation, resources: readonly string[]): ResourceList {
  return Object.fromEntries(
    resources.flatMap((resource) => {
      const key = keyOf(location, resource, resources);
      const text = key === undefined ? undefined : location.values[key]?.text;
      return text === undefined ? [] : [[resource, text]];
    }),
  );
}

/** A located quota and its new limits. */
export interface LocationRaise {
  readonly location: QuotaLocation;
  readonly limits: ResourceList;
}

/**
 * Writes the limits in the place where the quota has them and leaves every other byte unchanged. A limit that Git
 * already has, or exceeds, is not changed. A value that other quotas use too is not changed either: a new or existing
 * patch in the quota's own overlay overrides it.
 *
 * @param tree with the texts that the location was found in. For several edits of the same files, pass a tree with the
 *   results of the earlier edits.
 * @throws {QuantityError} when a limit is not a quantity.
 */
export function editLocation(tree: TreeSnapshot, location: QuotaLocation, limits: ResourceList): LocationEdited {
  return editLocations(tree, [{ location, limits }]);
}

/**
 * Like `editLocation`, for several quotas; each file is parsed once. Either all limits are written or none; the message
 * is then about the first one that cannot be written.
 */
export function editLocations(tree: TreeSnapshot, raises: readonly LocationRaise[]): LocationEdited {
  const lines: Line[] = [];
  for (const [index, { location, limits }] of raises.entries()) {
    const quotaLines = linesOf(tree, location, limits, index);
    if (typeof quotaLines === 'string') {
      return { kind: 'unplaceable', message: quotaLines };
    }
    lines.push(...quotaLines);
  }
  try {
    return editedLines(tree, lines);
  } catch (error) {
    if (!(error instanceof ManifestEditError)) {
      throw error;
    }
    const [only, second] = raises;
    const label = only === undefined || second !== undefined ? 'several ResourceQuotas' : labelOf(only.location);
    return { kind: 'unplaceable', message: `${label}: ${error.message}` };
  }
}

/** Why a limit of the quota cannot be raised at its location; undefined when it can. */
export function obstacleOf(location: QuotaLocation, resource: string): string | undefined {
  const key = keyOf(location, resource, [resource]);
  const edit = key === undefined ? undefined : location.edits[key];
  return edit?.kind === 'none' ? `${labelOf(location)}: ${edit.message}` : undefined;
}

type Line = RaisedLine & {
  readonly key: string;
  readonly edit: Exclude<ValueEdit, { kind: 'none' }>;
  /** Index of the quota among those that are raised together. */
  readonly quota: number;
};

/** The lines to change, or a sentence when a limit has no place to write to. */
function linesOf(
  tree: TreeSnapshot,
  location: QuotaLocation,
  limits: ResourceList,
  quota: number,
): readonly Line[] | string {
  const asked = Object.keys(limits);
  const lines: Line[] = [];
  for (const [resource, amount] of resourceEntries(limits)) {
    const key = keyOf(location, resource, asked);
    const from = key === undefined ? undefined : location.values[key];
    const edit = key === undefined ? undefined : location.edits[key];
    if (key === undefined || from === undefined || edit === undefined) {
      return `${labelOf(location)}: it sets no ${resource} in Git; write the key out (${location.path}:${location.line})`;
    }
    if (compareQuantities(parseQuantity(from.text), amount) >= 0) {
      continue;
    }
    if (edit.kind === 'none') {
      return `${labelOf(location)}: ${edit.message}`;
    }
    const limit = limits[resource] ?? '';
    const to = spelledFor(tree, edit, limit);
    if (to === undefined) {
      const why = edit.kind === 'replace' && edit.consumer !== undefined ? whyUnspelled(edit.consumer, limit) : '';
      return `${labelOf(location)}: the value of ${key} at ${from.path}:${from.line} cannot be raised: ${why}`;
    }
    lines.push({ resource, key, from, to, path: pathOf(edit), edit, quota });
  }
  return lines;
}

function labelOf({ namespace, name }: QuotaLocation): string {
  return `ResourceQuota ${namespace}/${name}`;
}

function pathOf(edit: Line['edit']): string {
  return edit.kind === 'line' ? edit.path : edit.at.path;
}

/** The new text of changed and of new files. */
interface Changes {
  readonly edits: Map<string, TextEdit[]>;
  readonly templateLines: Map<string, Line[]>;
  readonly created: Map<string, string>;
  /** The path of the new file that a line goes into, where the line needs one. */
  readonly newFiles: Map<Line, string>;
}

function editedLines(tree: TreeSnapshot, lines: readonly Line[]): LocationEdited {
  const { edits, templateLines, created, newFiles } = changesOf(tree, lines);
  const after = new Map<string, string>(created);
  for (const [path, changes] of templateLines) {
    after.set(path, inLines(path, textOf(tree, path), changes));
  }
  for (const [path, changes] of edits) {
    const text = after.get(path) ?? textOf(tree, path);
    after.set(
      path,
      inFile(path, () => changedText(text, changes)),
    );
  }
  const files = [...after].map(
    ([path, text]): FileEdit => ({ path, before: tree.texts.get(path) ?? null, after: text }),
  );
  return {
    kind: 'edited',
    edits: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    lines: lines.map((line) => {
      const { resource, from, to, path } = line;
      return { resource, from, to, path: newFiles.get(line) ?? path };
    }),
  };
}

function textOf({ texts }: TreeSnapshot, path: string): string {
  const text = texts.get(path);
  if (text === undefined || text === null) {
    throw new ManifestEditError(`${path} is not known`);
  }
  return text;
}

/** Prefixes an error with the file, because the values of one quota may be in several files. */
function inFile<T>(path: string, edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    throw error instanceof ManifestEditError
      ? new ManifestEditError(`${path}: ${error.message}`, error.obstacle)
      : error;
  }
}

function changesOf(tree: TreeSnapshot, lines: readonly Line[]): Changes {
  const changes: Changes = { edits: new Map(), templateLines: new Map(), created: new Map(), newFiles: new Map() };
  const patches = new Map<string, Line[]>();
  for (const line of lines) {
    const { edit, to, quota } = line;
    switch (edit.kind) {
      case 'replace':
      case 'add':
        addTo(changes.edits, edit.at.path, { ...edit, value: to });
        break;
      case 'line':
        addTo(changes.templateLines, edit.path, line);
        break;
      case 'patch':
        addTo(patches, JSON.stringify([quota, edit.at.path]), line);
        break;
    }
  }
  const existing = new Set([...tree.paths, ...tree.texts.keys()]);
  for (const together of patches.values()) {
    addPatch(tree, existing, together, changes);
  }
  return changes;
}

function addTo<T>(groups: Map<string, T[]>, key: string, item: T): void {
  const group = groups.get(key);
  if (group === undefined) {
    groups.set(key, [item]);
  } else {
    group.push(item);
  }
}

/** Changes literal values after a key in lines of a template. */
function inLines(path: string, text: string, changes: readonly Line[]): string {
  const lines = text.split('\n');
  const changed = new Set<number>();
  for (const { edit, to } of changes) {
    if (edit.kind !== 'line') {
      continue;
    }
    if (changed.has(edit.line)) {
      throw new ManifestEditError(`the value at ${path}:${edit.line} would be changed twice`);
    }
    changed.add(edit.line);
    lines[edit.line - 1] = changedLine(lines[edit.line - 1] ?? '', edit, to);
  }
  return lines.join('\n');
}

function changedLine(before: string, { path, line, from }: Extract<ValueEdit, { kind: 'line' }>, to: string): string {
  const match = /^(\s*(?:"[^"]*"|'[^']*'|[^\s:]+)\s*:\s+)(["']?)([^"'\s#]+)\2(\s*(?:#.*)?)$/.exec(before);
  if (match === null || match[3] !== from || !isQuantity(to)) {
    throw new ManifestEditError(`the value at ${path}:${line} cannot be changed in its line`);
  }
  // The new text stays unquoted only if YAML reads it as the intended value.
  const quote = match[2] === '' && !/^(?:0|[1-9][0-9]{0,15})(?:[a-zA-Z]+)?$/.test(to) ? '"' : (match[2] ?? '');
  return `${match[1] ?? ''}${quote}${to}${quote}${match[4] ?? ''}`;
}

/** Adds a patch file beside the overlay's kustomization, and an entry for it. */
function addPatch(
  tree: TreeSnapshot,
  existing: Set<string>,
  lines: readonly Line[],
  { created, edits, newFiles }: Changes,
): void {
  const edit = lines[0]?.edit;
  if (edit?.kind !== 'patch') {
    return;
  }
  const { at, name, namespace } = edit;
  const folder = folderOf(at.path);
  const file = freeName(existing, folder, `resourcequota-${name}-patch`);
  const path = inFolder(folder, file);
  existing.add(path);
  const eol = textOf(tree, at.path).includes('\r\n') ? '\r\n' : '\n';
  const text = [
    'apiVersion: v1',
    'kind: ResourceQuota',
    'metadata:',
    `  name: ${plainOrQuoted(name)}`,
    ...(namespace === undefined ? [] : [`  namespace: ${plainOrQuoted(namespace)}`]),
    'spec:',
    '  hard:',
    ...lines.map(({ key, to }) => `    ${plainOrQuoted(key)}: "${to}"`),
    '',
  ].join(eol);
  created.set(path, text);
  for (const line of lines) {
    newFiles.set(line, path);
  }
  addTo(edits, at.path, { kind: 'append', at, pointer: ['patches'], items: [`path: ${plainOrQuoted(file)}`] });
}

function inFolder(folder: string, file: string): string {
  return folder === '' ? file : `${folder}/${file}`;
}

function freeName(existing: ReadonlySet<string>, folder: string, stem: string): string {
  for (let count = 1; ; count += 1) {
    const file = `${stem}${count === 1 ? '' : `-${count}`}.yaml`;
    if (!existing.has(inFolder(folder, file))) {
      return file;
    }
  }
}

/** Quotes a Kubernetes name that YAML would not read as a string: `123`, `true`, `1e3`. */
function plainOrQuoted(text: string): string {
  return /^[a-z][a-z0-9./-]*$/i.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
