/** Raises limits of many quotas; what cannot be raised keeps nothing else from it. */
import { editLocations } from './edit-location.ts';
import { roundedLimits } from './spelling.ts';
import type { ResourceList } from '../../../../kernel/resource-list.ts';
import type { FileEdit, QuotaLocation, TreeSnapshot } from './location.ts';

export interface Raise {
  readonly location: QuotaLocation;
  readonly resource: string;
  readonly limit: string;
}

export interface RaisedTogether {
  readonly kind: 'raised';
  /** All changed files, by path. */
  readonly edits: readonly FileEdit[];
  readonly problems: readonly string[];
}

/** The files with all raises, and a sentence for each that is not possible. */
export function raiseTogether(tree: TreeSnapshot, raises: readonly Raise[]): RaisedTogether {
  const texts = new Map(tree.texts);
  const changed = new Set<string>();
  const problems = raise({ paths: tree.paths, texts, changed }, raises);
  const edits = [...changed].map((path) => ({
    path,
    before: tree.texts.get(path) ?? null,
    after: texts.get(path) ?? '',
  }));
  return { kind: 'raised', edits: edits.toSorted((a, b) => (a.path < b.path ? -1 : 1)), problems };
}

interface ChangingTree {
  readonly paths: readonly string[];
  readonly texts: Map<string, string | null>;
  readonly changed: Set<string>;
}

function writable(tree: TreeSnapshot, location: QuotaLocation, limits: ResourceList): ResourceList {
  return { ...limits, ...roundedLimits(tree, location, limits) };
}

/** Makes all raises at once; if that fails, bisects to find the one that fails. Returns the problems. */
function raise(tree: ChangingTree, raises: readonly Raise[]): readonly string[] {
  const together = [...Map.groupBy(raises, ({ location }) => location)].map(([location, ofLocation]) => ({
    location,
    limits: writable(tree, location, Object.fromEntries(ofLocation.map(({ resource, limit }) => [resource, limit]))),
  }));
  const result = editLocations(tree, together);
  if (result.kind === 'edited') {
    for (const { path, after } of result.edits) {
      tree.texts.set(path, after);
      tree.changed.add(path);
    }
    return [];
  }
  if (raises.length === 1) {
    return [result.message];
  }
  const half = Math.ceil(raises.length / 2);
  return [...raise(tree, raises.slice(0, half)), ...raise(tree, raises.slice(half))];
}
