/**
 * What Argo CD and Flux say about where an object comes from: from the marks that they leave on it to the repository, the
 * folder and the branch that they apply it from.
 */
import { ApiException, type V1ObjectMeta } from '@kubernetes/client-node';
import { z } from 'zod';
import { shownUrl } from '../../domain/quota-resize/pull-request/shown-url.ts';
import { pathFrom } from '../../domain/quota-resize/git/locate/paths.ts';
import { parseRepositoryUrl } from '../forge/github/repository-url.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';

/** A source of Argo CD or Flux. */
export interface Delivery {
  readonly from: 'argocd' | 'flux';
  /** The object that says it, and the mark that leads there. */
  readonly said: string;
  /** Absent where it is no repository of git. */
  readonly url?: string;
  /** As it is written there; absent: the default branch. */
  readonly revision?: string;
  readonly path?: string;
  /** For a folder: the values files that a chart there is installed with, from the root, the weightiest last. */
  readonly valueFiles?: readonly string[];
  /** What it is applied into. */
  readonly namespace?: string;
  /** Why what it applies may differ from the files; a phrase that follows `said`. */
  readonly opaque?: string;
  /** What it is instead of a folder of a repository: "it is the chart x of …". */
  readonly otherwise?: string;
}

/** What an object's marks lead to. */
export interface Deliveries {
  readonly sources: readonly Delivery[];
  /** Marks that lead nowhere, as sentences. */
  readonly notes: readonly string[];
}

const NOTHING: Deliveries = { sources: [], notes: [] };

const TRACKING_ID = 'argocd.argoproj.io/tracking-id';
/** Where a tracking id is not used: by default the first, and the second where an installation is told so. */
const INSTANCE_LABELS = ['app.kubernetes.io/instance', 'argocd.argoproj.io/instance'] as const;
const FLUX = 'kustomize.toolkit.fluxcd.io';

const argoSource = z.object({
  repoURL: z.string().optional(),
  path: z.string().optional(),
  targetRevision: z.string().optional(),
  chart: z.string().optional(),
  ref: z.string().optional(),
  helm: z.looseObject({ valueFiles: z.array(z.string()).optional() }).optional(),
  kustomize: z.looseObject({ namespace: z.string().optional() }).optional(),
});
const application = z.object({
  spec: z.object({
    source: argoSource.optional(),
    sources: z.array(argoSource).optional(),
    destination: z.object({ namespace: z.string().optional() }).optional(),
  }),
});
type ArgoSource = z.infer<typeof argoSource>;

/** What of a source outweighs its files, or is done to them unseen. */
const UNSEEN = {
  helm: ['values', 'valuesObject', 'parameters', 'fileParameters'],
  kustomize: ['namespace', 'namePrefix', 'nameSuffix', 'patches', 'components'],
} as const;

/** Reads the Application that an object belongs to; one request where the object has a mark of Argo CD, else none. */
export async function readArgoCd(
  { kubernetes, argocdNamespace }: { readonly kubernetes: Kubernetes; readonly argocdNamespace: string },
  object: V1ObjectMeta,
): Promise<Deliveries> {
  const mark = argoMark(object);
  if (mark === null) return NOTHING;
  const { namespace, name } = applicationNamed(mark.instance, argocdNamespace);
  const group = { group: 'argoproj.io', version: 'v1alpha1', namespace, name };
  const found = await readCustom(kubernetes, { ...group, plural: 'applications' });
  if (found === 'unknownKind') return NOTHING;
  if (found === null) {
    return { sources: [], notes: [`${mark.said} names the Argo CD Application ${namespace}/${name}, which is gone`] };
  }
  const read = application.safeParse(found);
  if (!read.success) return unreadable('argocd', `Argo CD Application ${namespace}/${name}`);
  const { spec } = read.data;
  const said = `the Argo CD Application ${namespace}/${name} (${mark.said})`;
  const sources = spec.sources ?? (spec.source === undefined ? [] : [spec.source]);
  // A values file overrides what the chart itself says, so a change elsewhere would change nothing.
  const values = sources.flatMap((source) => argoValuesFiles(said, source, sources));
  const into = spec.destination?.namespace;
  const applied = [...values, ...sources.flatMap((source) => argoDeliveries(said, source, sources))].map(
    (delivery) => ({ ...delivery, ...(into ? { namespace: into } : {}) }),
  );
  return { sources: applied, notes: [] };
}

