/** Reads the parts of a kustomization.yaml that can affect a ResourceQuota. */
import { isMap, isScalar, isSeq, Scalar } from 'yaml';
import { type ManifestDocument, nodeAt, type Pointer, textAt } from '../../yaml/documents.ts';
import type { SourceProblem } from '../../../model/observation.ts';
import { folderOf, kustomizationNames, pathFrom } from '../tree/paths.ts';
import { problemOf } from '../tree/unread.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** The three fields for patches, in the order in which kustomize applies them. */
export const patchFields = ['patchesStrategicMerge', 'patches', 'patchesJson6902'] as const;

type PatchField = (typeof patchFields)[number];

/** Selects the objects of a patch; each text is a regular expression that must match completely. */
export interface PatchTarget {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly annotationSelector?: string;
}

export interface PatchEntry {
  readonly field: PatchField;
  readonly index: number;
  /** 1-based line of the entry. */
  readonly line: number;
  /** The patch's file, relative to the root of the repository. */
  readonly path?: string;
  readonly inline?: InlinePatch;
  readonly target?: PatchTarget;
}

/** A patch inside the kustomization file itself. */
interface InlinePatch {
  readonly text: string;
  readonly pointer: Pointer;
  /** The line of the patch's first line. */
  readonly line: number;
  /** Whether the patch is a literal block (`|`), so that its lines are lines of the file. */
  readonly literal: boolean;
}

export interface Kustomization {
  readonly path: string;
  readonly folder: string;
  readonly document: ManifestDocument;
  readonly namespace?: string;
  readonly prefix: string;
  readonly suffix: string;
  /** As written: files, folders or URLs, including `bases`. */
  readonly resources: readonly string[];
  readonly components: readonly string[];
  readonly patches: readonly PatchEntry[];
  /** Why the effect on a quota cannot be determined; each a phrase that follows the file's name. */
  readonly opaque: readonly string[];
}

/** A kustomization file with an error. */
export interface BrokenKustomization {
  readonly path: string;
  readonly line: number;
  readonly message: string;
  readonly reason: SourceProblem;
}

/** The kustomization file of a folder, if there is one. */
export function kustomizationFileIn(reader: TreeReader, folder: string): string | undefined {
  const prefix = folder === '' ? '' : `${folder}/`;
  return kustomizationNames.map((name) => `${prefix}${name}`).find((path) => reader.isFile(path));
}

/** Whether a resource is remote: `https://…`, `git@…`, `github.com/acme/base?ref=v1`. */
export function isRemote(resource: string): boolean {
  return (
    /^[a-z+]+:\/\//i.test(resource) ||
    /^[\w.-]+@[\w.-]+:/.test(resource) ||
    /^(?:git::|github\.com[/:])/.test(resource) ||
    resource.includes('?ref=')
  );
}

/**
 * Reads a kustomization file. Undefined when its text was not read yet, or when the file is something else, such as
 * Flux's Kustomization object.
 */
export function readKustomization(reader: TreeReader, path: string): Kustomization | BrokenKustomization | undefined {
  const text = reader.text(path);
  if (text === undefined) {
    return undefined;
  }
  if (text === null) {
    const unread = reader.whyUnread(path);
    return unread === undefined
      ? { path, line: 1, message: 'not UTF-8, so not YAML', reason: 'NotYaml' }
      : { path, line: 1, message: unread.message, reason: problemOf(unread) };
  }
  const documents = reader.documents(path).filter(({ root, error }) => error !== undefined || isMap(root));
  const [document] = documents;
  if (document === undefined) {
    return { path, line: 1, message: 'the kustomization is empty', reason: 'NotYaml' };
  }
  if (document.error !== undefined) {
    return { path, ...document.error, reason: 'NotYaml' };
  }
  if ((textAt(document, ['apiVersion']) ?? '').startsWith('kustomize.toolkit.fluxcd.io/')) {
    return undefined;
  }
  if (documents.length > 1) {
    const line = documents[1]?.lineOf(documents[1].root) ?? 1;
    return { path, line, message: 'a kustomization is one document', reason: 'NotYaml' };
  }
  return kustomizationOf(reader, path, document);
}

function kustomizationOf(reader: TreeReader, path: string, document: ManifestDocument): Kustomization {
  const folder = folderOf(path);
  const namespace = textAt(document, ['namespace']);
  return {
    path,
    folder,
    document,
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    prefix: textAt(document, ['namePrefix']) ?? '',
    suffix: textAt(document, ['nameSuffix']) ?? '',
    resources: [...textsAt(document, 'resources'), ...textsAt(document, 'bases')],
    components: textsAt(document, 'components'),
    patches: patchFields.flatMap((field) => patchesAt(document, folder, field)),
    opaque: [...opaqueTransformers(reader, folder, document), ...replacementsOf(reader, folder, document)],
  };
}

function textsAt(document: ManifestDocument, field: string): readonly string[] {
  return itemsAt(document, [field]).flatMap((_item, index) => textAt(document, [field, index]) ?? []);
}

