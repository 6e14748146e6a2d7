import { describe, expect, it } from 'vitest';
import { isObjectName, namespaceArgument, whatThereIs } from '../../../starter/cli/names.ts';

describe('a name', () => {
  it('of a namespace is a label, and of an object labels with dots', () => {
    expect(namespaceArgument('team-a')).toBe('team-a');
    expect(() => namespaceArgument('-a')).toThrow('"-a" is not the name of a namespace, such as team-a');
    expect(() => namespaceArgument('team.a')).toThrow('"team.a" is not the name of a namespace, such as team-a');
    const names = ['compute', 'compute.v2', 'a'.repeat(253), 'Compute', 'a b', 'a/b', '.a', 'a'.repeat(254), ''];
    expect(names.filter(isObjectName)).toEqual(['compute', 'compute.v2', 'a'.repeat(253)]);
  });
});

describe('what there is instead of a name that is not there', () => {
  it('is the name that was meant, where one is near', () => {
    expect(whatThereIs('team-aa', ['team-a', 'web'], 'none')).toBe(': did you mean team-a?');
    expect(whatThereIs('TEAM_A', ['web', 'team-a'], 'none')).toBe(': did you mean team-a?');
  });

  it('is otherwise a few of the names, or that there are none', () => {
    expect(whatThereIs('shop', ['alpha', 'beta'], 'it has none')).toBe(': there is alpha, beta');
    expect(whatThereIs('shop', ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'], '')).toBe(
      ': there is n1, n2, n3, n4, n5 and 2 more',
    );
    expect(whatThereIs('shop', [], 'it has none')).toBe(': it has none');
  });
});
