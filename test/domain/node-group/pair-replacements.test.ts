import { describe, expect, it } from 'vitest';
import { machinesInPlace } from '../../../domain/node-group/pair-replacements.ts';

const nodes = ['a', 'b', 'c'].map((uid) => ({ uid, instanceType: uid === 'c' ? 'large' : 'small' }));
const small = (name: string) => ({ name, instanceType: 'small' });

describe('the machine in place of a node', () => {
  it('is the one that says so, also where that of the node before was not made', () => {
    const machines = [{ ...small('m'), replaces: 'b' }];
    expect([...machinesInPlace(nodes, machines)]).toEqual([['b', machines[0]]]);
  });

  it('is told by order and type among the others, where an attempt of an earlier version has made some of them', () => {
    const machines = [small('m'), { ...small('n'), replaces: 'a' }, { name: 'l', instanceType: 'large' }];
    const names = [...machinesInPlace(nodes, machines)].map(([uid, { name }]) => [uid, name]);
    expect(names).toEqual([
      ['a', 'n'],
      ['b', 'm'],
      ['c', 'l'],
    ]);
  });

  it('is told by order and type where no machine says for which node it came', () => {
    const machines = [{ name: 'l', instanceType: 'large' }, small('m')];
    const names = [...machinesInPlace(nodes, machines)].map(([uid, { name }]) => [uid, name]);
    expect(names).toEqual([
      ['a', 'm'],
      ['c', 'l'],
    ]);
  });
});
