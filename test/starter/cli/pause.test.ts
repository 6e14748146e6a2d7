import { describe, expect, it } from 'vitest';
import { isKnownKey, scopeOf } from '../../../starter/cli/pause.ts';

describe('what is paused', () => {
  it('is a quota where no controller is named, else a target of it, or the whole controller', () => {
    expect(scopeOf('team-a/compute', {})).toEqual({
      kind: 'target',
      controller: 'quota-resize',
      name: 'team-a/compute',
    });
    expect(scopeOf('nights', { controller: 'lights-out' })).toEqual({
      kind: 'target',
      controller: 'lights-out',
      name: 'nights',
    });
    expect(scopeOf(undefined, { controller: 'lease-gc' })).toEqual({ kind: 'controller', controller: 'lease-gc' });
    expect(scopeOf(undefined, { namespace: 'team-a' })).toEqual({ kind: 'namespace', namespace: 'team-a' });
  });

  it.each<[string | undefined, Parameters<typeof scopeOf>[1], string]>([
    [undefined, {}, 'name one thing: a target such as team-a/compute, --namespace NAME, or --controller NAME'],
    ['team-a/compute', { namespace: 'team-a' }, 'name one thing'],
    [undefined, { namespace: 'team-a', controller: 'lights-out' }, 'name one thing'],
    ['team-a', {}, '"team-a" is not <namespace>/<quota>, such as team-a/compute'],
    ['team-a/my compute', {}, '"team-a/my compute" is not <namespace>/<quota>'],
    [undefined, { controller: 'nobody' }, '"nobody" is no controller: there is quota-resize, '],
    ['team-a/compute', { controller: 'lights-out' }, '"team-a/compute" is not the name of a schedule'],
    ['team-a/compute', { controller: 'lease-gc' }, 'lease-gc has no targets: use --controller lease-gc alone'],
    [undefined, { controller: 'github-budget' }, 'several clusters share a budget, so it is paused in Temporal'],
  ])('is not said by %j with %j', (target, flags, message) => {
    expect(() => scopeOf(target, flags)).toThrow(message);
  });
});

describe('a key of the ConfigMap', () => {
  it.each([
    'target_quota-resize_team-a_compute',
    'target_lights-out_dev-nights',
    'namespace_team-a',
    'controller_lease-gc',
    `target_quota-resize_team-a_${'q'.repeat(209)}_0123456789abcdef`,
  ])('stops what it names: %s', (key) => {
    expect(isKnownKey(key)).toBe(true);
  });

  it.each([
    'target_quota-resize_team-a.compute',
    'target_lights-out_team-a_dev-nights',
    'target_lease-gc_test',
    'controller_github-budget',
    'controller_quotaresize',
    'namespace-team-a',
  ])('stops nothing: %s', (key) => {
    expect(isKnownKey(key)).toBe(false);
  });
});
