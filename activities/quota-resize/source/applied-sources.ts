/**
 * Finds out from Argo CD and Flux where an object comes from: follows their labels and annotations to the repository,
 * folder and branch.
 */
import { ApiException, type V1ObjectMeta } from '@kubernetes/client-node';
import {
  type AppliedSource,
  argoSources,
  fluxSource,
} from '../../../domain/quota-resize/git/locate/delivery/applied-source.ts';
import type { Repositories } from '../../forge/repositories.ts';
import { readApplication } from '../../../domain/quota-resize/git/locate/delivery/argo-application.ts';
import { readKustomization } from '../../../domain/quota-resize/git/locate/delivery/flux-kustomization.ts';
import { readHelmRelease } from '../../../domain/quota-resize/git/locate/delivery/helm-release.ts';
import { helmReleaseSource } from '../../../domain/quota-resize/git/locate/delivery/helm-release-source.ts';
import {
  type DeliveryNamespaces,
  readsDeliveriesOf,
} from '../../../domain/quota-resize/settings/delivery-namespaces.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { readGitReference } from './git-reference.ts';

/** The sources that an object's labels and annotations lead to. */
export interface Deliveries {
  readonly sources: readonly AppliedSource[];
  /** Labels and annotations that lead nowhere, as sentences. */
  readonly notes: readonly string[];
}

interface DeliveryOptions {
  readonly kubernetes: Kubernetes;
  readonly repositories: Pick<Repositories, 'addressOf'>;
  readonly deliveryNamespaces: DeliveryNamespaces;
}

const NOTHING: Deliveries = { sources: [], notes: [] };

const TRACKING_ID = 'argocd.argoproj.io/tracking-id';
/** The labels used without a tracking id: the first is Argo CD's default, the second a common configuration. */
const INSTANCE_LABELS = ['app.kubernetes.io/instance', 'argocd.argoproj.io/instance'] as const;
const FLUX = 'kustomize.toolkit.fluxcd.io';
const FLUX_HELM = 'helm.toolkit.fluxcd.io';

/**
 * Reads the Application of an object; one request if the object has a tracking annotation or label of Argo CD,
 * otherwise none.
 */
export async function readArgoCd(
  { repositories, ...cluster }: DeliveryOptions,
  object: V1ObjectMeta,
): Promise<Deliveries> {
  const mark = argoMark(object);
  if (mark === null) return NOTHING;
  const { namespace, name } = applicationNamed(mark.instance, cluster.deliveryNamespaces.argocd);
  const group = { group: 'argoproj.io', version: 'v1alpha1', namespace, name };
  const found = await readCustom(cluster, { ...group, plural: 'applications' });
  if (found === 'unknownKind') return NOTHING;
  if (found === 'notRead') return elsewhere(mark.learntFrom, `Argo CD Application ${namespace}/${name}`);
  if (found === null) {
    return {
      sources: [],
      notes: [`${mark.learntFrom} names the Argo CD Application ${namespace}/${name}, which is gone`],
    };
  }
  const learntFrom = `the Argo CD Application ${namespace}/${name} (${mark.learntFrom})`;
  const application = readApplication(found);
  return application === null
    ? unreadable('argocd', `Argo CD Application ${namespace}/${name}`)
    : { sources: argoSources(learntFrom, application, sameRepository(repositories)), notes: [] };
}

/** URLs of one repository may differ in protocol, case and `.git`. */
function sameRepository({ addressOf }: DeliveryOptions['repositories']): (url: string) => string {
  return (url) => {
    const address = addressOf(url);
    return address === null ? url : `${address.host}/${address.repository}`.toLowerCase();
  };
}

function argoMark({
  name,
  namespace,
  labels,
  annotations,
}: V1ObjectMeta): { instance: string; learntFrom: string } | null {
  const tracking = annotations?.[TRACKING_ID];
  if (tracking !== undefined) {
    const [instance = '', kind, of] = tracking.split(':');
    // A copy of an object has the tracking id of the original, which Argo CD ignores too.
    if (instance !== '' && kind === '/ResourceQuota' && of === `${namespace}/${name}`) {
      return { instance, learntFrom: `annotation ${TRACKING_ID}` };
    }
  }
  for (const label of INSTANCE_LABELS) {
    const instance = labels?.[label];
    if (instance !== undefined && instance !== '') return { instance, learntFrom: `label ${label}` };
  }
  return null;
}

/** `<namespace>_<name>` where Applications may be in any namespace; neither part can contain an underscore. */
function applicationNamed(instance: string, argocdNamespace: string): { namespace: string; name: string } {
  const [first = '', second] = instance.split('_', 2);
  return second === undefined ? { namespace: argocdNamespace, name: first } : { namespace: first, name: second };
}

