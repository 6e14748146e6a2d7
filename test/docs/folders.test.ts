/** The list of folders: it has every folder of the product, and names only files that are there. */
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, ROOT } from './reading.ts';

/** One entry of the list, which may be about several folders. */
interface FolderEntry {
  readonly folders: readonly string[];
  /** The files that it names, without their folder. */
  readonly files: readonly string[];
}

function entriesIn(page: string): readonly FolderEntry[] {
  const texts = page.split(/\n(?=- )|\n\n/).filter((text) => text.startsWith('- '));
  return texts.map((text) => {
    const end = text.search(/:\s/);
    const named = (part: string, pattern: RegExp): string[] => [...part.matchAll(pattern)].map(([, name = '']) => name);
    return {
      folders: named(text.slice(0, end), /`([\w/-]+)\/`/g),
      files: named(text.slice(end), /`([\w./-]+\.ts)`/g),
    };
  });
}

describe('the list of folders', () => {
  const entries = entriesIn(read('docs/folders.md'));

  it('has every folder of the product with code in it once, and no other', () => {
    const files = globSync('{activities,domain,platform,starter,worker,workflows}/**/*.ts', { cwd: ROOT });
    const folders = [...new Set(files.map((file) => dirname(file)))];
    expect(entries.flatMap((entry) => entry.folders).toSorted()).toEqual(folders.toSorted());
  });

  it('names at least one file in every entry, and only files that are in its folder', () => {
    expect(entries.filter(({ files }) => files.length === 0)).toEqual([]);
    const missing = entries.flatMap(({ folders, files }) =>
      folders.flatMap((folder) => files.map((file) => `${folder}/${file}`)),
    );
    expect(missing.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
