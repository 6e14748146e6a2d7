import { describe, expect, it } from 'vitest';
import { readAhead } from '../../../../activities/quota-resize/source/read-ahead.ts';

const teams = (count: number) =>
  Array.from({ length: count }, (_, index) => `overlays/team-${index}/kustomization.yaml`);

describe('what is read along with a kustomization', () => {
  it('is every kustomization of a tree that has few, and what lies in shared folders', () => {
    const all = ['README.md', 'apps/web/deployment.yaml', 'base/quota.yaml', 'platform/Common/limits.yml', ...teams(3)];
    expect(readAhead(all, ['overlays/team-0/kustomization.yaml'])).toEqual([
      ...teams(3),
      'base/quota.yaml',
      'platform/Common/limits.yml',
    ]);
  });

  it('is little, however large the tree is', () => {
    const all = [...teams(1000), ...Array.from({ length: 500 }, (_, index) => `base/${index}.yaml`)];
    const ahead = readAhead(all, ['overlays/team-0/kustomization.yaml']);
    expect(ahead).toHaveLength(60);
    expect(ahead.every((path) => path.startsWith('base/'))).toBe(true);
  });

  it('is nothing for plain manifests', () => {
    expect(readAhead(['base/quota.yaml', ...teams(1)], ['base/quota.yaml'])).toEqual([]);
  });
});
