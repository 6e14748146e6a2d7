/** The worker's activity on a repository, and the command line on a checkout of it: where a quota is, its edit, or the problem. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findQuotaFile } from '../../../../activities/quota-resize/source/quota-file.ts';
import type { ResourceList } from '../../../../domain/kernel/resource-list.ts';
import { configuredCandidates } from '../../../../domain/quota-resize/git/locate/candidate/configured-candidates.ts';
import { editLocation, limitsInGit } from '../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import { defaultPathTemplate } from '../../../../domain/quota-resize/git/locate/candidate/path-template.ts';
import { locateInTree, scanQuotas, type ScanOptions } from '../../../../domain/quota-resize/git/locate/scan/scan.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { generateCheckout, shapeNames } from '../../../layouts/generate.ts';
import { ask, type Files, layoutFiles, wholeTree } from '../../../layouts/tree.ts';
import { startGitOps, type Worker } from '../gitops-fixture.ts';
import { partOf } from '../../../kernel/long.ts';

/** More than every limit of the examples. */
const MORE = '1000Gi';

interface Asked {
  readonly namespace: string;
  readonly name: string;
  readonly resources: readonly string[];
}

interface Repository {
  readonly files: Files;
  readonly options: ScanOptions;
  /** What the cluster says besides, by namespace: the Application or the Kustomization that the quota's marks name. */
  readonly applied?: Readonly<Record<string, SourceCandidate>>;
  /** Quotas that must be among those that are compared. */
  readonly has: readonly string[];
}

const argo = (namespace: string, app: string, more: Partial<SourceCandidate>): SourceCandidate => ({
  from: 'argocd',
  learntFrom: `the Argo CD Application argocd/${app} (annotation argocd.argoproj.io/tracking-id)`,
  repository: 'acme/gitops',
  namespace,
  ...more,
});

const repositories: Readonly<Record<string, Repository>> = {
  plain: {
    files: layoutFiles('plain'),
    options: { cluster: 'prod', template: 'namespaces/{{ .Cluster }}/{{ .Namespace }}' },
    has: ['team-a/compute', 'team-c/compute', 'team-d/objects', 'team-e/compute', 'team-g/compute'],
  },
  kustomize: {
    files: layoutFiles('kustomize'),
    options: { cluster: 'prod' },
    has: [
      'plain/compute',
      'strategic/compute',
      'inline/compute',
      'merge/team-compute',
      'opaque/compute',
      'large-a/compute',
    ],
  },
  helm: {
    files: layoutFiles('helm'),
    options: { cluster: 'prod' },
    has: ['helm-one/compute', 'helm-keys/compute', 'many-b/compute', 'red/compute', 'helm-computed/compute'],
  },
  argo: {
    files: layoutFiles('argo'),
    options: { cluster: 'prod' },
    applied: {
      'argo-a': argo('argo-a', 'team-a', { path: 'teams/a', valueFiles: [] }),
      'argo-b': argo('argo-b', 'team-b', { path: 'charts/quota', valueFiles: ['teams/b.yaml'] }),
    },
    has: ['argo-a/compute', 'argo-b/team-b-compute'],
  },
  flux: {
    files: layoutFiles('flux'),
    options: { cluster: 'prod' },
    applied: {
      'flux-a': {
        from: 'flux',
        learntFrom: 'the Flux Kustomization flux-system/team-a (label kustomize.toolkit.fluxcd.io/name)',
        repository: 'acme/gitops',
        ref: 'main',
        path: 'tenants/a',
        namespace: 'flux-a',
      },
      'flux-b': {
        from: 'flux',
        learntFrom: 'the Flux HelmRelease flux-b/team-b (label helm.toolkit.fluxcd.io/name)',
        repository: 'acme/gitops',
        ref: 'main',
        path: 'charts/quota',
        release: { name: 'team-b', namespace: 'flux-b', path: 'clusters/prod' },
      },
    },
    has: ['flux-a/compute', 'flux-b/compute'],
  },
  'every shape': {
    files: generateCheckout(20261121, { quotas: shapeNames.length, others: 5 }).files,
    options: { cluster: 'prod' },
    has: [],
  },
};

/** An answer in the same words, whoever gives it. */
type Answer =
  | { readonly path: string; readonly line: number; readonly inGit: ResourceList; readonly edits: readonly object[] }
  | { readonly reason: string; readonly message: string };

