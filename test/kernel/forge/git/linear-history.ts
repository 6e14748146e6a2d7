import type { Commit } from './objects.ts';

// Beyond this git itself is quicker than reading one commit after the other.
const STEPS = 300;
// Stands for the parents of a merge commit; no SHA reads so.
const SEVERAL = 'several';

/** How two commits are related whose histories are straight lines down to where they meet. */
export interface StraightRelation {
  readonly mergeBase: string;
  /** The commits that only the head has, oldest first. */
  readonly ahead: readonly string[];
  readonly behind: number;
}

/**
 * The relation of a base and a head without starting git, for the common case: no merge commits on either way down to
 * their merge base. Undefined when it is another case, which is git's to answer.
 */
export async function straightRelation(
  base: string,
  head: string,
  read: (sha: string) => Promise<Commit>,
): Promise<StraightRelation | undefined> {
  const fromHead = new Map<string, number>();
  const fromBase = new Map<string, number>();
  let [left, right]: [string | undefined, string | undefined] = [head, base];
  // Both walk down in step, so that a base far ahead of an old branch costs no more than that distance.
  for (let step = 0; step < STEPS && (left !== undefined || right !== undefined); step += 1) {
    if (left !== undefined) fromHead.set(left, step);
    if (right !== undefined) fromBase.set(right, step);
    for (const met of [left, right]) {
      if (met === undefined) continue;
      const ahead = fromHead.get(met);
      const behind = fromBase.get(met);
      if (ahead === undefined || behind === undefined) continue;
      return { mergeBase: met, ahead: [...fromHead.keys()].slice(0, ahead).reverse(), behind };
    }
    const above: (string | undefined)[] = await Promise.all([onlyParent(left, read), onlyParent(right, read)]);
    if (above.includes(SEVERAL)) return undefined;
    [left, right] = above;
  }
  return undefined;
}

/** The parent of a commit; undefined for a first commit and for none. */
async function onlyParent(
  sha: string | undefined,
  read: (sha: string) => Promise<Commit>,
): Promise<string | undefined> {
  if (sha === undefined) return undefined;
  const { parents } = await read(sha);
  return parents.length > 1 ? SEVERAL : parents[0];
}
