import { describe, expect, it } from 'vitest';
import {
  type AppliedFolder,
  AppliedFolders,
} from '../../../../../../domain/quota-resize/git/locate/delivery/applied-folders.ts';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import { locateInTree, scanQuotas } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { type Files, wholeTree } from '../../../../../layouts/tree.ts';

const quota = (namespace?: string): string =>
  `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n${namespace === undefined ? '' : `  namespace: ${namespace}\n`}spec:\n  hard:\n    limits.memory: 1Gi\n`;
const application = (team: string, path: string, { url = 'https://git.example/gitops', directory = '' } = {}): string =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: ${team}}\nspec:\n  source: {repoURL: ${url}, path: ${path}${directory}}\n  destination: {namespace: ${team}}\n`;
const kustomization = (team: string, path: string): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${team}, namespace: flux-system}\nspec:\n  path: ./${path}\n  targetNamespace: ${team}\n  sourceRef: {kind: GitRepository, name: gitops}\n`;
const built: Files = { 'tenants/kustomization.yaml': 'resources:\n- quota.yaml\n', 'tenants/quota.yaml': quota() };

/** What raising team-a's limit in a checkout does: the changed files, or why not. */
function planned(files: Files): readonly string[] | string {
  const tree = wholeTree(files);
  const wanted = { namespace: 'team-a', name: 'compute', resources: ['limits.memory'] };
  const answer = locateInTree(tree, wanted, { namespaces: ['team-a'] });
  if (answer.kind !== 'located') return answer.kind === 'blocked' ? answer.message : answer.kind;
  const edited = editLocation(tree, answer.location, { 'limits.memory': '2Gi' });
  if (edited.kind !== 'edited') return edited.message;
  expect(answer.location.notProved).toBeUndefined();
  return edited.edits.map(({ path }) => path);
}

describe('a file that several deliveries apply', () => {
  it.each<[string, Files]>([
    [
      'Applications of one path',
      { ...built, 'apps/a.yaml': application('team-a', 'tenants'), 'apps/b.yaml': application('team-b', 'tenants') },
    ],
    [
      'Applications of a folder of plain manifests',
      {
        'tenants/quota.yaml': quota(),
        'apps/a.yaml': application('team-a', 'tenants'),
        'apps/b.yaml': application('team-b', 'tenants'),
      },
    ],
    [
      'Kustomizations of one path',
      {
        ...built,
        'apps/a.yaml': kustomization('team-a', 'tenants'),
        'apps/b.yaml': kustomization('team-b', 'tenants'),
      },
    ],
    [
      'Kustomizations that replace the namespace of the file',
      {
        'tenants/quota.yaml': quota('team-a'),
        'apps/a.yaml': kustomization('team-a', 'tenants'),
        'apps/b.yaml': kustomization('team-b', 'tenants'),
      },
    ],
    [
      'a base that one applies and the overlay of the other includes',
      {
        ...built,
        'overlays/a/kustomization.yaml': 'resources:\n- ../../tenants\n',
        'apps/a.yaml': kustomization('team-a', 'overlays/a'),
        'apps/b.yaml': kustomization('team-b', 'tenants'),
      },
    ],
    [
      'Applications of a folder and of one in it, with all that is below',
      {
        'tenants/sub/quota.yaml': quota(),
        'apps/a.yaml': application('team-a', 'tenants/sub'),
        'apps/b.yaml': application('team-b', 'tenants', { directory: ', directory: {recurse: true}' }),
      },
    ],
    [
      'a Kustomization of a folder and one of a kustomization in it',
      {
        'tenants/sub/kustomization.yaml': 'resources:\n- quota.yaml\n',
        'tenants/sub/quota.yaml': quota(),
        'apps/a.yaml': kustomization('team-a', 'tenants/sub'),
        'apps/b.yaml': kustomization('team-b', 'tenants'),
      },
    ],
  ])('%s is not changed for one of them, and both are named', (name, files) => {
    const refused = planned(files);
    if (name.startsWith('a base')) {
      // The overlay is team-a's alone.
      expect(refused).toEqual(['overlays/a/kustomization.yaml', 'overlays/a/resourcequota-compute-patch.yaml']);
      return;
    }
    expect(refused).toMatch(/is used by 2 quotas/);
    expect(refused).toMatch(/team-a in apps\/a\.yaml/);
    expect(refused).toMatch(/team-b in apps\/b\.yaml/);
    expect(scanQuotas(wholeTree(files))).toMatchObject({ kind: 'scanned' });
  });

  it('is changed where the other one applies another repository, or the same namespace', () => {
    const a = application('team-a', 'tenants');
    const elsewhere = application('team-b', 'tenants', { url: 'https://git.example/other' });
    expect(planned({ ...built, 'apps/a.yaml': a, 'apps/b.yaml': elsewhere })).toEqual(['tenants/quota.yaml']);
  });

  it('is changed where the one above applies only what its kustomization names', () => {
    const files = {
      'tenants/kustomization.yaml': 'resources:\n- other.yaml\n',
      'tenants/other.yaml': quota('other'),
      'tenants/sub/quota.yaml': quota(),
      'apps/a.yaml': kustomization('team-a', 'tenants/sub'),
      'apps/b.yaml': kustomization('team-b', 'tenants'),
    };
    expect(planned(files)).toEqual(['tenants/sub/quota.yaml']);
  });
});

