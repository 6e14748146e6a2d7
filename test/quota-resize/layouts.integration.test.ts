/** Quotas in kustomizations, charts, and what Argo CD and Flux apply, from pressure to the end of the cooldown. */
import { KubernetesObjectApi, type KubernetesObject } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Files, layoutFiles } from '../layouts/tree.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { counted, WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { SEVERAL_PHASES } from './phases.ts';

let stack: Stack;

/** The examples side by side in one repository, each in a folder of its name. */
const FILES: Files = Object.fromEntries(
  ['kustomize', 'helm', 'argo', 'flux'].flatMap((layout) =>
    Object.entries(layoutFiles(layout)).map(([path, text]) => [
      `${layout}/${path}`,
      // Flux counts the path of a chart from the root of the repository.
      text.replace('chart: ./charts/', `chart: ./${layout}/charts/`),
    ]),
  ),
);

beforeAll(async () => {
  stack = await startStack({
    files: FILES,
    forge: { checks: 'pass', checkDelayMs: 50 },
    // What would apply these layouts is not here: each test follows Git by hand.
    sync: false,
    env: { ...quickAutoMerge, 'timings.holdRetry': '2s' },
  });
  await createObjects(
    crdOf('argoproj.io', 'v1alpha1', 'Application', 'applications'),
    crdOf('kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization', 'kustomizations'),
    crdOf('helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases'),
    crdOf('source.toolkit.fluxcd.io', 'v1', 'GitRepository', 'gitrepositories'),
    namespaceOf('argocd'),
    namespaceOf('flux-system'),
  );
});
afterAll(async () => await stack?.stop());

