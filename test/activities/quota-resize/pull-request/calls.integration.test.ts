/** How many requests to GitHub a decision takes, from nothing known to an open pull request. */
import { describe, expect, it } from 'vitest';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { layoutFiles } from '../../../layouts/tree.ts';
import {
  annotated,
  decide,
  change,
  candidates,
  MANIFEST,
  PATH,
  policy,
  requestsFor,
  startGitOps,
  target,
} from '../gitops-fixture.ts';

const FOLDER = 'managed-resources/prod/team-a';

const configMap = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: team-a}\n${more}`;

/** A folder as teams have them: the quota is one of eight files. */
const EIGHT_FILES = {
  [PATH]: MANIFEST,
  [`${FOLDER}/namespace.yaml`]: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n',
  ...Object.fromEntries(
    ['limitrange', 'network', 'roles', 'binding', 'alerts', 'budget'].map((name) => [
      `${FOLDER}/${name}.yaml`,
      configMap(name),
    ]),
  ),
};

/** Looks and opens as one worker that knows nothing, then a second decision as the same worker. */
async function requestsOf(
  files: Readonly<Record<string, string>>,
  where: readonly SourceCandidate[],
  of: { readonly target?: typeof target; readonly resource?: readonly [string, string, string] } = {},
) {
  await using gitops = await startGitOps(files);
  const worker = gitops.worker({ baseBranch: 'main' });
  const about = of.target ?? target;
  const [resource, from, to] = of.resource ?? ['requests.cpu', '2', '3'];
  const run = async () => {
    const before = gitops.forge.requests;
    const decision = decide([change(resource, from, to)]);
    const seen = await worker.activities.observeSource({
      target: about,
      limits: { [resource]: to },
      candidates: where,
    });
    const outcome = await worker.activities.ensurePullRequest({
      target: about,
      decision,
      policy,
      candidatesByQuota: [{ quota: about.quota, candidates: where }],
    });
    // The first look at what was opened comes after it, in the same activity.
    const looks = outcome.kind === 'open' && outcome.seen !== undefined ? 1 : 0;
    return { seen, outcome, requests: gitops.forge.requests - before - looks, tookMs: Date.now() - decision.decidedAt };
  };
  const cold = await run();
  // The second decision would take an open one over.
  await gitops.forge.closePullRequest(1, 'alice');
  return { cold, warm: await run(), endpoints: gitops.forge.endpoints };
}

describe('from cold to an open pull request', () => {
  it('takes four requests where the folder has seven other files, and fewer with tree and files known', async () => {
    const { cold, warm, endpoints } = await requestsOf(EIGHT_FILES, candidates);
    expect(cold.outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1, path: PATH } });
    expect(requestsFor(4, cold.tookMs), 'branch, tree, files, and one that opens').toContain(cold.requests);
    expect(warm.outcome).toMatchObject({ kind: 'open', pullRequest: { number: 2 } });
    expect(requestsFor(2, warm.tookMs), 'branch with the files that moved, and one that opens').toContain(
      warm.requests,
    );
    expect(endpoints).not.toContain('GET /repos/{owner}/{repo}/git/blobs/{file_sha}');
  });

  it('takes four for a kustomization of its own', async () => {
    const files = {
      ...EIGHT_FILES,
      [`${FOLDER}/kustomization.yaml`]: `namespace: team-a\nresources:\n${Object.keys(EIGHT_FILES)
        .map((path) => `  - ${path.slice(FOLDER.length + 1)}\n`)
        .join('')}`,
    };
    const { cold } = await requestsOf(files, candidates);
    expect(cold.outcome).toMatchObject({ kind: 'open', pullRequest: { path: PATH } });
    expect(requestsFor(4, cold.tookMs)).toContain(cold.requests);
  });

  it('takes four for an overlay that shares a base two folders away', async () => {
    const files = {
      'base/kustomization.yaml': 'resources:\n  - quota.yaml\n  - limits.yaml\n',
      'base/quota.yaml':
        'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard:\n    requests.cpu: "2"\n',
      'base/limits.yaml': configMap('limits'),
      ...Object.fromEntries(
        ['team-a', 'team-b', 'team-c'].map((team) => [
          `overlays/${team}/kustomization.yaml`,
          `namespace: ${team}\nresources:\n  - ../../base\n`,
        ]),
      ),
    };
    const { cold, warm } = await requestsOf(files, annotated('overlays/team-a'));
    expect(cold.outcome).toMatchObject({ kind: 'open' });
    expect(requestsFor(4, cold.tookMs)).toContain(cold.requests);
    expect(requestsFor(2, warm.tookMs)).toContain(warm.requests);
  });

  it('takes at most five for an overlay whose base is where no guess finds it', async () => {
    const files = {
      'platform/quotas/kustomization.yaml': 'resources:\n  - quota.yaml\n',
      'platform/quotas/quota.yaml':
        'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard:\n    requests.cpu: "2"\n',
      'teams/team-a/kustomization.yaml': 'namespace: team-a\nresources:\n  - ../../platform/quotas\n',
      'teams/team-b/kustomization.yaml': 'namespace: team-b\nresources:\n  - ../../platform/quotas\n',
    };
    const { cold } = await requestsOf(files, annotated('teams/team-a'));
    expect(cold.outcome).toMatchObject({ kind: 'open' });
    expect(requestsFor(5, cold.tookMs)).toContain(cold.requests);
  });

  it.each([
    // The other chart may be another cluster's: nothing but an annotation says which one is this cluster's.
    ['five', 'helm', 'helm-one', 'charts/one', ['requests.cpu', '2', '3'], 5],
    ['four', 'argo', 'argo-a', 'teams/a', ['pods', '10', '12'], 4],
    ['four', 'flux', 'flux-a', 'tenants/a', ['pods', '10', '12'], 4],
  ] as const)('takes %s in the example of %s', async (_, layout, namespace, path, resource, requests) => {
    const { cold } = await requestsOf(layoutFiles(layout), annotated(path), {
      target: { ...target, namespace },
      resource,
    });
    expect(cold.seen).toMatchObject({ kind: 'found' });
    expect(cold.outcome).toMatchObject({ kind: 'open' });
    expect(requestsFor(requests, cold.tookMs)).toContain(cold.requests);
  });
});

describe('a query for several files', () => {
  it('leaves what it does not give byte for byte to a request for each', async () => {
    await using gitops = await startGitOps({ ...EIGHT_FILES, 'large.yaml': `# ${'x'.repeat(600_000)}\n` });
    const binary = await gitops.forge.pushCommit({ files: { 'large.bin': '\u0000\u0001' } });
    expect(binary).toBeDefined();
    const { github } = gitops.worker({ baseBranch: 'main' });
    const base = await github.files.base();
    if (base.kind !== 'branch') throw new Error(base.kind);
    const entries = (await github.files.entriesBelow(base.treeSha, '')).filter(({ type }) => type === 'blob');
    const before = gitops.forge.requests;
    const texts = await github.files.fileTexts(entries);
    expect(gitops.forge.requests - before, 'the query, the large file and the binary one').toBe(3);
    for (const { path, sha } of entries) {
      expect(texts.get(sha)).toBe(await gitops.forge.readFile('main', path));
    }
  });

  it('is split into queries of a hundred', async () => {
    const files = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`f/${index}.yaml`, `# ${index}\n`]));
    await using gitops = await startGitOps(files);
    const { github } = gitops.worker({ baseBranch: 'main' });
    const base = await github.files.base();
    if (base.kind !== 'branch') throw new Error(base.kind);
    const entries = (await github.files.entriesBelow(base.treeSha, '')).filter(({ type }) => type === 'blob');
    const before = gitops.forge.requests;
    expect((await github.files.fileTexts(entries)).size).toBe(250);
    expect(gitops.forge.requests - before).toBe(3);
    await github.files.fileTexts(entries);
    expect(gitops.forge.requests - before, 'all of them are known').toBe(3);
  });
});
