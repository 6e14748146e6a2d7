/** What all Applications of Argo CD and Kustomizations of Flux apply, as the cluster shows them: also those that others generate. */
import type { V1ObjectMeta } from '@kubernetes/client-node';
import { z } from 'zod';
import type { AppliedFolder } from '../../../domain/quota-resize/git/locate/delivery/applied-folders.ts';
import { readApplication } from '../../../domain/quota-resize/git/locate/delivery/argo-application.ts';
import { readKustomization } from '../../../domain/quota-resize/git/locate/delivery/flux-kustomization.ts';
import { pathFrom } from '../../../domain/quota-resize/git/locate/tree/paths.ts';
import type { DeliveryNamespaces } from '../../../domain/quota-resize/settings/delivery-namespaces.ts';
import type { Repositories } from '../../forge/repositories.ts';
import { customPage } from '../../kubernetes/custom-page.ts';
import { withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';
import { branchOf } from './branch-of.ts';
import { readGitReference } from './git-reference.ts';

/** What is applied from a branch into a namespace; without a branch from the default one. */
export interface DeliveryOfBranch extends AppliedFolder {
  readonly branch?: string;
}

/** The repositories that may be changed, and who uses them. */
export interface DeliveredRepositories extends Repositories {
  /** Everything that the cluster shows to be applied from a repository. Absent: nothing is known of it. */
  readonly deliveriesOf?: (repository: string) => Promise<readonly DeliveryOfBranch[]>;
}

/** A delivery, and the address of what it applies. */
interface Listed extends Omit<DeliveryOfBranch, 'branch'> {
  readonly url: string;
  readonly revision: string | undefined;
}

/** For how long a list is used: a burst of quotas reads it once. */
const KEPT_MS = 30_000;

const named = z.object({ metadata: z.object({ name: z.string(), namespace: z.string() }) });

/**
 * Tells the deliveries from a repository into namespaces, by its name. Where the cluster has neither kind, there are none.
 *
 * @throws {ApplicationFailure} KubernetesForbidden where the worker may not list them, and so cannot know who else uses a file.
 */
export function createDeliveryReader(
  kubernetes: Kubernetes,
  repositories: Pick<Repositories, 'addressOf' | 'nameOf'>,
  namespaces: DeliveryNamespaces,
): (repository: string) => Promise<readonly DeliveryOfBranch[]> {
  let kept: { readonly at: number; readonly listed: Promise<readonly Listed[]> } | undefined;
  const listed = async (): Promise<readonly Listed[]> => {
    const now = performance.now();
    kept =
      kept !== undefined && now - kept.at < KEPT_MS
        ? kept
        : { at: now, listed: listDeliveries(kubernetes, namespaces) };
    try {
      return await kept.listed;
    } catch (error) {
      kept = undefined;
      throw error;
    }
  };
  return withKubernetesFailures(async (repository: string) =>
    (await listed()).flatMap(({ url, revision, ...delivery }): DeliveryOfBranch[] => {
      const address = repositories.addressOf(url);
      const branch = branchOf(revision);
      if (address === null || repositories.nameOf(address.repository) !== repository || branch.kind === 'none') {
        return [];
      }
      return [{ ...delivery, ...(branch.name === undefined ? {} : { branch: branch.name }) }];
    }),
  );
}

async function listDeliveries(kubernetes: Kubernetes, { only }: DeliveryNamespaces): Promise<readonly Listed[]> {
  const list = async <T>(kind: CustomKind, read: ReadObject<T>): Promise<readonly (readonly T[])[]> => {
    if (only === null) return await listCustom(kubernetes, kind, read);
    const each = only.map(async (namespace) => await listCustom(kubernetes, { ...kind, namespace }, read));
    return (await Promise.all(each)).flat();
  };
  const [applications, kustomizations] = await Promise.all([
    list({ group: 'argoproj.io', version: 'v1alpha1', plural: 'applications' }, ofApplication),
    list({ group: 'kustomize.toolkit.fluxcd.io', version: 'v1', plural: 'kustomizations' }, ofKustomization),
  ]);
  if (kustomizations.every((found) => found.length === 0)) return applications.flat();
  const source = { group: 'source.toolkit.fluxcd.io', version: 'v1', plural: 'gitrepositories' };
  const sources = new Map((await list(source, ofGitRepository)).flat());
  const ofFlux = kustomizations.flat().flatMap(({ source: key, ...delivery }): Listed[] => {
    const git = sources.get(key);
    return git === undefined ? [] : [{ ...delivery, ...git }];
  });
  return [...applications.flat(), ...ofFlux];
}

type CustomKind = Pick<
  Parameters<Kubernetes['custom']['listNamespacedCustomObject']>[0],
  'group' | 'version' | 'plural'
>;

type ReadObject<T> = (object: unknown, metadata: { readonly name: string; readonly namespace: string }) => readonly T[];

/** @param kind.namespace absent: all are read. */
async function listCustom<T>(
  { custom }: Kubernetes,
  { namespace, ...kind }: CustomKind & { readonly namespace?: string },
  read: ReadObject<T>,
): Promise<readonly (readonly T[])[]> {
  const pages: (readonly T[])[] = [];
  await listAll(async (range) => {
    const { metadata = {}, items } = await customPage(
      namespace === undefined
        ? custom.listClusterCustomObject({ ...kind, ...range })
        : custom.listNamespacedCustomObject({ ...kind, namespace, ...range }),
      (object) => {
        const known = named.safeParse(object);
        return known.success ? read(object, known.data.metadata) : [];
      },
    );
    // A list that expires begins again.
    if (range._continue === undefined) pages.length = 0;
    pages.push(...items);
    return { metadata, items: [] };
  });
  return pages;
}

function ofApplication(object: unknown, { name, namespace: place }: V1ObjectMeta): readonly Listed[] {
  const application = readApplication(object);
  return (application?.sources ?? []).flatMap(
    ({ repoURL: url, path, targetRevision: revision, kustomize, directory }) => {
      const forced = kustomize?.namespace;
      const namespace = forced ?? application?.namespace;
      const folder = path === undefined ? undefined : pathFrom('', path);
      if (url === undefined || folder === undefined || namespace === undefined) return [];
      return [
        {
          learntFrom: `the Argo CD Application ${place}/${name}`,
          path: folder,
          namespace,
          overrides: forced !== undefined,
          recurses: directory?.recurse === true,
          url,
          revision,
        },
      ];
    },
  );
}

function ofKustomization(
  object: unknown,
  { name, namespace: place = '' }: V1ObjectMeta,
): readonly (Omit<DeliveryOfBranch, 'branch'> & { readonly source: string })[] {
  const kustomization = readKustomization(object);
  const folder = pathFrom('', kustomization?.path ?? '');
  if (kustomization?.namespace === undefined || kustomization.sourceRef === undefined || folder === undefined)
    return [];
  const { namespace, sourceRef } = kustomization;
  return [
    {
      learntFrom: `the Flux Kustomization ${place}/${name}`,
      path: folder,
      namespace,
      overrides: true,
      recurses: true,
      source: `${sourceRef.kind} ${sourceRef.namespace ?? place}/${sourceRef.name}`,
    },
  ];
}

function ofGitRepository(
  object: unknown,
  { name, namespace }: V1ObjectMeta,
): readonly (readonly [string, { readonly url: string; readonly revision: string }])[] {
  const git = readGitReference(object);
  return git === null ? [] : [[`GitRepository ${namespace}/${name}`, git]];
}
