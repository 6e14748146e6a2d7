import { describe, expect, it } from 'vitest';
import { inVainStatus, keptInVain, readInVain } from '../../../../domain/node-group/api/in-vain.ts';
import { type InVain, inVainKey } from '../../../../domain/node-group/model/in-vain.ts';
import { inVainChange, withChange } from '../../../../domain/node-group/status/in-vain-change.ts';
import { NOW } from '../builders.ts';

function recordOf(kind: string, over: Partial<InVain> = {}): InVain {
  const times = { at: NOW, waited: NOW };
  return {
    instanceType: 'small',
    kind,
    pod: 'a/b',
    machine: 'm',
    promise: 'p',
    tries: 1,
    isFirm: true,
    ...times,
    ...over,
  };
}

const many = (count: number): readonly InVain[] => Array.from({ length: count }, (_, at) => recordOf(`k${at}`));

describe('what is written of nodes that came in vain', () => {
  it('is what is new, not as it was, or over', () => {
    const before = [recordOf('a'), recordOf('b', { isFirm: false }), recordOf('c')];
    const wanted = [recordOf('a'), recordOf('b', { tries: 2, isFirm: false }), recordOf('d')];
    const change = inVainChange(before, wanted);
    expect(change).toEqual({ found: [wanted[1], wanted[2]], over: ['small c'] });
    expect(change === null ? [] : withChange(before, change).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual(
      wanted,
    );
    expect(inVainChange(wanted, wanted.toReversed())).toBeNull();
  });

  it('comes a part at a time to all of it, also where a part was written before', () => {
    let present: readonly InVain[] = many(100).map((record) => ({ ...record, instanceType: 'large' }));
    const wanted = many(100);
    let passes = 0;
    for (let change = inVainChange(present, wanted); change !== null; change = inVainChange(present, wanted)) {
      present = withChange(withChange(present, change), change);
      passes += 1;
    }
    expect(present.map(inVainKey).toSorted()).toEqual(wanted.map(inVainKey).toSorted());
    expect(passes).toBe(13);
  });

  it('is read as it is in the status', () => {
    const record = recordOf('a', { at: NOW + 1_000, waited: NOW + 3_600_000, tries: 2, isFirm: false });
    const written = inVainStatus(record);
    expect(keptInVain.strict().parse(written)).toEqual(written);
    expect(readInVain(written)).toEqual(record);
  });
});
