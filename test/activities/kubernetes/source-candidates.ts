import { describe, expect, it, vi } from 'vitest';
import { hostOfRepositories, parseRepositoryUrl } from '../../../activities/forge/github/repository-url.ts';
import { noRepositories } from '../../../activities/forge/repositories.ts';
import { createDeliveryReader } from '../../../activities/quota-resize/source/deliveries.ts';
import { type CandidateOptions, readCandidates } from '../../../activities/quota-resize/source/source-candidates.ts';
import type { SourceCandidate } from '../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { resolve } from '../../domain/quota-resize/policy/policies.ts';
import { type Cluster, namespaceOf, patience, quotaOf, targetOf } from './cluster.ts';

const TEMPLATE = 'clusters/{{ .Cluster }}/{{ .Namespace }}';
const configured: readonly SourceCandidate[] = [
  {
    from: 'template',
    path: 'clusters/test/hints',
    namespace: 'hints',
    learntFrom: `the path template \`${TEMPLATE}\``,
  },
  { from: 'scan', template: TEMPLATE, learntFrom: 'a search of the whole repository' },
];

/** What the addresses of GitHub's repositories are. */
function gitHub(apiUrl = 'https://api.github.com'): Pick<CandidateOptions['repositories'], 'host' | 'addressOf'> {
  return { host: hostOfRepositories(apiUrl), addressOf: parseRepositoryUrl };
}

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

function applicationOf(name: string, spec: object, namespace = 'argocd'): object {
  return { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: { name, namespace }, spec };
}

function trackedBy(instance: string, of = 'hints/compute'): object {
  return { annotations: { 'argocd.argoproj.io/tracking-id': `${instance}:/ResourceQuota:${of}` } };
}

const fluxLabels = {
  labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps', 'kustomize.toolkit.fluxcd.io/namespace': 'flux' },
};