/** What is set in the Application itself and is no file: `sets helm.parameters`. */
function unseenIn(source: ArgoSource): string | undefined {
  return (['helm', 'kustomize'] as const)
    .flatMap((tool) =>
      UNSEEN[tool].filter((field) => !isEmpty(source[tool]?.[field])).map((field) => `${tool}.${field}`),
    )
    .map((field) => `sets ${field}`)[0];
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function argoMark({ name, namespace, labels, annotations }: V1ObjectMeta): { instance: string; said: string } | null {
  const tracking = annotations?.[TRACKING_ID];
  if (tracking !== undefined) {
    const [instance = '', kind, of] = tracking.split(':');
    // A copy of an object has the id of the original, which Argo CD passes over as well.
    if (instance !== '' && kind === '/ResourceQuota' && of === `${namespace}/${name}`) {
      return { instance, said: `annotation ${TRACKING_ID}` };
    }
  }
  for (const label of INSTANCE_LABELS) {
    const instance = labels?.[label];
    if (instance !== undefined && instance !== '') return { instance, said: `label ${label}` };
  }
  return null;
}

/** `<namespace>_<name>` where Applications may be in any namespace; neither part can have an underscore. */
function applicationNamed(instance: string, argocdNamespace: string): { namespace: string; name: string } {
  const [first = '', second] = instance.split('_', 2);
  return second === undefined ? { namespace: argocdNamespace, name: first } : { namespace: first, name: second };
}

function argoDeliveries(said: string, source: ArgoSource, all: readonly ArgoSource[]): readonly Delivery[] {
  const { repoURL: url, path, chart, ref } = source;
  if (chart !== undefined) {
    return [{ from: 'argocd', said, otherwise: `it is the chart ${chart} of ${shownUrl(url ?? '')}` }];
  }
  if (ref !== undefined && path === undefined) return [];
  const files = (source.helm?.valueFiles ?? []).map((file) => ({ file, path: valuesFileOf(source, file, all) }));
  const foreign = files.find((one) => one.path === null);
  const opaque = unseenIn(source) ?? (foreign === undefined ? undefined : `takes values from ${foreign.file}`);
  return [
    {
      ...argoSourceAt(said, source),
      path: path ?? '',
      valueFiles: files.flatMap((one) => one.path ?? []),
      ...(opaque === undefined ? {} : { opaque }),
    },
  ];
}

/** A values file from the root of the source's own repository; null for one that is elsewhere. */
function valuesFileOf(source: ArgoSource, file: string, all: readonly ArgoSource[]): string | null {
  if (file.includes('://')) return null;
  const [, name, rest = ''] = /^\$([^/]+)\/(.*)$/.exec(file) ?? [];
  if (name !== undefined) {
    const named = all.find(({ ref }) => ref === name);
    return named !== undefined && isSameTree(named, source) ? (pathFrom('', rest) ?? null) : null;
  }
  // Beside a chart it is named from its folder, or with a slash from the root.
  return pathFrom(file.startsWith('/') ? '' : (pathFrom('', source.path ?? '') ?? ''), file) ?? null;
}

function isSameTree(one: ArgoSource, other: ArgoSource): boolean {
  const repository = ({ repoURL = '' }: ArgoSource): string => {
    const address = parseRepositoryUrl(repoURL);
    return address === null ? repoURL : `${address.host}/${address.repository}`.toLowerCase();
  };
  return repository(one) === repository(other) && (one.targetRevision || 'HEAD') === (other.targetRevision || 'HEAD');
}

/** The values files of a named source for charts that are elsewhere, `$values/teams/team-a.yaml`, the weightiest first. */
function argoValuesFiles(said: string, source: ArgoSource, all: readonly ArgoSource[]): readonly Delivery[] {
  if (source.ref === undefined) return [];
  const prefix = `$${source.ref}/`;
  return all.flatMap((chart) => {
    const given = (chart.helm?.valueFiles ?? []).filter(
      (file) => file.startsWith(prefix) && (chart.chart !== undefined || valuesFileOf(chart, file, all) === null),
    );
    const opaque = unseenIn(chart);
    return [...new Set(given.toReversed())].map((file) => ({
      ...argoSourceAt(said, source),
      path: file.slice(prefix.length),
      ...(opaque === undefined ? {} : { opaque }),
    }));
  });
}

function argoSourceAt(said: string, { repoURL: url = '', targetRevision: revision }: ArgoSource): Delivery {
  return { from: 'argocd', said, url, ...(revision === undefined ? {} : { revision }) };
}

const kustomization = z.object({
  spec: z.object({
    path: z.string().optional(),
    targetNamespace: z.string().optional(),
    sourceRef: z.object({ kind: z.string(), name: z.string(), namespace: z.string().optional() }),
  }),
});
const gitRepository = z.object({
  spec: z.object({
    url: z.string(),
    ref: z
      .object({
        branch: z.string().optional(),
        tag: z.string().optional(),
        semver: z.string().optional(),
        name: z.string().optional(),
        commit: z.string().optional(),
      })
      .optional(),
  }),
});

/** Reads the Kustomization that an object belongs to and its GitRepository; no request for an object without the labels. */
export async function readFlux(kubernetes: Kubernetes, { labels }: V1ObjectMeta): Promise<Deliveries> {
  const name = labels?.[`${FLUX}/name`];
  const namespace = labels?.[`${FLUX}/namespace`];
  if (!name || !namespace) return NOTHING;
  const gone = (kind: string, where: string): Deliveries => ({
    sources: [],
    notes: [`label ${FLUX}/name leads to the Flux ${kind} ${where}, which is gone`],
  });
  const found = await readCustom(kubernetes, { group: FLUX, version: 'v1', plural: 'kustomizations', namespace, name });
  if (found === 'unknownKind') return NOTHING;
  if (found === null) return gone('Kustomization', `${namespace}/${name}`);
  const read = kustomization.safeParse(found);
  if (!read.success) return unreadable('flux', `Flux Kustomization ${namespace}/${name}`);
  const { path = '', sourceRef, targetNamespace } = read.data.spec;
  const said = `the Flux Kustomization ${namespace}/${name} (label ${FLUX}/name)`;
  const source = `${sourceRef.namespace ?? namespace}/${sourceRef.name}`;
  if (sourceRef.kind !== 'GitRepository') {
    return { sources: [{ from: 'flux', said, otherwise: `it comes from the ${sourceRef.kind} ${source}` }], notes: [] };
  }
  const repository = await readCustom(kubernetes, {
    group: 'source.toolkit.fluxcd.io',
    version: 'v1',
    plural: 'gitrepositories',
    namespace: sourceRef.namespace ?? namespace,
    name: sourceRef.name,
  });
  if (repository === null || repository === 'unknownKind') return gone('GitRepository', source);
  const git = gitRepository.safeParse(repository);
  if (!git.success) return unreadable('flux', `Flux GitRepository ${source}`);
  const { url, ref } = git.data.spec;
  const into = targetNamespace ? { namespace: targetNamespace } : {};
  return { sources: [{ from: 'flux', said, url, path, ...into, ...fluxRevision(ref ?? {}) }], notes: [] };
}

/** An object of another form than any release of the tool has had. */
function unreadable(from: Delivery['from'], object: string): Deliveries {
  return {
    sources: [{ from, said: `the ${object}`, otherwise: 'it says in no known form where it applies from' }],
    notes: [],
  };
}

type FluxReference = NonNullable<z.infer<typeof gitRepository>['spec']['ref']>;

/** In Flux's own order of precedence; without any it is the branch `master`. */
function fluxRevision({ commit, name, semver, tag, branch }: FluxReference): { revision: string } {
  if (commit !== undefined) return { revision: commit };
  if (name !== undefined) return { revision: name };
  if (semver !== undefined) return { revision: `refs/tags/${semver}` };
  if (tag !== undefined) return { revision: `refs/tags/${tag}` };
  return { revision: branch ?? 'master' };
}

/** The object; null where it is gone, 'unknownKind' where the cluster has no such kind. */
async function readCustom(
  { custom }: Kubernetes,
  request: Parameters<Kubernetes['custom']['getNamespacedCustomObject']>[0],
): Promise<unknown> {
  try {
    return (await custom.getNamespacedCustomObject(request)) as unknown;
  } catch (error) {
    if (!(error instanceof ApiException) || error.code !== 404) throw error;
    // Of an object the API server says which one is missing; of a kind it has never heard it says just "not found".
    return String(error.body).includes(`"name":${JSON.stringify(request.name)}`) ? null : 'unknownKind';
  }
}
