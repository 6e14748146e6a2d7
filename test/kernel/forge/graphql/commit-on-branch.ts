import { commitFiles } from '../commit-files.ts';
import type { ForgeContext } from '../context.ts';
import { entryType } from '../git/objects.ts';
import { RefMovedError } from '../git/ref-updater.ts';
import type { TreeChange } from '../git/repository.ts';
import { pushObjection } from '../merge-rules.ts';
import { signatureOf, webSignature } from '../people.ts';
import { GraphQLFailure } from './errors.ts';

/** `CreateCommitOnBranchInput` of GitHub's schema, its branch found. */
export interface CommitOnBranch {
  readonly branch: string;
  readonly expectedHeadOid: string;
  readonly additions: readonly { readonly path: string; readonly contents: string }[];
  readonly deletions: readonly { readonly path: string }[];
  readonly message: { readonly headline: string; readonly body?: string | null };
  readonly by: string;
}

/**
 * Commits files to a branch whose tip the caller has seen. The commit is GitHub's own: signed, and by `web-flow`.
 * Returns its SHA.
 * @throws GraphQLFailure as GitHub refuses it
 */
export async function commitOnBranch(forge: ForgeContext, wanted: CommitOnBranch): Promise<string> {
  const { git, store } = forge;
  const tip = await git.branchTip(wanted.branch);
  if (!tip) throw new GraphQLFailure('NOT_FOUND', `No such branch ${JSON.stringify(wanted.branch)}.`);
  if (tip !== wanted.expectedHeadOid) throw stale(wanted.expectedHeadOid);
  const protection = store.state.protections[wanted.branch];
  const objection = forge.queue.updateObjection(wanted.branch) ?? (protection && pushObjection(protection));
  if (objection) throw new GraphQLFailure('BRANCH_PROTECTION_RULE_VIOLATION', objection);
  const { tree } = await git.commit(tip);
  const changes = new Map<string, TreeChange>();
  for (const { path } of wanted.deletions) {
    assertPath(path);
    if (!(await git.entryAt(tree, path))) {
      const message = `A path was requested for deletion which does not exist as of commit oid \`${tip}\`.`;
      throw new GraphQLFailure('UNPROCESSABLE', message);
    }
    changes.set(path, null);
  }
  for (const { path, contents } of wanted.additions) {
    assertPath(path);
    const old = await git.entryAt(tree, path);
    // A file that is there keeps its mode.
    const mode = old && entryType(old.mode) === 'blob' ? old.mode : '100644';
    changes.set(path, { mode, sha: await git.writeBlob(Buffer.from(contents, 'base64')) });
  }
  const { headline, body } = wanted.message;
  const sha = await commitFiles(git, {
    branch: wanted.branch,
    parent: tip,
    changes,
    message: body ? `${headline}\n\n${body}` : headline,
    author: signatureOf(wanted.by),
    committer: webSignature(),
  }).catch((cause: unknown) => {
    // Somebody pushed with git in this very moment.
    throw cause instanceof RefMovedError ? stale(wanted.expectedHeadOid) : cause;
  });
  store.sign(sha);
  await forge.pulls.branchMoved({ branch: wanted.branch, before: tip, after: sha }, wanted.by);
  return sha;
}

// The two blanks are GitHub's.
function stale(expected: string): GraphQLFailure {
  return new GraphQLFailure(
    'STALE_DATA',
    `Expected branch to point to ${JSON.stringify(expected)} but it did not.  Pull and try again.`,
  );
}

function assertPath(path: string): void {
  if (path === '' || path.split('/').some((part) => ['', '.', '..', '.git'].includes(part))) {
    throw new GraphQLFailure('UNPROCESSABLE', `${JSON.stringify(path)} is not a valid path.`);
  }
}
