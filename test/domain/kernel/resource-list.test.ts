import { describe, expect, it } from 'vitest';
import {
  addAmounts,
  addLists,
  amountsIn,
  equalLists,
  exceededKeys,
  maskList,
  maxAmounts,
  maxLists,
  multiplyList,
  negativeKeys,
  quantityIn,
  readableList,
  resourceEntries,
  resourceList,
  subtractLists,
  subtractListsToZero,
  withoutZeros,
} from '../../../domain/kernel/resource-list.ts';

describe('a resource list', () => {
  it('adds over the keys of both and prints canonical amounts in one order', () => {
    const sum = addLists({ memory: '512Mi', cpu: '100m' }, { memory: '512Mi', pods: '1' });
    expect(JSON.stringify(sum)).toBe('{"cpu":"100m","memory":"1Gi","pods":"1"}');
  });

  it('becomes negative where only the subtracted list has a key', () => {
    expect(subtractLists({ cpu: '1' }, { cpu: '400m', pods: '2' })).toEqual({ cpu: '600m', pods: '-2' });
    expect(subtractListsToZero({ cpu: '1' }, { cpu: '2', pods: '2' })).toEqual({ cpu: '0', pods: '0' });
    expect(negativeKeys({ cpu: '-1n', pods: '0' })).toEqual(['cpu']);
  });

  it('takes the greater amount by value, and a key of either', () => {
    expect(maxLists({ cpu: '900m', pods: '-1' }, { cpu: '1', memory: '1Gi' })).toEqual({
      cpu: '1',
      memory: '1Gi',
      pods: '-1',
    });
  });

  it('never calls a key exceeded that one of the lists lacks', () => {
    expect(exceededKeys({ cpu: '2', memory: '1', pods: '9' }, { cpu: '1500m', memory: '1' })).toEqual(['cpu']);
  });

  it('is equal by value, not by text', () => {
    expect(equalLists({ cpu: '1' }, { cpu: '1000m' })).toBe(true);
    expect(equalLists({ cpu: '1' }, { cpu: '1', pods: '0' })).toBe(false);
    expect(equalLists({ cpu: '0' }, { pods: '0' })).toBe(false);
  });

  it('keeps what can be read beside what cannot', () => {
    const list = { cpu: '1', 'count/jobs.batch': '1e1002', pods: 'many' };
    expect(readableList(list)).toEqual({ cpu: '1' });
    expect(maskList(list, ['cpu'])).toEqual({ cpu: '1' });
  });

  it('is filtered, multiplied and looked up by key', () => {
    expect(maskList({ cpu: '1', memory: '1Gi' }, ['memory', 'pods'])).toEqual({ memory: '1Gi' });
    expect(withoutZeros({ cpu: '0', memory: '0Gi', pods: '1' })).toEqual({ pods: '1' });
    expect(multiplyList({ cpu: '500m', memory: '1.5Gi' }, 10)).toEqual({ cpu: '5', memory: '15Gi' });
    expect(quantityIn({}, 'constructor')).toEqual({ nano: 0n, format: 'DecimalSI' });
    expect(resourceEntries({ pods: '3', cpu: '1' }).map(([key]) => key)).toEqual(['cpu', 'pods']);
  });

  it('says the same in numbers as in texts', () => {
    const [a, b] = [
      { cpu: '100m', memory: '512Mi', pods: '0' },
      { cpu: '1', pods: '-1', memory: '512Mi', storage: '1k' },
    ];
    expect(resourceList(addAmounts(amountsIn(a), amountsIn(b)))).toEqual(addLists(a, b));
    expect(resourceList(maxAmounts(amountsIn(a), amountsIn(b)))).toEqual(maxLists(a, b));
    expect([...addAmounts(amountsIn(undefined), amountsIn(b)).keys()]).toEqual(Object.keys(b));
  });
});
