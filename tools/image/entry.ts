/** What is at one path of the image. All of it is root's, and nobody else may write to it. */
export type Entry =
  | { readonly kind: 'file'; readonly path: string; readonly mode: 0o644 | 0o755; readonly content: Buffer }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'folder'; readonly path: string };

/** @param path from the root, without a slash in front; so everywhere. */
export function file(path: string, content: Buffer | string, mode: 0o644 | 0o755 = 0o644): Entry {
  return { kind: 'file', path, mode, content: Buffer.from(content) };
}

/** The same in a folder. */
export function below(folder: string, entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));
}

/** By path, with every folder above them, so that nothing depends on the order in which they were found. */
export function withFolders(entries: readonly Entry[]): readonly Entry[] {
  const all = new Map<string, Entry>();
  for (const { path } of entries) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      all.set(folder, { kind: 'folder', path: folder });
    }
  }
  for (const entry of entries) {
    if (entry.kind !== 'folder' && all.has(entry.path)) throw new Error(`${entry.path} is there twice`);
    all.set(entry.path, entry);
  }
  return [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
