/** What becomes of a tree when files are written into it, computed as git does. */
import { createHash } from 'node:crypto';
import { type FileChange, PLAIN_FILE, type TreeEntry } from './forge.ts';
import { blobSha } from './git-blob.ts';

const EXECUTABLE = '100755';
const FOLDER = '040000';

/**
 * The tree with the files, and its SHA: whoever knows the SHA of a commit's tree knows with it that the commit changes
 * exactly these files.
 *
 * @param entries of the whole tree, its folders included, with full paths.
 */
export function treeWith(
  entries: readonly TreeEntry[],
  files: readonly Pick<FileChange, 'path' | 'mode' | 'text'>[],
): { readonly sha: string; readonly entries: readonly TreeEntry[] } {
  const changed = new Map<string, TreeEntry>();
  const children = new Map<string, Map<string, TreeEntry>>([['', new Map()]]);
  for (const { path, mode, text } of files) {
    const size = Buffer.byteLength(text, 'utf8');
    const written = mode === EXECUTABLE ? EXECUTABLE : PLAIN_FILE;
    changed.set(path, { path, mode: written, type: 'blob', sha: blobSha(text), size });
    for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) children.set(folder, new Map());
  }
  for (const entry of entries) children.get(folderOf(entry.path))?.set(entry.path, entry);
  for (const [path, entry] of changed) children.get(folderOf(path))?.set(path, entry);
  // The deepest first: a folder's SHA is made of those below it.
  const deepestFirst = [...children.keys()].toSorted((a, b) => depthOf(b) - depthOf(a));
  let root = '';
  for (const folder of deepestFirst) {
    const sha = treeSha([...(children.get(folder)?.values() ?? [])]);
    if (folder === '') {
      root = sha;
    } else {
      const entry = { path: folder, mode: FOLDER, type: 'tree', sha };
      changed.set(folder, entry);
      children.get(folderOf(folder))?.set(folder, entry);
    }
  }
  const kept = entries.map((entry) => changed.get(entry.path) ?? entry);
  const known = new Set(entries.map(({ path }) => path));
  return { sha: root, entries: [...kept, ...[...changed.values()].filter(({ path }) => !known.has(path))] };
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length;
}

/** The SHA of the git tree with these entries of one folder. */
function treeSha(entries: readonly TreeEntry[]): string {
  const named = entries.map(({ path, mode, type, sha }) => {
    const name = Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'utf8');
    // Git sorts a folder as if its name ended with a slash, and writes modes without leading zeros.
    const order = type === 'tree' ? Buffer.concat([name, Buffer.from('/')]) : name;
    const head = Buffer.concat([Buffer.from(`${mode.replace(/^0+/, '')} `), name, Buffer.from([0])]);
    return { order, bytes: Buffer.concat([head, Buffer.from(sha, 'hex')]) };
  });
  const content = Buffer.concat(named.toSorted((a, b) => Buffer.compare(a.order, b.order)).map(({ bytes }) => bytes));
  return createHash('sha1').update(`tree ${content.length}\0`).update(content).digest('hex');
}
