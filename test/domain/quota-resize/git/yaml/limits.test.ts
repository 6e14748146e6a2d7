import { describe, expect, it } from 'vitest';
import { valuesInGit } from '../../../../../domain/quota-resize/git/yaml/limits.ts';

const target = { namespace: 'team-a', name: 'compute' };
const head = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n';

function withHard(hard: string): string {
  return `${head}  hard:\n${hard}`;
}

describe('valuesInGit', () => {
  it('reads the limits as they are written', () => {
    const text = withHard('    requests.cpu: 2000m\n    pods: &p 3\n    services: *p\n    secrets: "{{ x }}"\n');
    expect(valuesInGit(text, target)).toEqual({ 'requests.cpu': '2000m', pods: '3', services: '3' });
  });

  it('answers under the names that were asked for', () => {
    expect(valuesInGit(withHard('    storage: 10Gi\n'), target, ['requests.storage', 'pods'])).toEqual({
      'requests.storage': '10Gi',
    });
  });

  it('reads what merges and aliases bring', () => {
    const text = `x: &hard {pods: 3, services: 1}\n${head}  hard:\n    <<: *hard\n    services: 2\n`;
    expect(valuesInGit(text, target)).toEqual({ services: '2', pods: '3' });
    expect(valuesInGit(`x: &hard {pods: 3}\n${head}  hard: *hard\n`, target)).toEqual({ pods: '3' });
  });

  it('is empty when the quota is not in the text', () => {
    expect(valuesInGit('x: 1', target)).toEqual({});
  });
});