function itemsAt(document: ManifestDocument, pointer: Pointer, from?: unknown): readonly unknown[] {
  const node = nodeAt(document, pointer, from ?? document.root);
  return isSeq(node) ? node.items : [];
}

function patchesAt(document: ManifestDocument, folder: string, field: PatchField): readonly PatchEntry[] {
  return itemsAt(document, [field]).flatMap((item, index): readonly PatchEntry[] => {
    const entry = { field, index, line: document.lineOf(item) };
    const text = textAt(document, [field, index]);
    if (text !== undefined) {
      // patchesStrategicMerge takes a path or the patch itself.
      return [
        text.includes('\n')
          ? { ...entry, ...inlineAt(document, [field, index]) }
          : { ...entry, ...patchFile(folder, text) },
      ];
    }
    const path = textAt(document, [field, index, 'path']);
    const target = targetAt(document, [field, index, 'target']);
    return [
      {
        ...entry,
        ...(path === undefined || path === '' ? inlineAt(document, [field, index, 'patch']) : patchFile(folder, path)),
        ...(target === undefined ? {} : { target }),
      },
    ];
  });
}

function patchFile(folder: string, relative: string): { readonly path?: string } {
  const path = pathFrom(folder, relative);
  return path === undefined ? {} : { path };
}

function inlineAt(document: ManifestDocument, pointer: Pointer): { readonly inline?: InlinePatch } {
  const node = nodeAt(document, pointer);
  if (!isScalar(node) || typeof node.value !== 'string') {
    return {};
  }
  const literal = node.type === Scalar.BLOCK_LITERAL;
  return { inline: { text: node.value, pointer, line: document.lineOf(node) + (literal ? 1 : 0), literal } };
}

const TARGET_FIELDS = ['group', 'version', 'kind', 'name', 'namespace', 'labelSelector', 'annotationSelector'] as const;

function targetAt(document: ManifestDocument, pointer: Pointer): PatchTarget | undefined {
  if (!isMap(nodeAt(document, pointer))) {
    return undefined;
  }
  return Object.fromEntries(
    TARGET_FIELDS.flatMap((field) => {
      const text = textAt(document, [...pointer, field]);
      return text === undefined || text === '' ? [] : [[field, text]];
    }),
  );
}

/** Builtin transformers that do not change a quota's name, namespace or limits. */
const HARMLESS = new Set([
  'LabelTransformer',
  'AnnotationsTransformer',
  'ImageTagTransformer',
  'ReplicaCountTransformer',
]);

function opaqueTransformers(reader: TreeReader, folder: string, document: ManifestDocument): readonly string[] {
  return textsAt(document, 'transformers').flatMap((resource) => {
    const path = pathFrom(folder, resource);
    if (path !== undefined && reader.isFile(path)) {
      const documents = reader.documents(path).filter(({ root }) => isMap(root));
      const found = documents.length > 0 || reader.text(path) === undefined;
      if (found && documents.every((document) => HARMLESS.has(textAt(document, ['kind']) ?? ''))) {
        return [];
      }
    }
    return [`has the transformer ${resource}, which may change any value`];
  });
}

/** `replacements` that write a value into quotas, rename a quota, or copy a limit to somewhere else. */
function replacementsOf(reader: TreeReader, folder: string, document: ManifestDocument): readonly string[] {
  const copies = (from: ManifestDocument, pointer: Pointer): boolean => {
    const kind = textAt(from, [...pointer, 'source', 'kind']);
    const field = textAt(from, [...pointer, 'source', 'fieldPath']) ?? '';
    return (kind === undefined || kind === 'ResourceQuota') && /^spec(?:\.hard|$)/.test(field);
  };
  const touches = (from: ManifestDocument, pointer: Pointer): boolean =>
    copies(from, pointer) ||
    itemsAt(from, [...pointer, 'targets']).some((_target, index) => {
      const target = [...pointer, 'targets', index];
      const kind = textAt(from, [...target, 'select', 'kind']);
      const fields = itemsAt(from, [...target, 'fieldPaths']).map(
        (_field, at) => textAt(from, [...target, 'fieldPaths', at]) ?? '',
      );
      return (
        (kind === undefined || kind === 'ResourceQuota') &&
        (fields.length === 0 || fields.some((field) => /^(?:spec(?:\.hard|$)|metadata\.name)/.test(field)))
      );
    });
  const isVariable = itemsAt(document, ['vars']).some(
    (_item, index) => textAt(document, ['vars', index, 'objref', 'kind']) === 'ResourceQuota',
  );
  const found =
    isVariable ||
    itemsAt(document, ['replacements']).some((_item, index) => {
      const relative = textAt(document, ['replacements', index, 'path']);
      const path = relative === undefined ? undefined : pathFrom(folder, relative);
      if (path === undefined || !reader.isFile(path)) {
        return touches(document, ['replacements', index]);
      }
      return reader
        .documents(path)
        .some((other) =>
          isSeq(other.root) ? other.root.items.some((_one, at) => touches(other, [at])) : touches(other, []),
        );
    });
  return found ? ['has replacements that write into ResourceQuotas, or copy from them'] : [];
}
