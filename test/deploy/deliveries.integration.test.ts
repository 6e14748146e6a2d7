/** Argo CD's and Flux's objects, read by the worker in the namespaces alone that the values name. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parseRepositoryUrl } from '../../activities/forge/github/repository-url.ts';
import { readArgoCd, readFlux } from '../../activities/quota-resize/source/applied-sources.ts';
import { createDeliveryReader } from '../../activities/quota-resize/source/deliveries.ts';
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { parseDeliveryNamespaces } from '../../domain/quota-resize/settings/delivery-namespaces.ts';
import { connect, patience } from '../activities/kubernetes/cluster.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { chartObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyRights } from '../kernel/stack/chart.ts';
import { type Api, openApi } from '../quota-usage/side-by-side/api.ts';
import { rightsOf } from './rights.ts';
import type { Manifest } from './rendered.ts';

const WORKER = 'system:serviceaccount:namespace-resizer-system:headroom-worker';
const NAMED = { config: { kubernetes: { deliveryNamespaces: ['argocd', 'flux-system'] } } };
const KINDS = [
  ['argoproj.io', 'v1alpha1', 'applications'],
  ['kustomize.toolkit.fluxcd.io', 'v1', 'kustomizations'],
  ['helm.toolkit.fluxcd.io', 'v2', 'helmreleases'],
  ['source.toolkit.fluxcd.io', 'v1', 'gitrepositories'],
] as const;
const SINGULARS: Readonly<Record<string, string>> = {
  applications: 'Application',
  kustomizations: 'Kustomization',
  helmreleases: 'HelmRelease',
  gitrepositories: 'GitRepository',
};
const repositories = { addressOf: parseRepositoryUrl, nameOf: (name: string) => name };

let plane: ControlPlane;
let admin: Api;
let worker: Kubernetes;

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: WORKER }]);
  admin = openApi(plane.adminKubeconfig);
  for (const name of ['argocd', 'flux-system', 'tenant']) await post('/api/v1/namespaces', { metadata: { name } });
  for (const [group, version, plural] of KINDS) {
    const kind = SINGULARS[plural] ?? '';
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase() },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    });
    const list = `/apis/${group}/${version}/${plural}`;
    await eventually(`${plural} are served`, async () => (await admin.ask('GET', list)).code === 200);
  }
  const spec = (path: string) => ({
    source: { repoURL: 'https://github.com/acme/gitops', path },
    destination: { namespace: path },
  });
  for (const namespace of ['argocd', 'tenant'])
    await custom('applications', namespace, 'apps', spec(`of-${namespace}`));
  const sourceRef = { kind: 'GitRepository', name: 'gitops' };
  for (const namespace of ['flux-system', 'tenant']) {
    await custom('gitrepositories', namespace, 'gitops', { url: 'https://github.com/acme/gitops' });
    await custom('kustomizations', namespace, 'apps', { path: './', sourceRef, targetNamespace: `of-${namespace}` });
  }
  await applyRights(plane.adminKubeconfig, NAMED);
  const where = { verb: 'list', group: 'argoproj.io', resource: 'applications' };
  await untilAllowed(plane.adminKubeconfig, WORKER, [{ ...where, namespace: 'argocd' }]);
  worker = connect(plane.kubeconfigFor(WORKER));
});
afterAll(async () => {
  admin?.close();
  await plane?.stop();
});

it('are bound by roles there in place of cluster roles', async () => {
  const of = async (values: object) =>
    rightsOf((await chartObjects(values)) as unknown as readonly Manifest[])
      .filter(({ resource }) => KINDS.some(([group, , plural]) => resource === `${group}/${plural}`))
      .map(({ namespace }) => namespace);
  expect(new Set(await of({}))).toEqual(new Set(['*']));
  expect(new Set(await of(NAMED))).toEqual(new Set(['argocd', 'flux-system']));
  // As in a variable.
  const written = { config: { kubernetes: { deliveryNamespaces: 'argo-cd, flux-system' } } };
  expect(new Set(await of(written))).toEqual(new Set(['argo-cd', 'flux-system']));
});

it('are read there and nowhere else, whatever a quota says, and nothing is refused', async () => {
  const deliveryNamespaces = parseDeliveryNamespaces('argocd,flux-system');
  const listed = await createDeliveryReader(worker, repositories, deliveryNamespaces)('acme/gitops');
  expect(listed.map(({ namespace }) => namespace).toSorted()).toEqual(['of-argocd', 'of-flux-system']);

  const cluster = { kubernetes: worker, repositories, deliveryNamespaces };
  const tracked = (instance: string) => ({
    name: 'compute',
    namespace: 'team-a',
    annotations: { 'argocd.argoproj.io/tracking-id': `${instance}:/ResourceQuota:team-a/compute` },
  });
  const labelled = (namespace: string) => ({
    labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps', 'kustomize.toolkit.fluxcd.io/namespace': namespace },
  });
  expect((await readArgoCd(cluster, tracked('apps'))).sources).toMatchObject([{ path: 'of-argocd' }]);
  expect((await readFlux(cluster, labelled('flux-system'))).sources).toMatchObject([{ from: 'flux' }]);
  const elsewhere = 'in a namespace that Headroom does not read (DELIVERY_NAMESPACES)';
  for (const { sources, notes } of [
    await readArgoCd(cluster, tracked('tenant_apps')),
    await readFlux(cluster, labelled('tenant')),
  ]) {
    expect(sources).toEqual([]);
    expect(notes).toEqual([expect.stringContaining(elsewhere)]);
  }

  await vi.waitFor(async () => {
    const asked = (await plane.auditEvents()).filter(({ user }) => user.username === WORKER);
    const groups = new Set<string | undefined>(KINDS.map(([group]) => group));
    const places = asked.flatMap(({ objectRef }) =>
      groups.has(objectRef?.apiGroup) ? [objectRef?.namespace ?? 'all'] : [],
    );
    expect(new Set(places)).toEqual(new Set(['argocd', 'flux-system']));
    const isForbidden = ({ annotations }: (typeof asked)[number]) =>
      annotations?.['authorization.k8s.io/decision'] === 'forbid';
    expect(asked.filter(isForbidden)).toEqual([]);
  }, patience);
});

it('could be read nowhere else', async () => {
  const everywhere = createDeliveryReader(worker, repositories, parseDeliveryNamespaces('argocd,*'));
  await expect(everywhere('acme/gitops')).rejects.toMatchObject({ type: 'KubernetesForbidden' });
});

async function custom(plural: string, namespace: string, name: string, spec: object): Promise<void> {
  const [group, version] = KINDS.find(([, , one]) => one === plural) ?? ['', ''];
  const object = { apiVersion: `${group}/${version}`, kind: SINGULARS[plural], metadata: { name }, spec };
  await post(`/apis/${group}/${version}/namespaces/${namespace}/${plural}`, object);
}

async function post(path: string, body: object): Promise<void> {
  expect(await admin.ask('POST', path, body)).toMatchObject({ code: 201 });
}
