import { describe, expect, it } from 'vitest';
import {
  isEmptySelector,
  type LabelSelector,
  matchesSelector,
  selectorProblems,
} from '../../../domain/kernel/label-selector.ts';

type Operator = NonNullable<LabelSelector['matchExpressions']>[number]['operator'];
const requiring = (operator: Operator, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'env', operator, values }],
});

describe('a selector', () => {
  it.each<[Operator, string[], boolean, boolean, boolean]>([
    ['In', ['dev', 'test'], true, false, false],
    ['NotIn', ['dev', 'test'], false, true, true],
    ['Exists', [], true, true, false],
    ['DoesNotExist', [], false, false, true],
    ['In', [], false, false, false],
    ['NotIn', [], false, false, false],
  ])('of %s %j matches env=dev: %s, env=prod: %s, no env: %s', (operator, values, dev, prod, none) => {
    const selector = requiring(operator, ...values);
    expect(matchesSelector(selector, { env: 'dev' })).toBe(dev);
    expect(matchesSelector(selector, { env: 'prod' })).toBe(prod);
    expect(matchesSelector(selector, { other: 'dev' })).toBe(none);
  });

  it('matches where all of its parts do', () => {
    const selector = { matchLabels: { team: 'a' }, ...requiring('Exists') };
    expect(matchesSelector(selector, { team: 'a', env: '' })).toBe(true);
    expect(matchesSelector(selector, { team: 'a' })).toBe(false);
    expect(matchesSelector(selector, { team: 'b', env: '' })).toBe(false);
    expect(matchesSelector({ matchLabels: { toString: 'a' } }, {})).toBe(false);
  });

  it('that is absent matches nothing, and an empty one everything', () => {
    const empty = [undefined, null, {}, { matchLabels: {} }, { matchExpressions: [] }];
    expect(empty.map(isEmptySelector)).toEqual([true, true, true, true, true]);
    const matched = empty.map((selector) => matchesSelector(selector, { env: 'dev' }));
    expect(matched).toEqual([false, false, true, true, true]);
    expect(isEmptySelector(requiring('Exists'))).toBe(false);
    expect(isEmptySelector({ matchLabels: { a: '' } })).toBe(false);
  });

  it('says what Kubernetes would refuse in it', () => {
    const selector: LabelSelector = {
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'b', operator: 'NotIn', values: ['x'] },
        { key: 'c', operator: 'Exists', values: ['x'] },
      ],
    };
    expect(selectorProblems(selector, 'spec.excludeLabels')).toEqual([
      { field: 'spec.excludeLabels.matchExpressions[0].values', message: 'In needs at least one value' },
      { field: 'spec.excludeLabels.matchExpressions[2].values', message: 'Exists takes no values' },
    ]);
    expect(selectorProblems(undefined, 'spec.namespaceSelector')).toEqual([]);
  });
});