describe('a namespace that is still a variable', () => {
  it("is nobody's: its quota is not placed", () => {
    const files = { 'tenants/quota.yaml': quota('${TENANT}') };
    expect(scanQuotas(wholeTree(files))).toMatchObject({
      quotas: [],
      unlocated: [{ path: 'tenants/quota.yaml', message: expect.stringContaining('${TENANT}') as string }],
    });
  });

  it('of a delivery leaves the quota without a namespace that could be asked for', () => {
    const files = { ...built, 'apps/any.yaml': kustomization('${TENANT}', 'tenants') };
    expect(scanQuotas(wholeTree(files))).toMatchObject({ quotas: [] });
  });
});

describe('what the cluster shows of other deliveries', () => {
  const candidateOf = (from: 'argocd' | 'flux'): SourceCandidate => ({
    from,
    learntFrom: 'the Application argocd/team-a',
    path: 'tenants',
    namespace: 'team-a',
    ...(from === 'argocd' ? { valueFiles: [] } : {}),
  });
  const into = (namespace: string, overrides: boolean): AppliedFolder => ({
    learntFrom: `the Application argocd/${namespace}`,
    path: 'tenants',
    namespace,
    overrides,
    recurses: false,
  });
  const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: ['limits.memory'] };
  const limitOf = (candidate: SourceCandidate, applied: readonly AppliedFolder[]) => {
    const answer = locateQuota(wholeTree(built), wanted, candidate, { applied: AppliedFolders.of(applied) });
    return answer.kind === 'located' ? answer.location.edits['limits.memory'] : answer;
  };

  it.each(['argocd', 'flux'] as const)('counts for a candidate of %s', (from) => {
    const applied = ['team-a', 'team-b'].map((team) => into(team, from === 'flux'));
    expect(limitOf(candidateOf(from), applied)).toMatchObject({
      reason: 'Unplaceable',
      message: expect.stringMatching(/is used by 2 quotas \(.*argocd\/team-a.*argocd\/team-b\)/) as string,
    });
  });

  it('counts for a path that an annotation names', () => {
    const annotation: SourceCandidate = { from: 'annotation', learntFrom: 'an annotation', path: 'tenants' };
    expect(limitOf(annotation, [into('team-a', false), into('team-b', false)])).toMatchObject({
      reason: 'Unplaceable',
    });
  });

  it('changes nothing where it is the own one alone', () => {
    expect(limitOf(candidateOf('flux'), [into('team-a', true)])).toMatchObject({ kind: 'replace' });
  });
});
