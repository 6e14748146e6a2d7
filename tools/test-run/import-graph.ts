import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Each TypeScript file with the files of the checkout that it imports, or names by a URL beside its own; paths from the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** The import graph of all files in some folders of a checkout. Types count: a change of one may be a change of what is done. */
export async function importGraph(root: string, folders: readonly string[]): Promise<ImportGraph> {
  const graph = new Map<string, readonly string[]>();
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true })) {
      if (!entry.endsWith('.ts')) continue;
      const file = join(folder, entry);
      const text = await readFile(join(root, file), 'utf8');
      const imported = [...text.matchAll(/(?:from|import\(|import|new URL\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
        relative(root, join(root, dirname(file), path)),
      );
      graph.set(file, imported);
    }
  }
  return graph;
}

/** The files that import one of `changed`, directly or by way of others, but not by way of what `isEnd` holds for; and `changed`. */
export function importersOf(
  graph: ImportGraph,
  changed: readonly string[],
  isEnd: (file: string) => boolean = () => false,
): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [file, imported] of graph) {
    for (const each of imported) importers.set(each, [...(importers.get(each) ?? []), file]);
  }
  const found = new Set(changed);
  // A set is walked to what is added to it meanwhile.
  for (const file of found) {
    for (const importer of importers.get(file) ?? []) if (!isEnd(importer)) found.add(importer);
  }
  return found;
}
