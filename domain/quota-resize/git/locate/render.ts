/**
 * What `kustomize build` makes of the ResourceQuotas that a kustomization names: their names, their namespaces, and for each
 * limit the place that has the last word. Only what bears on that is followed.
 *
 * The order of a kustomization's transformers is kustomize's own: strategic merge patches, patches, namespace, prefix and
 * suffix, JSON patches (builtin transformers of api/internal/target/kusttarget_configplugin.go).
 */
import { isMap, isSeq } from 'yaml';
import {
  describe,
  type Leaf,
  leavesOf,
  type ManifestDocument,
  nodeAt,
  partsOf,
  type Pointer,
  type QuotaObject,
  quotasIn,
  textAt,
} from '../yaml/documents.ts';
import {
  type BrokenKustomization,
  isRemote,
  type Kustomization,
  kustomizationFileIn,
  type PatchEntry,
  patchFields,
  type PatchTarget,
  readKustomization,
} from './kustomization.ts';
import { pathFrom } from './paths.ts';
import { documentKey, type InlinePlace, type SourceNote, type ValueSite } from './limit-location.ts';
import type { TreeReader } from './tree-reader.ts';

interface ObjectName {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** A patch that was applied to a quota, and that could take another limit. */
export interface AppliedPatch {
  /** The kustomization whose patch it is. */
  readonly owner: string;
  readonly order: number;
  readonly path: string;
  readonly part: number;
  readonly index: number;
  /** spec.hard in the patch. */
  readonly hard: Pointer;
  readonly inline?: InlinePlace;
}

/** A quota as it comes out of a kustomization. */
export interface RenderedQuota {
  readonly object: QuotaObject;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The kustomization that says the namespace; absent where the object does. */
  readonly namespaceBy?: string;
  /** The names it had on the way; patches may use any of them. */
  readonly names: readonly ObjectName[];
  readonly values: ReadonlyMap<string, ValueSite>;
  /** What may change its values unseen. */
  readonly opaque: readonly SourceNote[];
  readonly patches: readonly AppliedPatch[];
  /** The objects and patches that it is made of, see `documentKey`. */
  readonly made: readonly string[];
  /** The kustomizations that it goes through, the innermost first, each with the name it has when that one's patches run. */
  readonly chain: readonly { readonly path: string; readonly as: ObjectName }[];
}

export interface Rendering {
  readonly quotas: readonly RenderedQuota[];
  readonly notes: readonly SourceNote[];
}

/** A quota of a file, before any kustomization. */
function unrendered(object: QuotaObject): RenderedQuota {
  const { path, part, index } = object.document;
  const name = object.name ?? '';
  return {
    object,
    name,
    namespace: object.namespace,
    names: [{ name, namespace: object.namespace }],
    values: new Map(
      (object.hard ?? []).map((leaf) => [
        leaf.key,
        { ...leaf, path, part, index, object: object.pointer, level: 0, order: 0 },
      ]),
    ),
    opaque: object.noMapping === undefined ? [] : [{ path, line: object.line, message: object.noMapping }],
    patches: [],
    made: [documentKey({ ...object.document, pointer: object.pointer })],
    chain: [],
  };
}

export class Renderer {
  readonly #reader: TreeReader;
  readonly #renderings = new Map<string, Rendering>();
  readonly #kustomizations = new Map<string, Kustomization | BrokenKustomization | undefined>();

  constructor(reader: TreeReader) {
    this.#reader = reader;
  }

  kustomization(path: string): Kustomization | BrokenKustomization | undefined {
    if (!this.#kustomizations.has(path)) {
      this.#kustomizations.set(path, readKustomization(this.#reader, path));
    }
    return this.#kustomizations.get(path);
  }

