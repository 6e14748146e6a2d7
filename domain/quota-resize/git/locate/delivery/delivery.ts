/** Which folders the Argo CD and Flux objects in the tree apply, and into which namespaces. */
import { isMap, isSeq } from 'yaml';
import { type ManifestDocument, nodeAt, type Pointer, textAt } from '../../yaml/documents.ts';
import { isManifestFile, pathFrom } from '../tree/paths.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

export interface Delivery {
  /** A description of the object for people: `Application team-a in apps/team-a.yaml`. */
  readonly learntFrom: string;
  readonly path: string;
  readonly line: number;
  /** The document that contains the object; absent when the object was not read from the tree. */
  readonly document?: ManifestDocument;
  /** The applied folder, relative to the root of the repository. */
  readonly folder: string;
  readonly namespace?: string;
  /** Whether the namespace also replaces the namespace that an object names itself. */
  readonly overrides: boolean;
  /** Why the applied objects may differ from the files; a phrase that follows `learntFrom`. */
  readonly opaque?: string;
  /** For a chart: values files besides its own values.yaml; a later file overrides an earlier one. */
  readonly valueFiles: readonly string[];
  /** For a chart: values inside the object itself, which override every file. */
  readonly values?: { readonly document: ManifestDocument; readonly pointer: Pointer };
  /** For a chart: the name of the release. */
  readonly release?: string;
  /** Whether this is one delivery of possibly several that are not known. */
  readonly one?: boolean;
}

const GROUPS = ['argoproj.io/', 'kustomize.toolkit.fluxcd.io/', 'helm.toolkit.fluxcd.io/'];

export function mentionsDelivery(text: string): boolean {
  return GROUPS.some((group) => text.includes(group));
}

/** The deliveries that objects in the files declare. */
export function deliveriesIn(reader: TreeReader, files: Iterable<string>): readonly Delivery[] {
  const found: Delivery[] = [];
  for (const path of files) {
    const text = isManifestFile(path) ? reader.text(path) : undefined;
    if (text !== undefined && text !== null && mentionsDelivery(text)) {
      for (const part of reader.parts(path)) {
        if (mentionsDelivery(part.text)) {
          found.push(...part.documents.flatMap((document) => deliveriesOf(reader, document)));
        }
      }
    }
  }
  return found;
}

function deliveriesOf(reader: TreeReader, document: ManifestDocument): readonly Delivery[] {
  if (document.error !== undefined) {
    return [];
  }
  const apiVersion = textAt(document, ['apiVersion']) ?? '';
  const kind = textAt(document, ['kind']);
  if (apiVersion.startsWith('argoproj.io/') && kind === 'Application') {
    const sources = nodeAt(document, ['spec', 'sources']);
    const pointers: Pointer[] = isSeq(sources)
      ? sources.items.map((_source, index) => ['spec', 'sources', index])
      : [['spec', 'source']];
    return pointers.flatMap((source) => argoSource(reader, document, source));
  }
  if (apiVersion.startsWith('kustomize.toolkit.fluxcd.io/') && kind === 'Kustomization') {
    return fluxKustomization(reader, document);
  }
  return apiVersion.startsWith('helm.toolkit.fluxcd.io/') && kind === 'HelmRelease'
    ? fluxRelease(reader, document)
    : [];
}

function common(document: ManifestDocument, kind: string) {
  const name = textAt(document, ['metadata', 'name']) ?? '?';
  return {
    learntFrom: `${kind} ${name} in ${document.path}`,
    path: document.path,
    line: document.lineOf(document.root),
    document,
    release: name,
  };
}

function folderAt(reader: TreeReader, document: ManifestDocument, pointer: Pointer): string | undefined {
  const path = textAt(document, pointer);
  const folder = path === undefined ? undefined : pathFrom('', path);
  return folder !== undefined && reader.isFolder(folder) ? folder : undefined;
}

