import { describe, expect, it } from 'vitest';
import type { TreeSnapshot } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { mattersToScan } from '../../../../../../domain/quota-resize/git/locate/scan/inventory.ts';
import { type Scan, scanQuotas } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import {
  OVERLAY_NAMESPACES,
  overlayRepository,
  PLAIN_QUOTAS,
  plainRepository,
} from '../../../../../layouts/large-repositories.ts';
import { ask, type Files } from '../../../../../layouts/tree.ts';

/** Texts that count how often a file is looked at. */
class CountedTexts extends Map<string, string | null> {
  looks = 0;

  override get(path: string): string | null | undefined {
    this.looks += 1;
    return super.get(path);
  }
}

/** A scan as the command line asks for it, and how often it looked at a file. */
function scanned(files: Files): { readonly scan: Scan; readonly looks: number } {
  const paths = Object.keys(files).toSorted();
  const texts = new CountedTexts(Object.entries(files).filter(([path, text]) => mattersToScan(path, text)));
  const tree: TreeSnapshot = { paths, texts };
  const answers = new Map();
  for (;;) {
    const scan = scanQuotas(tree, {}, answers);
    if (scan.kind === 'scanned') return { scan, looks: texts.looks };
    for (const path of scan.paths) texts.set(path, files[path] ?? null);
  }
}

describe('a repository of 21,714 files with plain manifests', () => {
  it('has each of its 1,451 quotas in the file that is its own', () => {
    const { quotas, unlocated } = scanned(plainRepository()).scan;
    expect(unlocated).toEqual([]);
    expect(new Set(quotas.map(({ path }) => path)).size).toBe(PLAIN_QUOTAS);
    expect(quotas.every(({ namespace, path }) => path.endsWith(`/${namespace}/03-resourcequota.yaml`))).toBe(true);
  });

  it('of twice the size takes twice as many looks at files', () => {
    const [once, twice] = [0.1, 0.2].map((size) => scanned(plainRepository(size)).looks);
    expect((twice ?? 0) / (once ?? 0)).toBeLessThan(2.2);
  });
});

describe('an overlay of a hundred namespaces in another folder', () => {
  it('has all of their quotas, and those of a shared component are raised for one namespace each', () => {
    const { quotas, unlocated } = scanned(overlayRepository()).scan;
    expect(unlocated).toEqual([]);
    expect(quotas).toHaveLength(OVERLAY_NAMESPACES);
    expect(quotas.flatMap(({ notProved = [] }) => notProved)).toEqual([]);
    const shared = quotas.filter(({ name }) => name !== 'custom');
    expect(shared.map(({ namespace, edits }) => [namespace, edits['limits.cpu']])).toEqual(
      shared.map(({ namespace, name }) => [
        namespace,
        {
          kind: 'patch',
          at: { path: 'cluster-scope/overlays/prod/emea/live/kustomization.yaml', part: 0, index: 0 },
          name,
          namespace,
          key: 'limits.cpu',
        },
      ]),
    );
  });

  it('of twice the size takes twice as many looks at files', () => {
    const [once, twice] = [50, 100].map((namespaces) => scanned(overlayRepository(namespaces)).looks);
    expect((twice ?? 0) / (once ?? 0)).toBeLessThan(2.2);
  });

  it('has a quota for a worker that reads only what it asks for', () => {
    const wanted = { namespace: 'project-97', name: 'large', cluster: 'live', resources: ['limits.cpu'] };
    const path = 'cluster-scope/overlays/prod/emea/live';
    const { answer } = ask(overlayRepository(), (tree) =>
      locateQuota(tree, wanted, { from: 'argocd', learntFrom: 'an Application', path, valueFiles: [] }),
    );
    expect(answer).toMatchObject({ kind: 'located', location: { namespace: 'project-97', name: 'large' } });
  });
});

describe('kustomizations that include each other, one in the other', () => {
  const chain = (length: number): Files => ({
    ...Object.fromEntries(
      Array.from({ length }, (_value, index) => [`k${index}/kustomization.yaml`, `resources:\n- ../k${index + 1}\n`]),
    ),
    [`k${length}/kustomization.yaml`]: 'namespace: team-a\nresources:\n- quota.yaml\n',
    [`k${length}/quota.yaml`]:
      'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute}\nspec: {hard: {pods: 2}}\n',
  });
  const wanted = { namespace: 'team-a', name: 'compute', cluster: 'live', resources: ['pods'] };
  const located = (length: number) =>
    ask(chain(length), (tree) =>
      locateQuota(tree, wanted, { from: 'argocd', learntFrom: 'an Application', path: 'k0', valueFiles: [] }),
    );

  it('are followed to the quota', () => {
    expect(located(31).answer).toMatchObject({ kind: 'located', location: { path: 'k31/quota.yaml' } });
  });

  it('are not followed without end, each at the price of a request', () => {
    const { answer, read } = located(400);
    expect(answer).toMatchObject({
      kind: 'unlocated',
      message: expect.stringContaining('more than 32 kustomizations') as string,
    });
    expect(read.length).toBeLessThan(40);
  });
});
