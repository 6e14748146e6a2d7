import type { FileChange } from '../git/diff.ts';
import type { Commit } from '../git/objects.ts';
import { nodeId, type Urls } from './urls.ts';
import { simpleUser } from './user.ts';

/** Where commits are shown, and which of them GitHub signed. */
export interface CommitFacts {
  readonly urls: Urls;
  readonly store: { isSigned(sha: string): boolean };
}

/** What GitHub says about a commit's signature. The forge has no key: of its own commits it says what GitHub would. */
function verification({ store }: CommitFacts, { sha, committer }: Commit): Record<string, unknown> {
  return store.isSigned(sha)
    ? { verified: true, reason: 'valid', signature: null, payload: null, verified_at: committer.date }
    : { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null };
}

/** GitHub's `git-commit`, as the Git database endpoints show it. */
export function gitCommit(facts: CommitFacts, commit: Commit): Record<string, unknown> {
  const { urls } = facts;
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', commit.sha),
    url: `${urls.api}/git/commits/${commit.sha}`,
    html_url: `${urls.html}/commit/${commit.sha}`,
    author: commit.author,
    committer: commit.committer,
    tree: { sha: commit.tree, url: `${urls.api}/git/trees/${commit.tree}` },
    message: commit.message,
    parents: parents(urls, commit, 'git/commits'),
    verification: verification(facts, commit),
  };
}

/** GitHub's `commit`; with the files that it changed where they are given. */
export function fullCommit(facts: CommitFacts, commit: Commit, files?: readonly FileChange[]): Record<string, unknown> {
  const { urls } = facts;
  const additions = files?.reduce((sum, file) => sum + file.additions, 0) ?? 0;
  const deletions = files?.reduce((sum, file) => sum + file.deletions, 0) ?? 0;
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', commit.sha),
    commit: {
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      tree: { sha: commit.tree, url: `${urls.api}/git/trees/${commit.tree}` },
      url: `${urls.api}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: verification(facts, commit),
    },
    url: `${urls.api}/commits/${commit.sha}`,
    html_url: `${urls.html}/commit/${commit.sha}`,
    comments_url: `${urls.api}/commits/${commit.sha}/comments`,
    author: account(urls, commit.author.email),
    committer: account(urls, commit.committer.email),
    parents: parents(urls, commit, 'commits'),
    ...(files
      ? {
          stats: { total: additions + deletions, additions, deletions },
          files: files.map((file) => fileChange(urls, commit.sha, file)),
        }
      : {}),
  };
}

/** GitHub's `diff-entry`. */
export function fileChange(urls: Urls, headSha: string, file: FileChange): Record<string, unknown> {
  const path = urls.path(file.path);
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${urls.html}/blob/${headSha}/${path}`,
    raw_url: `${urls.html}/raw/${headSha}/${path}`,
    contents_url: `${urls.api}/contents/${path}?ref=${headSha}`,
    ...(file.patch === undefined ? {} : { patch: file.patch }),
    ...(file.previousPath === undefined ? {} : { previous_filename: file.previousPath }),
  };
}

/** The account behind an address; null for one that GitHub does not know. */
function account(urls: Urls, email: string): Record<string, unknown> | null {
  if (email === 'noreply@github.com') return simpleUser(urls, 'web-flow');
  const login = /^\d+\+(.+)@users\.noreply\.github\.com$/.exec(email)?.[1];
  return login ? simpleUser(urls, login) : null;
}

function parents(urls: Urls, commit: Commit, kind: string): Record<string, unknown>[] {
  return commit.parents.map((sha) => ({
    sha,
    url: `${urls.api}/${kind}/${sha}`,
    html_url: `${urls.html}/commit/${sha}`,
  }));
}
