/** One file that differs between two trees. */
export interface FileChange {
  readonly path: string;
  /** The old path of a renamed or copied file. */
  readonly previousPath?: string;
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed';
  /** The blob after the change; the blob before it for a removed file. */
  readonly sha: string;
  readonly additions: number;
  readonly deletions: number;
  /** The hunks, without the file header; absent for a binary file or a pure rename. */
  readonly patch?: string;
}

/** The arguments of `git diff-tree` whose output `parseDiff` reads. */
export const DIFF_ARGUMENTS = ['diff-tree', '-r', '-M', '--no-abbrev', '--raw', '--numstat', '-p', '-z'] as const;

const STATUS: Record<string, FileChange['status']> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
};

/** Reads `git diff-tree --raw --numstat -p -z`: the raw entries, the counts, then, after an empty field, the patch. */
export function parseDiff(output: Buffer): FileChange[] {
  const text = output.toString();
  const changes: { path: string; previousPath?: string; status: FileChange['status']; sha: string }[] = [];
  const counts: { additions: number; deletions: number }[] = [];
  let at = 0;
  const field = (): string => {
    const end = text.indexOf('\0', at);
    const value = text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length : end + 1;
    return value;
  };
  while (text[at] === ':') {
    const [, , before = '', after = '', letters = ''] = field().split(' ');
    const status = STATUS[letters[0] ?? ''] ?? 'changed';
    const first = field();
    const moved = status === 'renamed' || status === 'copied';
    const path = moved ? field() : first;
    changes.push({
      path,
      ...(moved ? { previousPath: first } : {}),
      status,
      sha: status === 'removed' ? before : after,
    });
  }
  while (counts.length < changes.length) {
    const [added = '', removed = '', path = ''] = field().split('\t');
    if (path === '') {
      // A renamed file has its two names in fields of their own.
      field();
      field();
    }
    counts.push({ additions: Number(added) || 0, deletions: Number(removed) || 0 });
  }
  if (text[at] === '\0') at += 1;
  const patches = text
    .slice(at)
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '));
  return changes.map((change, index) => {
    const whole = patches[index] ?? '';
    const hunks = whole.search(/^@@ /m);
    return {
      ...change,
      ...(counts[index] ?? { additions: 0, deletions: 0 }),
      ...(hunks >= 0 ? { patch: whole.slice(hunks).replace(/\n$/, '') } : {}),
    };
  });
}
