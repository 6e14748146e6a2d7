/** A person and a moment as a commit records them. */
export interface Signature {
  readonly name: string;
  readonly email: string;
  /** ISO 8601 with seconds, in UTC. */
  readonly date: string;
}

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

export interface TreeEntry {
  /** As git writes it, without leading zeros: 100644, 100755, 120000, 160000, 40000. */
  readonly mode: string;
  readonly name: string;
  readonly sha: string;
}

/** Reads a commit object. @throws Error when the bytes are not a commit */
export function decodeCommit(sha: string, content: Buffer): Commit {
  const text = content.toString();
  const headEnd = text.indexOf('\n\n');
  const headers = headEnd < 0 ? text : text.slice(0, headEnd);
  const parents: string[] = [];
  let tree = '';
  let author: Signature | undefined;
  let committer: Signature | undefined;
  for (const line of headers.split('\n')) {
    if (line.startsWith('tree ')) tree = line.slice(5);
    else if (line.startsWith('parent ')) parents.push(line.slice(7));
    else if (line.startsWith('author ')) author = decodeSignature(line.slice(7));
    else if (line.startsWith('committer ')) committer = decodeSignature(line.slice(10));
  }
  if (!author || !committer || tree === '') throw new Error(`object ${sha} is not a commit that can be read`);
  const message = headEnd < 0 ? '' : text.slice(headEnd + 2);
  return { sha, tree, parents, author, committer, message: message.replace(/\n+$/, '') };
}

/** Writes a commit object's bytes. */
export function encodeCommit(commit: Omit<Commit, 'sha'>): Buffer {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${encodeSignature(commit.author)}`,
    `committer ${encodeSignature(commit.committer)}`,
    '',
    commit.message,
  ];
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** Reads a tree object: its entries in git's order. */
export function decodeTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(32, at);
    const zero = content.indexOf(0, space);
    entries.push({
      mode: content.toString('latin1', at, space),
      name: content.toString('utf8', space + 1, zero),
      sha: content.toString('hex', zero + 1, zero + 21),
    });
    at = zero + 21;
  }
  return entries;
}

/** Writes a tree object's bytes; the order of the entries does not matter. */
export function encodeTree(entries: Iterable<TreeEntry>): Buffer {
  // Git sorts a folder as if its name ended in a slash.
  const keyed = Array.from(entries, (entry) => ({
    entry,
    key: Buffer.from(entry.mode === '40000' ? `${entry.name}/` : entry.name),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    keyed.flatMap(({ entry }) => [Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.sha, 'hex')]),
  );
}

/** What kind of object an entry of this mode is. */
export function entryType(mode: string): 'blob' | 'tree' | 'commit' {
  if (mode === '40000' || mode === '040000') return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}

/** ISO 8601 to the second in UTC, as GitHub prints every moment. */
export function isoSeconds(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`;
}

function decodeSignature(line: string): Signature | undefined {
  const found = /^(.*?) ?<([^>]*)> (\d+) [+-]\d{4}$/.exec(line);
  if (!found) return undefined;
  const [, name = '', email = '', seconds = '0'] = found;
  return { name, email, date: isoSeconds(new Date(Number(seconds) * 1000)) };
}

function encodeSignature({ name, email, date }: Signature): string {
  const plain = (text: string): string => text.replace(/[<>\n\0]/g, '').trim();
  return `${plain(name)} <${plain(email)}> ${Math.floor(new Date(date).getTime() / 1000)} +0000`;
}