/** Without the name of the repository, and without the words for who applies the quota. */
function plainMessage(message: string): string {
  return message
    .replaceAll('acme/gitops at main: ', '')
    .replaceAll('acme/gitops at main, ', '')
    .replaceAll(/by (?:the )?(?:Argo CD |Flux )?(?:Application|Kustomization|HelmRelease) [^:]*: /g, '');
}

function ofCheckout({ files, options }: Repository, { namespace, name, resources }: Asked): Answer {
  const { answer } = ask(files, (tree) => locateInTree(tree, { namespace, name, resources }, options));
  if (answer.kind === 'blocked') return { reason: answer.reason, message: plainMessage(answer.message) };
  const { location } = answer;
  const edited = editLocation(wholeTree(files), location, Object.fromEntries(resources.map((key) => [key, MORE])));
  return edited.kind === 'edited'
    ? { path: location.path, line: location.line, inGit: limitsInGit(location, resources), edits: edited.edits }
    : { reason: 'Unplaceable', message: `${location.path}: ${edited.message}` };
}

async function ofWorker(
  worker: Worker,
  { options, applied }: Repository,
  { namespace, name, resources }: Asked,
  current: ResourceList | undefined,
): Promise<Answer> {
  const target = { cluster: options.cluster ?? 'prod', namespace, quota: name };
  const limits = Object.fromEntries(resources.map((key) => [key, MORE]));
  const own = applied?.[namespace];
  const candidates = [
    ...(own === undefined ? [] : [own]),
    ...configuredCandidates(options.template ?? defaultPathTemplate, target),
  ];
  const seen = await worker.activities.observeSource({
    target,
    limits,
    candidates,
    ...(current === undefined ? {} : { current }),
  });
  if (seen.kind === 'blocked') return { reason: seen.reason, message: plainMessage(seen.message) };
  const file = await findQuotaFile(worker.repositories, target, limits, { candidates, current });
  if (file.kind === 'blocked') throw new Error(`found by the activity, and then not: ${file.message}`);
  expect(seen.paths).toEqual(file.edits.map(({ path }) => path));
  return { path: seen.path, line: seen.line, inGit: seen.limits, edits: file.edits };
}

/** Every quota that the checkout has, each of its limits alone and all of them together. */
function askedOf({ files, options }: Repository): readonly Asked[] {
  const scan = scanQuotas(wholeTree(files), options);
  if (scan.kind === 'missingFiles') throw new Error(`everything is known, and ${scan.paths.join(', ')} is asked for`);
  const keys = new Map<string, { namespace: string; name: string; resources: string[] }>();
  for (const { namespace, name, values } of scan.quotas) {
    keys.set(`${namespace}/${name}`, { namespace, name, resources: Object.keys(values).toSorted() });
  }
  for (const { namespace, name } of scan.unlocated) {
    if (namespace !== null && name !== null && !keys.has(`${namespace}/${name}`)) {
      keys.set(`${namespace}/${name}`, { namespace, name, resources: ['pods', 'requests.cpu'] });
    }
  }
  return [...keys.values()].flatMap((quota) => [
    quota,
    ...(quota.resources.length < 2 ? [] : quota.resources.map((key) => ({ ...quota, resources: [key] }))),
    // One that nobody sets.
    { ...quota, resources: ['count/jobs.batch'] },
  ]);
}

describe('the worker and the command line', () => {
  it.each(Object.entries(repositories))('answer the same of the repository %s', async (_name, repository) => {
    await using gitops = await startGitOps(repository.files);
    const worker = gitops.worker({ baseBranch: 'main' });
    const all = askedOf(repository);
    expect(all.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(
      expect.arrayContaining([...repository.has]),
    );
    const differences: object[] = [];
    for (const asked of partOf(all, 16)) {
      const local = ofCheckout(repository, asked);
      // A cluster that has what Git says changes nothing.
      const views = 'inGit' in local ? [undefined, local.inGit] : [undefined];
      for (const current of views) {
        const remote = await ofWorker(worker, repository, asked, current);
        if (!isDeepStrictEqual(remote, local)) differences.push({ asked, current, remote, local });
      }
    }
    expect(differences).toEqual([]);
  });
});