  /** The kustomization files that a kustomization names as resources, bases or components. */
  references(path: string): readonly string[] {
    const kustomization = this.kustomization(path);
    if (kustomization === undefined || !('resources' in kustomization)) {
      return [];
    }
    return [...kustomization.resources, ...kustomization.components].flatMap((resource) => {
      const folder = isRemote(resource) ? undefined : pathFrom(kustomization.folder, resource);
      return folder === undefined ? [] : (kustomizationFileIn(this.#reader, folder) ?? []);
    });
  }

  isReadable(path: string): boolean {
    const kustomization = this.kustomization(path);
    return kustomization !== undefined && 'resources' in kustomization;
  }

  isComponent(path: string): boolean {
    const kustomization = this.kustomization(path);
    return (
      kustomization !== undefined &&
      'resources' in kustomization &&
      textAt(kustomization.document, ['kind']) === 'Component'
    );
  }

  /** The files that a kustomization names as resources or patches. */
  listedFiles(path: string): readonly string[] {
    const kustomization = this.kustomization(path);
    if (kustomization === undefined || !('resources' in kustomization)) {
      return [];
    }
    const resources = kustomization.resources.map((resource) => pathFrom(kustomization.folder, resource));
    const patches = kustomization.patches.map((patch) => patch.path);
    return [...resources, ...patches].filter((file) => file !== undefined && this.#reader.isFile(file)) as string[];
  }

  render(path: string): Rendering {
    return this.#renderings.get(path) ?? this.#renderOnce(path, []);
  }

  #renderOnce(path: string, trail: readonly string[]): Rendering {
    const known = this.#renderings.get(path);
    if (known !== undefined) {
      return known;
    }
    const kustomization = this.kustomization(path);
    if (kustomization === undefined) {
      return { quotas: [], notes: [] };
    }
    if (!('resources' in kustomization)) {
      return { quotas: [], notes: [{ ...kustomization, reason: 'NotYaml' }] };
    }
    if (trail.includes(path)) {
      return {
        quotas: [],
        notes: [{ path, line: 1, reason: 'Unplaceable', message: 'the kustomization includes itself' }],
      };
    }
    const rendering = this.#build(kustomization, [], [...trail, path]);
    this.#renderings.set(path, rendering);
    return rendering;
  }

  /** The resources of a kustomization, and what it does to them and to those that were there before (for a component). */
  #build(kustomization: Kustomization, before: readonly RenderedQuota[], trail: readonly string[]): Rendering {
    const { path } = kustomization;
    const notes: SourceNote[] = [];
    let quotas = [...before];
    for (const resource of kustomization.resources) {
      const part = this.#resource(kustomization, resource, trail);
      quotas.push(...part.quotas);
      notes.push(...part.notes);
    }
    for (const component of kustomization.components) {
      const file = this.#folderFile(kustomization, component);
      const inner = file === undefined ? undefined : this.kustomization(file);
      if (file === undefined || trail.includes(file) || (inner !== undefined && !('resources' in inner))) {
        const said = { path, line: 1, message: `its component ${component} cannot be read` };
        quotas = quotas.map((quota) => ({ ...quota, opaque: [...quota.opaque, said] }));
      } else if (inner !== undefined) {
        const built = this.#build(inner, quotas, [...trail, file]);
        quotas = [...built.quotas];
        notes.push(...built.notes);
      }
    }
    const transformed = transform(this.#reader, kustomization, quotas);
    const isComponent = this.isComponent(path);
    return {
      quotas: transformed.quotas.map((quota, index) => {
        const entry = transformed.before[index];
        return isComponent || entry === undefined ? quota : { ...quota, chain: [...quota.chain, { path, as: entry }] };
      }),
      notes: [...notes, ...transformed.notes],
    };
  }

  #folderFile(kustomization: Kustomization, resource: string): string | undefined {
    const folder = isRemote(resource) ? undefined : pathFrom(kustomization.folder, resource);
    return folder === undefined ? undefined : kustomizationFileIn(this.#reader, folder);
  }

  #resource(kustomization: Kustomization, resource: string, trail: readonly string[]): Rendering {
    const path = isRemote(resource) ? undefined : pathFrom(kustomization.folder, resource);
    if (path === undefined) {
      return { quotas: [], notes: [] };
    }
    if (this.#reader.isFile(path)) {
      return quotasOfFile(this.#reader, path);
    }
    const file = kustomizationFileIn(this.#reader, path);
    return file === undefined ? { quotas: [], notes: [] } : this.#renderOnce(file, trail);
  }
}

/** The quotas that stand in a file. */
export function quotasOfFile(reader: TreeReader, path: string): Rendering {
  const quotas: RenderedQuota[] = [];
  const notes: SourceNote[] = [];
  for (const document of reader.quotaDocuments(path)) {
    if (document.error !== undefined) {
      notes.push({ path, ...document.error, reason: 'NotYaml' });
    }
    quotas.push(...quotasIn(document).flatMap((object) => (object.name === undefined ? [] : [unrendered(object)])));
  }
  return { quotas, notes };
}

interface Transformed extends Rendering {
  /** The name of each quota when this kustomization's patches ran. */
  readonly before: readonly ObjectName[];
}

function transform(reader: TreeReader, kustomization: Kustomization, incoming: readonly RenderedQuota[]): Transformed {
  const notes: SourceNote[] = [];
  let quotas = incoming.map((quota) => ({ quota, before: { name: quota.name, namespace: quota.namespace } }));
  const runPatches = (fields: readonly string[]): void => {
    for (const entry of kustomization.patches.filter(({ field }) => fields.includes(field))) {
      const result = applyEntry(
        reader,
        kustomization,
        entry,
        quotas.map(({ quota }) => quota),
      );
      quotas = quotas.flatMap(({ before }, index) => {
        const quota = result.quotas[index];
        return quota === undefined ? [] : [{ quota, before }];
      });
      notes.push(...result.notes);
    }
  };
  runPatches(['patchesStrategicMerge', 'patches']);
  quotas = quotas.map(({ quota, before }) => ({ quota: renamed(quota, kustomization), before }));
  runPatches(['patchesJson6902']);
  const opaque = kustomization.opaque.map((message) => ({ path: kustomization.path, line: 1, message }));
  return {
    quotas: quotas.map(({ quota }) =>
      opaque.length === 0 ? quota : { ...quota, opaque: [...quota.opaque, ...opaque] },
    ),
    before: quotas.map(({ before }) => before),
    notes,
  };
}

function renamed(quota: RenderedQuota, { path, namespace, prefix, suffix }: Kustomization): RenderedQuota {
  if (namespace === undefined && prefix === '' && suffix === '') {
    return quota;
  }
  const now = { name: `${prefix}${quota.name}${suffix}`, namespace: namespace ?? quota.namespace };
  return {
    ...quota,
    ...now,
    ...(namespace === undefined ? {} : { namespaceBy: path }),
    names: [...quota.names, now],
  };
}

/** The quotas after one entry of a patch field; undefined in the place of one that was deleted. */
function applyEntry(
  reader: TreeReader,
  { path: owner, document: outer }: Kustomization,
  entry: PatchEntry,
  quotas: readonly RenderedQuota[],
): { readonly quotas: readonly (RenderedQuota | undefined)[]; readonly notes: readonly SourceNote[] } {
  const documents = patchDocuments(reader, owner, entry);
  const selected = entry.target === undefined ? undefined : selectorOf(entry.target);
  if (typeof documents === 'string') {
    const note = { path: owner, line: entry.line, message: documents };
    return {
      quotas: quotas.map((quota) =>
        selected?.(quota) === false ? quota : { ...quota, opaque: [...quota.opaque, note] },
      ),
      notes: [],
    };
  }
  const order = patchFields.indexOf(entry.field) * 1_000_000 + entry.index;
  const notes: SourceNote[] = [];
  let current: (RenderedQuota | undefined)[] = [...quotas];
  for (const document of documents) {
    const object = isMap(document.root) ? describe(document, document.root, []) : undefined;
    const patch = { owner, outer, order, entry, document, selected, ...(object === undefined ? {} : { object }) };
    let matched = false;
    current = current.map((quota) => {
      const result = quota === undefined ? undefined : applyDocument(patch, quota);
      matched ||= result !== undefined;
      return result === undefined ? quota : result.quota;
    });
    if (!matched) {
      notes.push(...danglingPatch(patch));
    }
  }
  return { quotas: current, notes };
}

interface PatchDocument {
  readonly owner: string;
  /** The owner's document. */
  readonly outer: ManifestDocument;
  readonly order: number;
  readonly entry: PatchEntry;
  readonly document: ManifestDocument;
  /** The document as a patch of a quota, where it is a mapping. */
  readonly object?: QuotaObject;
  /** By the target of the entry; absent where the patch itself says what it is for. */
  readonly selected: Selector | undefined;
}

/** The documents of a patch, or a phrase about why they cannot be read. */
function patchDocuments(reader: TreeReader, owner: string, entry: PatchEntry): readonly ManifestDocument[] | string {
  let documents: readonly ManifestDocument[];
  if (entry.path !== undefined) {
    if (!reader.isFile(entry.path)) {
      return `has the patch ${entry.path}, which is not there`;
    }
    documents = reader.documents(entry.path);
  } else if (entry.inline !== undefined) {
    documents = partsOf(owner, entry.inline.text).flatMap((part) => part.documents);
  } else {
    return `has a patch that cannot be read, at line ${entry.line}`;
  }
  const broken = documents.find(({ error }) => error !== undefined);
  return broken === undefined
    ? documents.filter(({ root }) => root !== null)
    : `has a patch that cannot be read: ${entry.path ?? `line ${entry.line}`}: ${broken.error?.message ?? ''}`;
}

/** A patch of a quota that nothing here has: its object comes from elsewhere, or the name is wrong. */
function danglingPatch({ object, entry, owner }: PatchDocument): readonly SourceNote[] {
  if (object?.kind !== 'ResourceQuota' || object.name === undefined) {
    return [];
  }
  const line = entry.inline === undefined ? object.line : entry.inline.line;
  return [
    {
      path: entry.path ?? owner,
      line,
      reason: 'Unplaceable',
      message: `this patch of ResourceQuota ${object.name} matches none of the objects that ${owner} names`,
      name: object.name,
      ...(object.namespace === undefined ? {} : { namespace: object.namespace }),
    },
  ];
}

/** Undefined where the patch is not for this quota; a quota that it deletes is undefined inside. */
function applyDocument(
  patch: PatchDocument,
  quota: RenderedQuota,
): { readonly quota: RenderedQuota | undefined } | undefined {
  const { document, object } = patch;
  if (isSeq(document.root)) {
    const selected = patch.selected?.(quota) ?? false;
    return selected === false
      ? undefined
      : { quota: jsonPatched(patch, withDocument(patch, quota), document.root.items.length, selected) };
  }
  if (object === undefined) {
    return undefined;
  }
  const selected = patch.selected === undefined ? isFor(object, quota) : patch.selected(quota);
  if (selected === false || (object.kind !== undefined && object.kind !== 'ResourceQuota')) {
    return undefined;
  }
  if (object.directive === 'delete') {
    return { quota: undefined };
  }
  const note = uncertain(patch, selected, object.directive !== undefined);
  const noted = note === undefined ? quota : { ...quota, opaque: [...quota.opaque, note] };
  return { quota: merged(patch, withDocument(patch, noted), object) };
}

function withDocument(patch: PatchDocument, quota: RenderedQuota): RenderedQuota {
  return { ...quota, made: [...quota.made, documentKey({ ...patch.document, ...inlineField(patch) })] };
}

function inlineField(patch: PatchDocument): { readonly inline?: InlinePlace } {
  const inline = inlineOf(patch);
  return inline === undefined ? {} : { inline };
}

function uncertain(
  { owner, entry }: PatchDocument,
  selected: true | 'perhaps',
  directive: boolean,
): SourceNote | undefined {
  if (selected === 'perhaps') {
    return { path: owner, line: entry.line, message: 'has a patch whose target selects by labels or annotations' };
  }
  return directive ? { path: owner, line: entry.line, message: 'has a patch with $patch' } : undefined;
}

function isFor(patch: QuotaObject, quota: RenderedQuota): boolean {
  return (
    patch.kind === 'ResourceQuota' &&
    quota.names.some(
      ({ name, namespace }) => name === patch.name && (patch.namespace === undefined || patch.namespace === namespace),
    )
  );
}

function merged(patch: PatchDocument, quota: RenderedQuota, object: QuotaObject): RenderedQuota {
  const values = new Map(object.cleared ? [] : quota.values);
  for (const leaf of object.hard ?? []) {
    if (leaf.text === null) {
      values.delete(leaf.key);
    } else {
      values.set(leaf.key, siteOf(patch, leaf, quota.chain.length));
    }
  }
  const { path, part, index } = patch.document;
  const inline = inlineOf(patch);
  const hard: AppliedPatch[] =
    object.hard === undefined
      ? []
      : [
          {
            owner: patch.owner,
            order: patch.order,
            path,
            part,
            index,
            hard: ['spec', 'hard'],
            ...(inline === undefined ? {} : { inline }),
          },
        ];
  return { ...quota, values, patches: [...quota.patches, ...hard] };
}

function inlineOf({ entry, outer }: PatchDocument): InlinePlace | undefined {
  if (entry.inline === undefined) {
    return undefined;
  }
  const { pointer, literal } = entry.inline;
  return { part: outer.part, index: outer.index, pointer, literal };
}

function siteOf(patch: PatchDocument, leaf: Leaf, level: number): ValueSite {
  const { entry, document, owner, order } = patch;
  const inline = inlineOf(patch);
  const line =
    entry.inline === undefined
      ? leaf.line
      : entry.inline.literal
        ? entry.inline.line + leaf.line - 1
        : entry.inline.line;
  return {
    ...leaf,
    line,
    path: document.path,
    part: document.part,
    index: document.index,
    owner,
    level,
    order,
    ...(inline === undefined ? {} : { inline }),
  };
}

function jsonPatched(
  patch: PatchDocument,
  quota: RenderedQuota,
  operations: number,
  selected: true | 'perhaps',
): RenderedQuota {
  let result = quota;
  for (let at = 0; at < operations; at += 1) {
    result = jsonOperation(patch, result, at);
  }
  const note = uncertain(patch, selected, false);
  return note === undefined ? result : { ...result, opaque: [...result.opaque, note] };
}

function jsonOperation(patch: PatchDocument, quota: RenderedQuota, at: number): RenderedQuota {
  const { document, owner, entry } = patch;
  const operation = textAt(document, [at, 'op']);
  const steps = (textAt(document, [at, 'path']) ?? '').split('/').slice(1).map(unescaped);
  const [first, second, key] = steps;
  const about = first === 'spec' ? 'spec' : steps.join('.');
  if (operation === 'test' || (about !== 'spec' && about !== 'metadata.name' && about !== 'metadata.namespace')) {
    return quota;
  }
  const opaque = (message: string): RenderedQuota => ({
    ...quota,
    opaque: [...quota.opaque, { path: owner, line: entry.line, message }],
  });
  if (operation !== 'add' && operation !== 'replace' && operation !== 'remove') {
    return opaque(`has a JSON patch with ${operation ?? 'no operation'} of ${steps.join('/')}`);
  }
  if (first === 'metadata') {
    const text = textAt(document, [at, 'value']);
    if (text === undefined) {
      return opaque(`has a JSON patch of ${about} that cannot be followed`);
    }
    const now = second === 'name' ? { name: text, namespace: quota.namespace } : { name: quota.name, namespace: text };
    return {
      ...quota,
      ...now,
      ...(second === 'namespace' ? { namespaceBy: owner } : {}),
      names: [...quota.names, now],
    };
  }
  if (second !== undefined && second !== 'hard') {
    return quota;
  }
  if (steps.length > 3) {
    return opaque(`has a JSON patch of ${steps.join('/')}`);
  }
  const values = new Map(key === undefined ? [] : quota.values);
  if (operation === 'remove') {
    if (key !== undefined) {
      values.delete(key);
    }
    return { ...quota, values };
  }
  for (const leaf of jsonLeaves(document, at, second, key)) {
    values.set(leaf.key, siteOf(patch, leaf, quota.chain.length));
  }
  return { ...quota, values };
}

/** RFC 6901: `~1` is a slash, `~0` a tilde. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The limits that an operation writes: one, or all of spec.hard. */
function jsonLeaves(
  document: ManifestDocument,
  at: number,
  second: string | undefined,
  key: string | undefined,
): readonly Leaf[] {
  const pointer: Pointer = second === undefined ? [at, 'value', 'hard'] : [at, 'value'];
  const operation = nodeAt(document, [at]);
  if (key === undefined) {
    const map = nodeAt(document, pointer);
    return isMap(map) ? leavesOf(document, map, pointer) : [];
  }
  return isMap(operation)
    ? leavesOf(document, operation, [at]).flatMap((leaf) => (leaf.key === 'value' ? [{ ...leaf, key }] : []))
    : [];
}

/** Whether a patch's target is a quota; `perhaps` where labels or annotations decide that cannot be followed. */
type Selector = (quota: RenderedQuota) => boolean | 'perhaps';

function selectorOf(target: PatchTarget): Selector {
  let matchesName: (text: string) => boolean;
  let matchesNamespace: (text: string) => boolean;
  let matchesKind: boolean;
  try {
    matchesName = matcherOf(target.name);
    matchesNamespace = matcherOf(target.namespace);
    matchesKind =
      matcherOf(target.group)('') && matcherOf(target.version)('v1') && matcherOf(target.kind)('ResourceQuota');
  } catch {
    return () => 'perhaps';
  }
  const byLabels = target.labelSelector !== undefined || target.annotationSelector !== undefined;
  return ({ names }) => {
    const plain =
      matchesKind && names.some(({ name, namespace }) => matchesName(name) && matchesNamespace(namespace ?? ''));
    return plain && byLabels ? 'perhaps' : plain;
  };
}

/**
 * As kustomize does: a regular expression that has to match as a whole; none matches everything.
 *
 * @throws {SyntaxError} for an expression that JavaScript does not read.
 */
function matcherOf(pattern: string | undefined): (text: string) => boolean {
  const expression = pattern === undefined ? undefined : new RegExp(`^(?:${pattern})$`);
  return (text) => expression?.test(text) ?? true;
}