/** A kind of Argo CD or Flux, as much of it as the API server must know to keep its objects. */
function crdOf(group: string, version: string, kind: string, plural: string): object {
  // As the client library names it.
  const schema = { openAPIV3Schema: { type: 'object', x_kubernetes_preserve_unknown_fields: true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

function namespaceOf(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** As an admin; a kind that was defined a moment ago is there a moment later. */
async function createObjects(...objects: readonly object[]): Promise<void> {
  const config = accessOf(stack.controlPlane.adminKubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  for (const object of objects) {
    await eventually('the API server takes the object', async () => await api.create(object as KubernetesObject));
  }
}

interface Applied {
  readonly namespace: string;
  readonly quota?: string;
  readonly hard: Readonly<Record<string, string>>;
  /** Of the namespace. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The marks of whoever applied it. */
  readonly metadata?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
}

/** A namespace and its quota, as the layout makes them. */
async function givenApplied({ namespace, quota = 'compute', hard, annotations = {}, metadata = {} }: Applied) {
  await stack.core.createNamespace({ body: { metadata: { name: namespace, annotations: { ...annotations } } } });
  const body = { metadata: { name: quota, ...metadata }, spec: { hard } };
  await stack.core.createNamespacedResourceQuota({ namespace, body });
  const watched = new WatchedQuota(stack, namespace, quota);
  await counted(watched);
  return watched;
}

/** What the merged pull request changed: the file, from one text to another. */
async function expectMerged(quota: WatchedQuota, path: string, change: (text: string) => string): Promise<void> {
  await quota.reaches('AwaitingSync', 'SyncPending');
  expect(await stack.forge.readFile('main', path)).toBe(change(FILES[path] ?? ''));
  expect(quota.pullRequests()).toHaveLength(1);
  expect(await quota.branches()).toEqual([]);
}

async function expectFollowed(quota: WatchedQuota, hard: Readonly<Record<string, string>>): Promise<void> {
  await quota.setHard(hard);
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect((await quota.lease())?.holder).toBeNull();
}

describe.concurrent('a quota of a kustomization', SEVERAL_PHASES, () => {
  it('is raised in the patch of its overlay', async () => {
    const quota = await givenApplied({ namespace: 'strategic', hard: { pods: '20', 'requests.cpu': '6' } });
    await quota.deploy('web', 5, { cpu: '1' });
    await expectMerged(quota, 'kustomize/overlays/strategic/quota-patch.yaml', (text) =>
      text.replace('"6"', '"7200m"'),
    );
    const { number } = await quota.pullRequest();
    expect((await quota.shown(number)).body).toContain(
      '- Changed file: `kustomize/overlays/strategic/quota-patch.yaml`\n',
    );
    await expectFollowed(quota, { pods: '20', 'requests.cpu': '7200m' });
  });

  it('gets a patch of its own where others share the base, which stays as it is', async () => {
    const quota = await givenApplied({ namespace: 'plain', hard: { pods: '20', 'requests.cpu': '4' } });
    await quota.deploy('web', 16, { cpu: '10m' });
    await quota.reaches('AwaitingSync', 'SyncPending');
    const overlay = await stack.forge.readFile('main', 'kustomize/overlays/plain/kustomization.yaml');
    expect(overlay).toContain('patches:');
    expect(overlay).toContain(FILES['kustomize/overlays/plain/kustomization.yaml']?.trimEnd());
    expect(await stack.forge.readFile('main', 'kustomize/base/quota.yaml')).toBe(FILES['kustomize/base/quota.yaml']);
    expect(await quota.pullRequest()).toMatchObject({ merged: true, commits: 1 });
    await expectFollowed(quota, { pods: '24' });
  });
});

describe.concurrent('a quota of a Helm chart', SEVERAL_PHASES, () => {
  it('is raised in the values file', async () => {
    const quota = await givenApplied({ namespace: 'helm-one', hard: { 'requests.cpu': '2', pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    await expectMerged(quota, 'helm/charts/one/values.yaml', (text) => text.replace('pods: 10', 'pods: 12'));
    await expectFollowed(quota, { 'requests.cpu': '2', pods: '12' });
  });

  it('whose value is computed blocks with what would solve it, and the annotation does', async () => {
    const quota = await givenApplied({ namespace: 'helm-computed', hard: { pods: '8' } });
    await quota.deploy('web', 7, { cpu: '10m' });
    const blocked = await quota.reaches('Blocked', 'Unplaceable');
    expect(blocked.detail).toContain('helm/charts/computed/templates/quota.yaml');
    const [warning, ...more] = await quota.events('Unplaceable');
    expect(more).toEqual([]);
    expect(warning).toMatch(/^Warning: acme\/gitops at main: .*helm\/charts\/computed\/templates\/quota\.yaml/);
    expect(warning).toContain('resizer.io/git-path');
    expect(warning).toContain('resizer.io/git-field');
    expect(quota.writes()).toEqual([]);

    // The team takes the value out of the computation, and says where it is now.
    const path = 'helm/charts/computed/limits.yaml';
    await stack.forge.pushCommit({ files: { [path]: 'limits:\n  pods: 8 # pods\n' } });
    await quota.annotate({ 'resizer.io/git-path': path, 'resizer.io/git-field': 'limits.pods' });
    // Nothing in the chart says that the value is a limit of this quota, so a person looks and merges.
    const ready = await quota.reaches('AwaitingMerge', 'NotProved');
    expect(ready.detail).toContain(`not proved: nothing in the chart shows that ${path}:2 is a limit of`);
    await stack.forge.mergePullRequest((await quota.pullRequest()).number, 'alice');
    await quota.reaches('AwaitingSync', 'SyncPending');
    expect(await stack.forge.readFile('main', path)).toBe('limits:\n  pods: 10 # pods\n');
    await expectFollowed(quota, { pods: '10' });
  });
});

describe.concurrent('a quota that Argo CD applies', SEVERAL_PHASES, () => {
  const application = (name: string, source: object) => ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: 'argocd' },
    spec: { source: { repoURL: `${stack.forge.url}/acme/gitops.git`, targetRevision: 'HEAD', ...source } },
  });
  const tracked = (app: string, namespace: string, quota: string) => ({
    annotations: { 'argocd.argoproj.io/tracking-id': `${app}:/ResourceQuota:${namespace}/${quota}` },
  });

  it('is raised in the folder of its Application', async () => {
    await createObjects(application('team-a', { path: 'argo/teams/a' }));
    const metadata = tracked('team-a', 'argo-a', 'compute');
    const quota = await givenApplied({ namespace: 'argo-a', hard: { pods: '10' }, metadata });
    await quota.deploy('web', 8, { cpu: '10m' });
    await expectMerged(quota, 'argo/teams/a/quota.yaml', (text) => text.replace('pods: 10', 'pods: 12'));
    const { body } = await quota.pullRequest();
    expect(body).toContain('the Argo CD Application argocd/team-a (annotation argocd.argoproj.io/tracking-id)');
    await expectFollowed(quota, { pods: '12' });
  });

  it('is raised in the values file that its Application gives to a chart', async () => {
    const helm = { valueFiles: ['../../teams/b.yaml'] };
    await createObjects(application('team-b', { path: 'argo/charts/quota', helm }));
    const quota = await givenApplied({
      namespace: 'argo-b',
      quota: 'team-b-compute',
      hard: { 'requests.cpu': '2500m' },
      metadata: tracked('team-b', 'argo-b', 'team-b-compute'),
    });
    await quota.deploy('web', 2, { cpu: '1' });
    await expectMerged(quota, 'argo/teams/b.yaml', (text) => text.replace('2500m', '3000m'));
    await expectFollowed(quota, { 'requests.cpu': '3' });
  });

  it('is not touched where the Application applies a tag', async () => {
    await createObjects(application('pinned', { path: 'argo/teams/a', targetRevision: 'refs/tags/v1' }));
    const metadata = tracked('pinned', 'argo-pinned', 'compute');
    const quota = await givenApplied({ namespace: 'argo-pinned', hard: { pods: '10' }, metadata });
    await quota.deploy('web', 8, { cpu: '10m' });
    const blocked = await quota.reaches('Blocked', 'Unplaceable');
    expect(blocked.detail).toContain('applies the tag v1 of acme/gitops');
    expect(await quota.events('Unplaceable')).toEqual([expect.stringContaining('resizer.io/git-ref')]);
    expect(quota.writes()).toEqual([]);
  });
});

describe.concurrent('a quota that Flux applies', SEVERAL_PHASES, () => {
  it('is raised in the folder of its Kustomization', async () => {
    const metadata = { name: 'team-a', namespace: 'flux-system' };
    const sourceRef = { kind: 'GitRepository', name: 'gitops' };
    await createObjects(
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata: { ...metadata, name: 'gitops' },
        spec: { url: `${stack.forge.url}/acme/gitops`, ref: { branch: 'main' } },
      },
      {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata,
        spec: { path: './flux/tenants/a', targetNamespace: 'flux-a', sourceRef },
      },
    );
    const quota = await givenApplied({
      namespace: 'flux-a',
      hard: { pods: '10' },
      metadata: {
        labels: {
          'kustomize.toolkit.fluxcd.io/name': 'team-a',
          'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
        },
      },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await expectMerged(quota, 'flux/tenants/a/quota.yaml', (text) => text.replace('pods: 10', 'pods: 12'));
    expect((await quota.pullRequest()).body).toContain('the Flux Kustomization flux-system/team-a');
    await expectFollowed(quota, { pods: '12' });
  });

  it('is raised in the values of its HelmRelease, in the file that Flux applies that from', async () => {
    const group = 'toolkit.fluxcd.io';
    const sourceRef = { kind: 'GitRepository', name: 'releases' };
    const labels = { [`kustomize.${group}/name`]: 'releases', [`kustomize.${group}/namespace`]: 'flux-system' };
    const chart = { spec: { chart: './flux/charts/quota', sourceRef } };
    await createObjects(
      {
        apiVersion: `source.${group}/v1`,
        kind: 'GitRepository',
        metadata: { name: 'releases', namespace: 'flux-system' },
        spec: { url: `${stack.forge.url}/acme/gitops`, ref: { branch: 'main' } },
      },
      {
        apiVersion: `kustomize.${group}/v1`,
        kind: 'Kustomization',
        metadata: { name: 'releases', namespace: 'flux-system' },
        spec: { path: './flux/clusters/prod', sourceRef },
      },
      {
        apiVersion: `helm.${group}/v2`,
        kind: 'HelmRelease',
        metadata: { name: 'team-b', namespace: 'flux-system', labels },
        spec: { chart, targetNamespace: 'flux-b', values: { hard: { 'requests.cpu': '2' } } },
      },
    );
    const quota = await givenApplied({
      namespace: 'flux-b',
      hard: { 'requests.cpu': '2' },
      metadata: { labels: { [`helm.${group}/name`]: 'team-b', [`helm.${group}/namespace`]: 'flux-system' } },
    });
    await quota.deploy('web', 2, { cpu: '900m' });
    await expectMerged(quota, 'flux/clusters/prod/team-b.yaml', (text) => text.replace('"2"', '"2400m"'));
    expect((await quota.pullRequest()).body).toContain('the Flux HelmRelease flux-system/team-b');
    await expectFollowed(quota, { 'requests.cpu': '2400m' });
  });
});