function argoSource(reader: TreeReader, document: ManifestDocument, source: Pointer): readonly Delivery[] {
  const folder = folderAt(reader, document, [...source, 'path']);
  if (folder === undefined) {
    return [];
  }
  const forced = textAt(document, [...source, 'kustomize', 'namespace']);
  const namespace = forced ?? textAt(document, ['spec', 'destination', 'namespace']);
  const changed = ['namePrefix', 'nameSuffix', 'patches', 'components'].find(
    (field) => nodeAt(document, [...source, 'kustomize', field]) !== undefined,
  );
  const helm: Pointer = [...source, 'helm'];
  const files = nodeAt(document, [...helm, 'valueFiles']);
  const release = textAt(document, [...helm, 'releaseName']);
  const hidden = ['values', 'parameters', 'fileParameters'].find(
    (field) => nodeAt(document, [...helm, field]) !== undefined,
  );
  const base = common(document, 'Application');
  return [
    {
      ...base,
      folder,
      ...(namespace === undefined ? {} : { namespace }),
      overrides: forced !== undefined,
      ...(changed === undefined && hidden === undefined
        ? {}
        : { opaque: changed === undefined ? `sets helm.${hidden}` : `sets kustomize.${changed}` }),
      valueFiles: isSeq(files)
        ? files.items.flatMap((_file, index) => valueFile(folder, textAt(document, [...helm, 'valueFiles', index])))
        : [],
      ...valuesIn(document, [...helm, 'valuesObject']),
      release: release ?? base.release,
    },
  ];
}

/**
 * A values file as Argo CD resolves it: relative to the chart's folder, to the root with a leading slash, or to a named
 * source.
 */
function valueFile(folder: string, file: string | undefined): readonly string[] {
  if (file === undefined || /^[a-z]+:\/\//i.test(file)) {
    return [];
  }
  const named = /^\$[\w-]+\/(.*)$/.exec(file);
  const path = named === null ? pathFrom(file.startsWith('/') ? '' : folder, file) : pathFrom('', named[1] ?? '');
  return path === undefined ? [] : [path];
}

function valuesIn(document: ManifestDocument, pointer: Pointer): Pick<Delivery, 'values'> {
  return isMap(nodeAt(document, pointer)) ? { values: { document, pointer } } : {};
}

function fluxKustomization(reader: TreeReader, document: ManifestDocument): readonly Delivery[] {
  const folder = folderAt(reader, document, ['spec', 'path']);
  if (folder === undefined) {
    return [];
  }
  const namespace = textAt(document, ['spec', 'targetNamespace']);
  const patches = nodeAt(document, ['spec', 'patches']);
  const touched = isSeq(patches)
    ? patches.items.some((_patch, index) => {
        const kind = textAt(document, ['spec', 'patches', index, 'target', 'kind']);
        const text = textAt(document, ['spec', 'patches', index, 'patch']) ?? '';
        return kind === 'ResourceQuota' || (kind === undefined && text.includes('ResourceQuota'));
      })
    : false;
  return [
    {
      ...common(document, 'Kustomization'),
      folder,
      ...(namespace === undefined ? {} : { namespace }),
      overrides: namespace !== undefined,
      ...(touched ? { opaque: 'patches ResourceQuotas' } : {}),
      valueFiles: [],
    },
  ];
}

function fluxRelease(reader: TreeReader, document: ManifestDocument): readonly Delivery[] {
  const chart: Pointer = ['spec', 'chart', 'spec'];
  const folder = folderAt(reader, document, [...chart, 'chart']);
  if (folder === undefined) {
    return [];
  }
  const namespace = textAt(document, ['spec', 'targetNamespace']) ?? textAt(document, ['metadata', 'namespace']);
  const release = textAt(document, ['spec', 'releaseName']);
  const base = common(document, 'HelmRelease');
  const files = nodeAt(document, [...chart, 'valuesFiles']);
  return [
    {
      ...base,
      folder,
      ...(namespace === undefined ? {} : { namespace }),
      overrides: false,
      ...(nodeAt(document, ['spec', 'valuesFrom']) === undefined ? {} : { opaque: 'takes valuesFrom' }),
      valueFiles: isSeq(files)
        ? files.items.flatMap((_file, index) => valueFile('', textAt(document, [...chart, 'valuesFiles', index])))
        : [],
      ...valuesIn(document, ['spec', 'values']),
      release: release ?? base.release,
    },
  ];
}
