import { describe, expect, it } from 'vitest';
import type { TreeEntry } from '../../../../activities/forge/forge.ts';
import { GitObjects, wholeTreeKey } from '../../../../activities/forge/github/repository.ts';

function file(path: string, sha: string, mode = '100644'): TreeEntry {
  return { path, mode, type: 'blob', sha, size: 1 };
}

describe('the listing of a tree', () => {
  it('shares with that of another tree what both have, and nothing else', () => {
    const objects = new GitObjects();
    const first = [file('a', 'sha-1'), file('b', 'sha-2'), file('c', 'sha-3'), file('gone', 'sha-4')];
    objects.trees.set(wholeTreeKey('tree-1'), first);
    const listed = [file('a', 'sha-1'), file('b', 'sha-5'), file('c', 'sha-3', '100755'), file('new', 'sha-4')];
    const shared = objects.sharing(listed, 'tree-1');
    expect(shared).toEqual(listed);
    expect(shared.map((entry) => first.includes(entry))).toEqual([true, false, false, false]);
  });

  it('is as it came where the other tree is not known any more', () => {
    const listed = [file('a', 'sha-1')];
    expect(new GitObjects().sharing(listed, 'tree-1')).toEqual(listed);
  });
});
