import { describe, expect, it } from 'vitest';
import { formatClaims, PLAN_CLAIMS } from '../../../domain/node-group/plan-claim.ts';
import { MOST_BYTES, sized } from '../../../domain/node-group/plan-lease-size.ts';
import { NO_WISHES, parseWishes, PLAN_WISHES } from '../../../domain/node-group/plan-wishes.ts';
import { NOW } from './builders.ts';

const KIB = 1_024;

/** What is written of a group, of about so many bytes. */
function wishes(group: string, bytes: number) {
  return { ...NO_WISHES, group, uid: `uid-${group}`, requested: [{ node: 'n'.repeat(bytes), by: 'alice' }] };
}

function claim(group: string, bytes: number) {
  return { decision: `p/${group}`, group, at: NOW, machines: {}, givenUp: [], removals: ['n'.repeat(bytes)] };
}

const annotations = (said: readonly object[], claims: readonly ReturnType<typeof claim>[] = []) => ({
  [PLAN_WISHES]: JSON.stringify(said),
  [PLAN_CLAIMS]: formatClaims({ plan: 'p', claims }),
});

/** The groups of which something is left; null where it is refused. */
function left(all: Readonly<Record<string, string>>, group: string): readonly string[] | null {
  const fit = sized(all, group);
  return fit.kind === 'fits' ? parseWishes(fit.annotations[PLAN_WISHES]).map((each) => each.group) : null;
}

describe('the Lease of plans', () => {
  it('is written as it is up to 192 KiB', () => {
    const all = annotations([wishes('a', 90 * KIB), wishes('b', 90 * KIB)]);
    expect(sized(all, 'b')).toEqual({ kind: 'fits', annotations: all, dropped: [] });
  });

  it('takes nothing more of the group whose part is too large, and says which take most', () => {
    const all = annotations([wishes('huge', 150 * KIB), wishes('b', 40 * KIB), wishes('c', 10 * KIB)]);
    expect(sized(all, 'huge')).toEqual({
      kind: 'tooLarge',
      detail:
        'the annotations of the Lease of plans would take 201 KiB, and may take 192 KiB; most is of huge (151 KiB), b (41 KiB) and c (11 KiB)',
    });
  });

  it('takes what the others write, without what was said of the nodes of that group', () => {
    const all = annotations([wishes('huge', 150 * KIB), wishes('b', 40 * KIB)], [claim('c', 10 * KIB)]);
    for (const group of ['b', 'c']) {
      expect(left(all, group)).toEqual(['b']);
      expect(sized(all, group)).toMatchObject({ dropped: ['huge'] });
    }
  });

  it('drops as little as is needed, the largest part first', () => {
    const all = annotations([
      wishes('a', 60 * KIB),
      wishes('b', 80 * KIB),
      wishes('c', 30 * KIB),
      wishes('d', 40 * KIB),
    ]);
    expect(left(all, 'd')).toEqual(['a', 'c', 'd']);
    expect(left(all, 'a')).toEqual(['a', 'c', 'd']);
  });

  it('keeps claims, of whose machines nobody would know otherwise', () => {
    const all = annotations([wishes('b', KIB)], [claim('huge', MOST_BYTES)]);
    expect(left(all, 'b')).toBeNull();
    expect(left(annotations([wishes('b', KIB)], [claim('c', 10 * KIB)]), 'c')).toEqual(['b']);
  });

  it('is refused where somebody else has filled it, and counts bytes', () => {
    const foreign = { ...annotations([wishes('a', KIB)]), note: 'ä'.repeat(100 * KIB) };
    expect(sized(foreign, 'a')).toMatchObject({ kind: 'tooLarge' });
    expect(left({ ...foreign, note: 'a'.repeat(100 * KIB) }, 'a')).toEqual(['a']);
  });
});