/** Reads the Kustomization of an object and its GitRepository; no request for an object without the labels. */
export async function readFlux(
  cluster: Cluster,
  { labels }: V1ObjectMeta,
  kind: 'ResourceQuota' | 'HelmRelease' = 'ResourceQuota',
): Promise<Deliveries> {
  const name = labels?.[`${FLUX}/name`];
  const namespace = labels?.[`${FLUX}/namespace`];
  if (!name || !namespace) return NOTHING;
  const gone = (kind: string, where: string): Deliveries => ({
    sources: [],
    notes: [`label ${FLUX}/name leads to the Flux ${kind} ${where}, which is gone`],
  });
  const found = await readCustom(cluster, { group: FLUX, version: 'v1', plural: 'kustomizations', namespace, name });
  if (found === 'unknownKind') return NOTHING;
  if (found === 'notRead') return elsewhere(`label ${FLUX}/name`, `Flux Kustomization ${namespace}/${name}`);
  if (found === null) return gone('Kustomization', `${namespace}/${name}`);
  const kustomization = readKustomization(found);
  const sourceRef = kustomization?.sourceRef;
  if (kustomization === null || sourceRef === undefined) {
    return unreadable('flux', `Flux Kustomization ${namespace}/${name}`);
  }
  const learntFrom = `the Flux Kustomization ${namespace}/${name} (label ${FLUX}/name)`;
  const source = `${sourceRef.namespace ?? namespace}/${sourceRef.name}`;
  if (sourceRef.kind !== 'GitRepository') {
    return {
      sources: [{ from: 'flux', learntFrom, otherwise: `it comes from the ${sourceRef.kind} ${source}` }],
      notes: [],
    };
  }
  const git = await readGitRepository(cluster, {
    namespace: sourceRef.namespace ?? namespace,
    name: sourceRef.name,
  });
  if (git === 'notRead') return elsewhere(`label ${FLUX}/name`, `Flux GitRepository ${source}`);
  if (git === 'gone') return gone('GitRepository', source);
  if (git === 'unreadable') return unreadable('flux', `Flux GitRepository ${source}`);
  return { sources: [{ ...fluxSource(learntFrom, kustomization, kind), ...git }], notes: [] };
}

async function readGitRepository(
  cluster: Cluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<{ readonly url: string; readonly revision: string } | 'gone' | 'unreadable' | 'notRead'> {
  const kind = { group: 'source.toolkit.fluxcd.io', version: 'v1', plural: 'gitrepositories' };
  const repository = await readCustom(cluster, { ...kind, namespace, name });
  if (repository === 'notRead') return repository;
  if (repository === null || repository === 'unknownKind') return 'gone';
  return readGitReference(repository) ?? 'unreadable';
}

/**
 * Reads the HelmRelease of an object, what the HelmRelease itself is applied from, and the repository of its chart; no
 * request for an object without the labels.
 */
export async function readFluxHelm(
  { repositories, ...cluster }: DeliveryOptions,
  { labels }: V1ObjectMeta,
): Promise<Deliveries> {
  const name = labels?.[`${FLUX_HELM}/name`];
  const namespace = labels?.[`${FLUX_HELM}/namespace`];
  if (!name || !namespace) return NOTHING;
  const label = `label ${FLUX_HELM}/name`;
  const object = await readCustom(cluster, {
    group: FLUX_HELM,
    version: 'v2',
    plural: 'helmreleases',
    namespace,
    name,
  });
  if (object === 'unknownKind') return NOTHING;
  if (object === 'notRead') return elsewhere(label, `Flux HelmRelease ${namespace}/${name}`);
  if (object === null) {
    return { sources: [], notes: [`${label} leads to the Flux HelmRelease ${namespace}/${name}, which is gone`] };
  }
  const learntFrom = `the Flux HelmRelease ${namespace}/${name} (${label})`;
  const release = readHelmRelease(object);
  if (release === null) return unreadable('flux', `Flux HelmRelease ${namespace}/${name}`);
  const { metadata } = object as { readonly metadata: V1ObjectMeta };
  const own = await readFlux(cluster, metadata, 'HelmRelease');
  const ref = release.chart?.sourceRef;
  const git =
    ref?.kind === 'GitRepository'
      ? await readGitRepository(cluster, { namespace: ref.namespace ?? namespace, name: ref.name })
      : null;
  const source = helmReleaseSource(
    learntFrom,
    { ...release, namespace: release.namespace ?? namespace },
    {
      object: own.sources.find(({ url }) => url !== undefined) ?? null,
      chart: git === null || typeof git === 'string' ? null : git,
    },
    sameRepository(repositories),
  );
  // Nothing says where the values are; the search may find them.
  return { sources: source === null ? [] : [source], notes: own.notes };
}

/** An object with a shape that no known release of the tool has. */
function unreadable(from: AppliedSource['from'], object: string): Deliveries {
  return {
    sources: [{ from, learntFrom: `the ${object}`, otherwise: 'it says in no known form where it applies from' }],
    notes: [],
  };
}

/** Whoever writes the label of a quota does not lead Headroom into other namespaces than those that the settings name. */
function elsewhere(mark: string, object: string): Deliveries {
  const note = `${mark} leads to the ${object}, in a namespace that Headroom does not read (DELIVERY_NAMESPACES)`;
  return { sources: [], notes: [note] };
}

type Cluster = Pick<DeliveryOptions, 'kubernetes' | 'deliveryNamespaces'>;

/** The object; null when it is gone, 'unknownKind' when the cluster does not have the kind, 'notRead' where nothing is read. */
async function readCustom(
  { kubernetes, deliveryNamespaces }: Cluster,
  request: Parameters<Kubernetes['custom']['getNamespacedCustomObject']>[0],
): Promise<unknown> {
  if (!readsDeliveriesOf(deliveryNamespaces, request.namespace)) return 'notRead';
  try {
    return (await kubernetes.custom.getNamespacedCustomObject(request)) as unknown;
  } catch (error) {
    if (!(error instanceof ApiException) || error.code !== 404) throw error;
    // For a missing object the API server names it; for an unknown kind it responds with just "not found".
    return String(error.body).includes(`"name":${JSON.stringify(request.name)}`) ? null : 'unknownKind';
  }
}