/** Where the worker looks for a quota in Git, on a real API server and under the worker's own role. */
export function sourceCandidateTests(cluster: () => Cluster): void {
  /** The hints of a quota that the API server has, with these marks. */
  async function candidatesOf(
    metadata: object,
    {
      policy = {},
      apiUrl,
      ...change
    }: Partial<Omit<CandidateOptions, 'kubernetes'>> & { policy?: Record<string, string>; apiUrl?: string } = {},
  ): Promise<readonly SourceCandidate[]> {
    const { admin, worker } = cluster();
    const quota = {
      ...quotaOf('hints', { pods: '5' }),
      metadata: { name: 'compute', namespace: 'hints', ...metadata },
    };
    await admin.core.deleteNamespacedResourceQuota({ name: 'compute', namespace: 'hints' }).catch(() => undefined);
    const created = await admin.core.createNamespacedResourceQuota({ namespace: 'hints', body: quota });
    const names = ['acme/gitops', 'acme/platform'];
    return await readCandidates(
      {
        kubernetes: worker,
        repositories: {
          names,
          nameOf: (name) => names.find((existing) => existing === name.toLowerCase()) ?? null,
          ...gitHub(apiUrl),
        },
        pathTemplate: TEMPLATE,
        deliveryNamespaces: EVERYWHERE,
        ...change,
      },
      { target: targetOf('hints'), quota: created, policy: resolve(policy).policy },
    );
  }

  const EVERYWHERE = { argocd: 'argocd', only: null };

  describe('where a quota is searched for in Git', () => {
    it('is the configured path and then everything, where nothing else is known', async () => {
      await cluster().create(namespaceOf('hints'), namespaceOf('argocd'), namespaceOf('flux'), namespaceOf('apps'));
      expect(await candidatesOf({})).toEqual(configured);
      expect(await candidatesOf({}, { pathTemplate: '.' })).toEqual([{ ...configured[1], template: '.' }]);
      // Without the namespace in it, the template does not say whose a folder is.
      const [shared] = await candidatesOf({}, { pathTemplate: 'clusters/{{ .Cluster }}' });
      expect(shared).toEqual({
        from: 'template',
        path: 'clusters/test',
        learntFrom: 'the path template `clusters/{{ .Cluster }}`',
      });
    });

    it('is no matter for a cluster without Argo CD and Flux, whatever the labels say', async () => {
      expect(await candidatesOf({ labels: { ...fluxLabels.labels, 'app.kubernetes.io/instance': 'web' } })).toEqual(
        configured,
      );
    });

    it('is what annotations say, before everything else', async () => {
      const policy = { 'git-repository': 'acme/platform', 'git-ref': 'live' };
      const narrowed = { repository: 'acme/platform', ref: 'live', refBy: 'annotation' };
      expect(await candidatesOf({}, { policy })).toEqual(configured.map((request) => ({ ...request, ...narrowed })));
      expect(await candidatesOf({}, { policy: { ...policy, 'git-path': 'teams/{{ .Namespace }}' } })).toEqual([
        {
          from: 'annotation',
          path: 'teams/hints',
          learntFrom: 'the annotation resizer.io/git-path of namespace hints',
          template: TEMPLATE,
          ...narrowed,
        },
      ]);
      const [request] = await candidatesOf({}, { policy: { 'git-repository': 'acme/secrets' } });
      expect(request?.problem).toMatch(
        /namespace hints names acme\/secrets, which is not among .*acme\/gitops, acme\/platform/,
      );
    });

    it('is the source of the Argo CD Application that tracks it', async () => {
      const kinds = [
        ['argoproj.io', 'v1alpha1', 'Application', 'applications'],
        ['kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization', 'kustomizations'],
        ['helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases'],
        ['source.toolkit.fluxcd.io', 'v1', 'GitRepository', 'gitrepositories'],
      ] as const;
      const { admin, create } = cluster();
      await create(...kinds.map(([group, version, kind, plural]) => crdOf(group, version, kind, plural)));
      // Objects of each can be listed, and the client finds by which name they are created.
      for (const [group, version, kind, plural] of kinds) {
        await vi.waitFor(async () => {
          await admin.custom.listClusterCustomObject({ group, version, plural });
          const { resources } = await admin.custom.getAPIResources({ group, version });
          expect(resources.map((resource) => resource.kind)).toContain(kind);
        }, patience);
      }
      const source = { repoURL: 'https://github.com/acme/gitops.git', path: './teams/a/', targetRevision: 'HEAD' };
      const destination = { namespace: 'hints' };
      await create(applicationOf('team-a', { source, destination }));
      const argocd = {
        from: 'argocd',
        repository: 'acme/gitops',
        path: 'teams/a',
        valueFiles: [],
        namespace: 'hints',
        learntFrom: 'the Argo CD Application argocd/team-a (annotation argocd.argoproj.io/tracking-id)',
      };
      expect(await candidatesOf(trackedBy('team-a'))).toEqual([argocd, ...configured]);
      expect(await candidatesOf(trackedBy('team-a', 'other/compute')), 'the mark of a copy').toEqual(configured);
      const labelled = { labels: { 'app.kubernetes.io/instance': 'team-a' } };
      expect(await candidatesOf(labelled)).toMatchObject([
        { ...argocd, learntFrom: 'the Argo CD Application argocd/team-a (label app.kubernetes.io/instance)' },
        ...configured,
      ]);
      expect(await candidatesOf(trackedBy('team-a'), { policy: { 'git-repository': 'acme/platform' } })).toEqual(
        configured.map((request) => ({ ...request, repository: 'acme/platform' })),
      );
    });

    it('is each source of an Application of another namespace, with the branch of each', async () => {
      const sources = [
        { repoURL: 'registry.example.com/charts', chart: 'quotas', helm: { valueFiles: ['$values/teams/a.yaml'] } },
        { repoURL: 'git@github.com:acme/platform.git', ref: 'values', targetRevision: 'live' },
        { repoURL: 'ssh://git@github.com/Acme/GitOps', path: 'more' },
      ];
      await cluster().create(applicationOf('several', { sources }, 'apps'));
      expect(await candidatesOf(trackedBy('apps_several'))).toMatchObject([
        { from: 'argocd', repository: 'acme/platform', ref: 'live', path: 'teams/a.yaml' },
        { from: 'argocd', repository: 'acme/gitops', path: 'more' },
        ...configured,
      ]);
    });

    it('is a chart with its values files, the weightiest last, also those of a second source of the same tree', async () => {
      const helm = { valueFiles: ['values-prod.yaml', '../../teams/b.yaml', '/all.yaml', '$values/c.yaml'] };
      const repoURL = 'https://github.com/acme/gitops';
      const values = { repoURL: `${repoURL}.git`, targetRevision: 'HEAD', ref: 'values' };
      const sources = [{ repoURL, path: 'charts/quota', helm }, values];
      await cluster().create(applicationOf('valued', { sources }));
      const candidates = await candidatesOf(trackedBy('valued'));
      expect(candidates.filter(({ from }) => from === 'argocd')).toEqual([
        {
          from: 'argocd',
          repository: 'acme/gitops',
          path: 'charts/quota',
          valueFiles: ['charts/quota/values-prod.yaml', 'teams/b.yaml', 'all.yaml', 'c.yaml'],
          learntFrom: 'the Argo CD Application argocd/valued (annotation argocd.argoproj.io/tracking-id)',
        },
      ]);
    });

    it('is a file of another repository first, and then nothing, where a chart takes values from there', async () => {
      const sources = [
        {
          repoURL: 'https://github.com/acme/gitops',
          path: 'charts/quota',
          helm: { valueFiles: ['$values/teams/a.yaml'] },
        },
        { repoURL: 'https://github.com/acme/platform', ref: 'values' },
      ];
      await cluster().create(applicationOf('elsewhere', { sources }));
      expect((await candidatesOf(trackedBy('elsewhere'))).slice(0, 2)).toMatchObject([
        { from: 'argocd', repository: 'acme/platform', path: 'teams/a.yaml' },
        { from: 'argocd', problem: expect.stringContaining('takes values from $values/teams/a.yaml') },
      ]);
    });

    for (const [what, source] of [
      ['helm.values', { helm: { values: 'hard: {pods: 1}' } }],
      ['helm.valuesObject', { helm: { valuesObject: { hard: { pods: 1 } } } }],
      ['helm.parameters', { helm: { parameters: [{ name: 'hard.pods', value: '1' }] } }],
      ['kustomize.patches', { kustomize: { patches: [{ patch: 'x' }] } }],
    ] as const) {
      it(`is out of reach where the Application sets ${what}`, async () => {
        const app = what.toLowerCase().replace('.', '-');
        const of = { repoURL: 'https://github.com/acme/gitops', path: 'charts/quota', ...source };
        await cluster().create(applicationOf(app, { source: of }));
        const [request] = await candidatesOf(trackedBy(app));
        expect(request?.problem).toMatch(
          new RegExp(`sets ${what}, which may outweigh the files; .*resizer\\.io/git-field`),
        );
      });
    }

    for (const [name, source, problem] of [
      [
        'a commit',
        { repoURL: 'https://github.com/acme/gitops', targetRevision: 'a'.repeat(40) },
        /applies the commit a+ of/,
      ],
      [
        'versions',
        { repoURL: 'https://github.com/acme/gitops', targetRevision: '1.*' },
        /the versions 1\.\* of acme\/gitops/,
      ],
      [
        'a tag',
        { repoURL: 'https://github.com/acme/gitops', targetRevision: 'refs/tags/v1' },
        /the tag v1 of acme\/gitops/,
      ],
      [
        'a chart',
        { repoURL: 'https://charts.example.com', chart: 'quotas' },
        /it is the chart quotas of https:\/\/charts/,
      ],
      ['another host', { repoURL: 'https://gitlab.example.com/acme/gitops' }, /which is not on github\.com/],
      [
        'another host with a password',
        { repoURL: 'https://bot:SECRET@gitlab.example.com/acme/gitops' },
        /^(?!.*SECRET).* applies https:\/\/…@gitlab\.example\.com\/acme\/gitops, which/,
      ],
      [
        'a chart with a password',
        { repoURL: 'https://bot:SECRET@charts.example.com', chart: 'quotas' },
        /^(?!.*SECRET).* of https:\/\/…@charts\.example\.com, which/,
      ],
      [
        'a repository that is not on the list',
        { repoURL: 'https://github.com/acme/x' },
        /applies acme\/x, .*GITHUB_REPOSITORIES/,
      ],
    ] as const) {
      it(`is said to be out of reach, when the Application applies ${name}`, async () => {
        const app = name.replaceAll(' ', '-');
        await cluster().create(applicationOf(app, { source: { path: 'p', ...source } }));
        const [request] = await candidatesOf(trackedBy(app));
        expect(request).toMatchObject({ from: 'argocd', problem: expect.stringMatching(problem) });
      });
    }

    it('is the folder of the Flux Kustomization, on the branch of its GitRepository', async () => {
      const { create } = cluster();
      const flux = (kind: string, group: string, name: string, spec: object) => ({
        apiVersion: `${group}.toolkit.fluxcd.io/v1`,
        kind,
        metadata: { name, namespace: 'flux' },
        spec,
      });
      const sourceRef = { kind: 'GitRepository', name: 'platform' };
      const targetNamespace = 'hints';
      await create(flux('Kustomization', 'kustomize', 'apps', { path: './clusters/prod', sourceRef, targetNamespace }));
      expect(await candidatesOf(fluxLabels), 'without the GitRepository').toMatchObject([
        {
          from: 'template',
          learntFrom: expect.stringContaining('leads to the Flux GitRepository flux/platform, which is gone'),
        },
        { from: 'scan' },
      ]);
      const ref = { branch: 'live' };
      await create(flux('GitRepository', 'source', 'platform', { url: 'https://github.com/acme/platform', ref }));
      expect(await candidatesOf(fluxLabels)).toEqual([
        {
          from: 'flux',
          repository: 'acme/platform',
          ref: 'live',
          path: 'clusters/prod',
          namespace: 'hints',
          learntFrom: 'the Flux Kustomization flux/apps (label kustomize.toolkit.fluxcd.io/name)',
        },
        ...configured,
      ]);
      const elsewhere = { url: 'https://bot:SECRET@gitlab.example.com/acme/platform' };
      await create(
        flux('GitRepository', 'source', 'elsewhere', elsewhere),
        flux('Kustomization', 'kustomize', 'secret', {
          path: './',
          sourceRef: { kind: 'GitRepository', name: 'elsewhere' },
        }),
      );
      const secret = { labels: { ...fluxLabels.labels, 'kustomize.toolkit.fluxcd.io/name': 'secret' } };
      expect((await candidatesOf(secret))[0]?.problem).toMatch(/^(?!.*SECRET).*https:\/\/…@gitlab\.example\.com/);
      const enterprise = await candidatesOf(fluxLabels, { apiUrl: 'https://github.example.com/api/v3' });
      expect(enterprise[0]?.problem).toContain('which is not on github.example.com');
    });

    it('is in use by every Application and Kustomization of the repository, whoever made it', async () => {
      const { create, worker } = cluster();
      const repositories = {
        addressOf: parseRepositoryUrl,
        nameOf: (name: string) => (name.toLowerCase() === 'acme/shared' ? 'acme/shared' : null),
      };
      const repoURL = 'https://github.com/acme/shared.git';
      const source = { repoURL, path: './tenants/' };
      const directory = { recurse: true };
      const forced = { repoURL, path: 'tenants', kustomize: { namespace: 'team-c' }, targetRevision: 'live' };
      const flux = (kind: string, group: string, name: string, spec: object) => ({
        apiVersion: `${group}.toolkit.fluxcd.io/v1`,
        kind,
        metadata: { name, namespace: 'flux' },
        spec,
      });
      const sourceRef = { kind: 'GitRepository', name: 'shared' };
      await create(
        applicationOf('shared-a', { source, destination: { namespace: 'team-a' } }),
        applicationOf('shared-b', { source: { ...source, directory }, destination: { namespace: 'team-b' } }, 'apps'),
        applicationOf('shared-c', { sources: [forced], destination: { namespace: 'other' } }),
        applicationOf('shared-tag', {
          source: { ...source, targetRevision: 'refs/tags/v1' },
          destination: { namespace: 'x' },
        }),
        flux('GitRepository', 'source', 'shared', { url: repoURL, ref: { branch: 'live' } }),
        flux('Kustomization', 'kustomize', 'shared-d', { path: './tenants', sourceRef, targetNamespace: 'team-d' }),
        flux('Kustomization', 'kustomize', 'shared-own', { path: './tenants', sourceRef }),
      );
      const deliveries = await createDeliveryReader(worker, repositories, EVERYWHERE)('acme/shared');
      const into = (learntFrom: string, namespace: string, more: object = {}) => ({
        learntFrom,
        path: 'tenants',
        namespace,
        overrides: false,
        recurses: false,
        ...more,
      });
      expect(deliveries.toSorted((one, other) => (one.namespace < other.namespace ? -1 : 1))).toEqual([
        into('the Argo CD Application argocd/shared-a', 'team-a'),
        into('the Argo CD Application apps/shared-b', 'team-b', { recurses: true }),
        into('the Argo CD Application argocd/shared-c', 'team-c', { overrides: true, branch: 'live' }),
        into('the Flux Kustomization flux/shared-d', 'team-d', { overrides: true, recurses: true, branch: 'live' }),
      ]);
    });

    it('is the chart of the Flux HelmRelease, with the object where its own labels lead', async () => {
      const { create } = cluster();
      const flux = (kind: string, group: string, name: string, spec: object, labels = {}) => ({
        apiVersion: `${group}.toolkit.fluxcd.io/${kind === 'HelmRelease' ? 'v2' : 'v1'}`,
        kind,
        metadata: { name, namespace: 'flux', labels },
        spec,
      });
      const labels = { 'helm.toolkit.fluxcd.io/name': 'quotas', 'helm.toolkit.fluxcd.io/namespace': 'flux' };
      expect((await candidatesOf({ labels }))[0]?.learntFrom).toContain(
        'leads to the Flux HelmRelease flux/quotas, which is gone',
      );

      const sourceRef = { kind: 'GitRepository', name: 'charts' };
      const chart = { spec: { chart: './charts/quota', sourceRef } };
      const values = { hard: { pods: '4' } };
      await create(
        flux('GitRepository', 'source', 'charts', { url: 'https://github.com/acme/gitops', ref: { branch: 'main' } }),
        flux('Kustomization', 'kustomize', 'releases', { path: './clusters/prod', sourceRef }),
        flux(
          'HelmRelease',
          'helm',
          'quotas',
          { chart, values, targetNamespace: 'hints' },
          { 'kustomize.toolkit.fluxcd.io/name': 'releases', 'kustomize.toolkit.fluxcd.io/namespace': 'flux' },
        ),
        flux('HelmRelease', 'helm', 'by-hand', { chart, values }),
      );
      expect(await candidatesOf({ labels })).toEqual([
        {
          from: 'flux',
          repository: 'acme/gitops',
          ref: 'main',
          path: 'charts/quota',
          release: { name: 'quotas', namespace: 'hints', path: 'clusters/prod' },
          learntFrom: 'the Flux HelmRelease flux/quotas (label helm.toolkit.fluxcd.io/name)',
        },
        ...configured,
      ]);
      const byHand = { labels: { ...labels, 'helm.toolkit.fluxcd.io/name': 'by-hand' } };
      expect(await candidatesOf(byHand), 'whose file nobody knows').toEqual(configured);
    });

    it('is searched for elsewhere where the Application is gone, and says so', async () => {
      const candidates = await candidatesOf(trackedBy('gone'));
      expect(candidates.map(({ from }) => from)).toEqual(['template', 'scan']);
      expect(candidates[0]?.learntFrom).toContain('names the Argo CD Application argocd/gone, which is gone');
    });

    it('is in the observation of the quota', async () => {
      await candidatesOf(trackedBy('team-a'));
      const repositories = { names: ['acme/gitops'], nameOf: (name: string) => name };
      const candidates = {
        kubernetes: cluster().worker,
        repositories: { ...gitHub(), ...repositories },
        pathTemplate: TEMPLATE,
        deliveryNamespaces: EVERYWHERE,
      };
      const seen = await cluster()
        .activities({ candidates })
        .observeQuota({ target: targetOf('hints') });
      expect(seen.candidates.map(({ from }) => from)).toEqual(['argocd', 'template', 'scan']);
      const unconfigured = { ...candidates, repositories: noRepositories };
      const blind = await cluster()
        .activities({ candidates: unconfigured })
        .observeQuota({ target: targetOf('hints') });
      expect(blind.candidates, 'without a repository nobody is asked').toEqual(configured);
    });
  });
}
