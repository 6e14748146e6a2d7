import { describe, expect, it } from 'vitest';
import { mergeMethods } from '../../../../domain/kernel/forge.ts';
import { chosenMethod } from '../../../../domain/quota-resize/pull-request/merge-method.ts';

const all = mergeMethods;

describe('the method of a merge', () => {
  it.each([
    ['squash', all, all],
    ['rebase', ['merge', 'rebase'], all],
    ['rebase', all, ['rebase', 'merge']],
    ['merge', all, ['merge']],
  ] as const)('is %s where nobody chose, the first that is allowed', (method, byRepository, byRules) => {
    expect(chosenMethod(undefined, { byRepository, byRules }, 'main')).toEqual({ kind: 'method', method });
  });

  it('is the one that was chosen', () => {
    expect(chosenMethod('merge', { byRepository: all, byRules: all }, 'main')).toEqual({
      kind: 'method',
      method: 'merge',
    });
  });

  it.each([
    [['squash'], all, 'the repository allows squash only'],
    [all, ['squash', 'rebase'], 'the rules of live allow squash and rebase only'],
  ] as const)('is none where the chosen one is not allowed, and it is said where', (byRepository, byRules, where) => {
    expect(chosenMethod('merge', { byRepository, byRules }, 'live')).toEqual({
      kind: 'none',
      why: `github.mergeMethod (GITHUB_MERGE_METHOD) is merge, and ${where}; change the setting of Headroom, or allow merge in the settings of the repository (General, Pull Requests) and in the rules of live`,
    });
  });

  it('is none where repository and rules have none in common', () => {
    const nothing = chosenMethod(undefined, { byRepository: ['squash'], byRules: [] }, 'main');
    expect(nothing).toMatchObject({
      why: expect.stringMatching(
        /repository allow squash only, and the rules of main allow no method; allow/,
      ) as string,
    });
  });
});
