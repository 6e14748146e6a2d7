/** Which folders the Argo CD and Flux objects in the tree apply, and into which namespaces. */
import { isMap } from 'yaml';
import { type ManifestDocument, nodeAt, type Pointer, textAt } from '../../yaml/documents.ts';
import { plainValue } from '../../yaml/value.ts';
import { isManifestFile, pathFrom } from '../tree/paths.ts';
import type { TreeReader } from '../tree/tree-reader.ts';
import { type ArgoOverride, type ArgoSource, overridesIn, readApplication, valuesFileOf } from './argo-application.ts';
import { patchesKind, readKustomization } from './flux-kustomization.ts';
import { readHelmRelease } from './helm-release.ts';

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
  /** Whether it applies the files of the folders in the folder, too, if no kustomization says what is applied. */
  readonly recurses: boolean;
  /** What tells the repository and the branch that it applies; absent where nothing is known of them. */
  readonly from?: string;
  /** Why the applied objects may differ from the files; a phrase that follows `learntFrom`. */
  readonly opaque?: string;
  /** For a chart: values files besides its own values.yaml; a later file overrides an earlier one. */
  readonly valueFiles: readonly string[];
  /** For a chart: values inside the object itself, which override every file. */
  readonly values?: { readonly document: ManifestDocument; readonly pointer: Pointer };
  /** For a chart: the name of the release. */
  readonly release?: string;
  /** Whether this is one delivery of possibly several that are not known. */
  readonly isOneOfMany?: boolean;
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
    return argoDeliveries(reader, document);
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

function folderIn(reader: TreeReader, path: string | undefined): string | undefined {
  const folder = path === undefined ? undefined : pathFrom('', path);
  return folder !== undefined && reader.isFolder(folder) ? folder : undefined;
}

function argoDeliveries(reader: TreeReader, document: ManifestDocument): readonly Delivery[] {
  const application = readApplication(plainValue(document.syntax).value);
  if (application === null) {
    return [];
  }
  const { sources, listed, namespace } = application;
  return sources.flatMap((source, index) =>
    argoDelivery(reader, document, {
      source,
      pointer: listed ? ['spec', 'sources', index] : ['spec', 'source'],
      ...(namespace === undefined ? {} : { namespace }),
    }),
  );
}

/** Overrides that a delivery has: its namespace, and the object that its values are in. */
const READ_OVERRIDES: ReadonlySet<ArgoOverride> = new Set(['helm.valuesObject', 'kustomize.namespace']);

function argoDelivery(
  reader: TreeReader,
  document: ManifestDocument,
  applied: { readonly source: ArgoSource; readonly pointer: Pointer; readonly namespace?: string },
): readonly Delivery[] {
  const { source, pointer } = applied;
  const folder = folderIn(reader, source.path);
  if (folder === undefined) {
    return [];
  }
  const forced = source.kustomize?.namespace;
  const namespace = forced ?? applied.namespace;
  const unread = overridesIn(source).find((override) => !READ_OVERRIDES.has(override));
  const base = common(document, 'Application');
  return [
    {
      ...base,
      folder,
      ...(namespace === undefined ? {} : { namespace }),
      overrides: forced !== undefined,
      recurses: source.directory?.recurse === true,
      from: JSON.stringify([repositoryKey(source.repoURL), source.targetRevision || 'HEAD']),
      ...(unread === undefined ? {} : { opaque: `sets ${unread}` }),
      valueFiles: (source.helm?.valueFiles ?? []).flatMap((file) => valuesFileOf(source, file, () => true) ?? []),
      ...valuesIn(document, [...pointer, 'helm', 'valuesObject']),
      release: source.helm?.releaseName ?? base.release,
    },
  ];
}

/** The same text for the spellings of one address. */
function repositoryKey(url = ''): string {
  return url
    .toLowerCase()
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}

/** What tells deliveries of one source from those of another one. */
export function sourceKey({ document, from = '' }: Delivery): string {
  return `${document === undefined ? '' : (textAt(document, ['kind']) ?? '')} ${from}`;
}

/** Whether two deliveries of a tree may apply the same files: those of one tool say where their files are from. */
export function mayBeOfOneTree(one: Delivery, other: Delivery): boolean {
  const kindOf = ({ document }: Delivery) => (document === undefined ? undefined : textAt(document, ['kind']));
  return one.from === undefined || other.from === undefined || one.from === other.from || kindOf(one) !== kindOf(other);
}

function valuesIn(document: ManifestDocument, pointer: Pointer): Pick<Delivery, 'values'> {
  return isMap(nodeAt(document, pointer)) ? { values: { document, pointer } } : {};
}

function fluxKustomization(reader: TreeReader, document: ManifestDocument): readonly Delivery[] {
  const kustomization = readKustomization(plainValue(document.syntax).value);
  const folder = folderIn(reader, kustomization?.path);
  if (kustomization === null || folder === undefined) {
    return [];
  }
  const { namespace } = kustomization;
  return [
    {
      ...common(document, 'Kustomization'),
      folder,
      ...(namespace === undefined ? {} : { namespace }),
      overrides: namespace !== undefined,
      recurses: true,
      ...(kustomization.sourceRef === undefined ? {} : { from: JSON.stringify(kustomization.sourceRef) }),
      ...(patchesKind(kustomization, 'ResourceQuota') ? { opaque: 'patches ResourceQuotas' } : {}),
      valueFiles: [],
    },
  ];
}

function fluxRelease(reader: TreeReader, document: ManifestDocument): readonly Delivery[] {
  const release = readHelmRelease(plainValue(document.syntax).value);
  const folder = folderIn(reader, release?.chart?.path);
  if (release === null || folder === undefined) {
    return [];
  }
  const { namespace, releaseName, chart, hasValuesFrom } = release;
  const base = common(document, 'HelmRelease');
  return [
    {
      ...base,
      folder,
      ...(namespace === undefined ? {} : { namespace }),
      overrides: false,
      recurses: false,
      ...(hasValuesFrom ? { opaque: 'takes valuesFrom' } : {}),
      valueFiles: (chart?.valueFiles ?? []).flatMap((file) => pathFrom('', file) ?? []),
      ...valuesIn(document, ['spec', 'values']),
      release: releaseName ?? base.release,
    },
  ];
}
