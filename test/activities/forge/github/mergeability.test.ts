import { expect, it } from 'vitest';
import { mergeabilityOf } from '../../../../activities/forge/github/mergeability.ts';

it.each([
  ['clean', 'clean'],
  // GitHub Enterprise with pre-receive hooks.
  ['has_hooks', 'clean'],
  ['unknown', 'computing'],
  ['draft', 'draft'],
  ['dirty', 'conflict'],
  ['behind', 'behind'],
  ['blocked', 'blocked'],
  ['unstable', 'unstable'],
  ['a state that GitHub adds one day', 'unrecognised'],
] as const)('mergeable_state %s is %s', (state, expected) => {
  expect(mergeabilityOf({ draft: false, mergeable: true, mergeable_state: state })).toBe(expected);
});

it('a pull request that cannot be merged is a conflict, whatever else blocks it', () => {
  expect(mergeabilityOf({ draft: false, mergeable: false, mergeable_state: 'blocked' })).toBe('conflict');
});

it('while GitHub computes, what it said before is not called a conflict', () => {
  expect(mergeabilityOf({ draft: false, mergeable: null, mergeable_state: 'dirty' })).toBe('computing');
});

it('a draft is a draft first, also where it cannot be merged', () => {
  expect(mergeabilityOf({ draft: true, mergeable: false, mergeable_state: 'dirty' })).toBe('draft');
});
