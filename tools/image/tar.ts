import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { extract, type Header, pack } from 'tar-stream';
import { type Entry, file, withFolders } from './entry.ts';

/** What an archive holds at one path. */
export interface Member {
  /** Only what is a link has a linkname. */
  readonly header: Omit<Header, 'linkname'> & { readonly linkname: string | null };
  readonly content: Buffer;
}

/**
 * An archive that is the same bytes for the same entries: in the order of their paths, and of root, without its name.
 *
 * @param created the modification time of everything.
 */
export async function writeTar(entries: readonly Entry[], created: Date): Promise<Buffer> {
  const archive = pack();
  const written = buffer(archive);
  for (const entry of withFolders(entries)) {
    const header = { name: entry.path, uid: 0, gid: 0, mtime: created };
    if (entry.kind === 'file') archive.entry({ ...header, type: 'file', mode: entry.mode }, entry.content);
    else if (entry.kind === 'folder')
      archive.entry({ ...header, name: `${entry.path}/`, type: 'directory', mode: 0o755 });
    else archive.entry({ ...header, type: 'symlink', linkname: entry.target, mode: 0o777 });
  }
  archive.finalize();
  return await written;
}

/** The members of an archive by path, without `./` in front or a slash behind. */
export async function readTar(archive: Buffer): Promise<ReadonlyMap<string, Member>> {
  const members = new Map<string, Member>();
  const reader = extract();
  reader.end(archive);
  for await (const member of reader) {
    const path = member.header.name.replace(/^\.\//, '').replace(/\/$/, '');
    members.set(path, { header: member.header, content: await buffer(member) });
  }
  members.delete('.');
  members.delete('');
  return members;
}

/** The files below a folder, as they would be in an archive. */
export async function entriesBelow(folder: string): Promise<readonly Entry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(
    paths.map(async (path) => {
      const { mode } = await stat(path);
      return file(path.slice(folder.length + 1), await readFile(path), (mode & 0o100) === 0 ? 0o644 : 0o755);
    }),
  );
}
