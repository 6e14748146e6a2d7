import { describe, expect, it } from 'vitest';
import { usageArgument } from '../../../../starter/cli/quota-usage/argument.ts';

describe('the argument of headroom usage', () => {
  it('is a namespace, or one quota of it', () => {
    expect(usageArgument('team-a')).toEqual({ namespace: 'team-a', quota: null });
    expect(usageArgument('team-a/compute')).toEqual({ namespace: 'team-a', quota: 'compute' });
  });

  it.each(['', '/', '/compute', 'team-a/', 'team-a/compute/x'])('is not %j', (text) => {
    expect(() => usageArgument(text)).toThrow(
      `"${text}" is neither <namespace> nor <namespace>/<quota>, such as team-a/compute`,
    );
  });
});
