import { describe, expect, it } from 'vitest';
import { selectorOf } from '../../../../../../domain/quota-resize/git/locate/kustomize/patch-target.ts';
import type { RenderedQuota } from '../../../../../../domain/quota-resize/git/locate/resolve/rendered-quota.ts';

const selected = (target: Parameters<typeof selectorOf>[0], name: string, namespace = 'team-a') =>
  selectorOf(target)({ names: [{ name, namespace }] } as unknown as RenderedQuota);

describe('the target of a kustomize patch', () => {
  it.each([
    ['(a|a)*b', 'a'.repeat(253)],
    ['(x+x+)+y', 'x'.repeat(253)],
    ['(.*)*(.*)*(.*)*z', 'a'.repeat(253)],
    ['(a|a)*b'.repeat(50), 'a'.repeat(253)],
  ])('%s is matched in linear time', (pattern, name) => {
    expect(selected({ name: pattern }, name)).toBe(false);
    expect(selected({ namespace: pattern }, 'compute', name)).toBe(false);
  });

  it.each([
    ['compute', 'compute', true],
    ['comp', 'compute', false],
    ['comp.*', 'compute', true],
    ['.*', '', true],
    // Syntax of Go that JavaScript does not have.
    ['(?i)COMPUTE', 'compute', true],
    ['(?P<stem>comp)ute', 'compute', true],
    ['[[:alpha:]]+', 'compute', true],
    ['\\Acompute\\z', 'compute', true],
    // As kustomize puts the expression between ^(?: and )$, it can close the group.
    ['com)|(?:ute', 'compute', true],
  ])('%s for %s is %s, as for the regexp package of Go', (name, text, result) => {
    expect(selected({ name }, text)).toBe(result);
  });

  it.each(['(?=a).*', '(a)\\1', '(?<!a)b', '(', 'a{1001}', 'a'.repeat(513)])(
    '%s, which Go does not accept or nobody writes, may match',
    (name) => {
      expect(selected({ name }, 'compute')).toBe('perhaps');
    },
  );
});
