import { ApiError, notFound } from '../api-error.ts';
import { commitFiles } from '../commit-files.ts';
import type { ForgeContext } from '../context.ts';
import { entryType, type TreeEntry } from '../git/objects.ts';
import { RefMovedError } from '../git/ref-updater.ts';
import type { TreeChange } from '../git/repository.ts';
import { type Call, ok, REPOSITORY, type Answer, type Route } from '../http/route.ts';
import { pushObjection } from '../merge-rules.ts';
import { gitCommit } from '../represent/commit.ts';
import { decodeBase64, foldedBase64, signaturesFrom } from './git-database.ts';

// Above 1 MB GitHub gives a file's content only in the raw format.
const INLINE_LIMIT = 1_048_576;

/** Files and folders by path. */
export const contentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/contents/{path}`,
    docs: 'repos/contents#get-repository-content',
    wide: ['path'],
    handle: (call) => content(call, call.params['path'] ?? ''),
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/contents/`,
    docs: 'repos/contents#get-repository-content',
    handle: (call) => content(call, ''),
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/contents`,
    docs: 'repos/contents#get-repository-content',
    handle: (call) => content(call, ''),
  },
  {
    method: 'PUT',
    path: `${REPOSITORY}/contents/{path}`,
    docs: 'repos/contents#create-or-update-file-contents',
    wide: ['path'],
    async handle(call) {
      const message = call.body.text('message');
      const bytes = decodeBase64(call.body.text('content'));
      const target = await writeTarget(call);
      const sha = call.body.optionalText('sha');
      if (target.entry && sha === undefined) throw new ApiError(422, `Invalid request.\n\n"sha" wasn't supplied.`);
      assertSame(target, sha);
      const blob = await call.forge.git.writeBlob(bytes);
      const mode = target.entry?.mode ?? '100644';
      const commit = await commitTo(call, target, { mode, sha: blob }, message);
      const file = { path: target.path, mode, sha: blob, size: bytes.length };
      return {
        status: target.entry ? 200 : 201,
        body: { content: item(call.forge, file, target.branch), commit: await commitOf(call.forge, commit) },
      };
    },
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/contents/{path}`,
    docs: 'repos/contents#delete-a-file',
    wide: ['path'],
    async handle(call) {
      const message = call.body.text('message');
      const sha = call.body.text('sha');
      const target = await writeTarget(call);
      if (!target.entry) throw notFound();
      assertSame(target, sha);
      const commit = await commitTo(call, target, null, message);
      return ok({ content: null, commit: await commitOf(call.forge, commit) });
    },
  },
];

interface WriteTarget {
  readonly path: string;
  readonly branch: string;
  /** undefined in a repository without a commit. */
  readonly tip: string | undefined;
  readonly entry: TreeEntry | undefined;
}

interface Item {
  readonly path: string;
  readonly mode: string;
  readonly sha: string;
  readonly size: number;
}

async function content({ forge, query, format }: Call, path: string): Promise<Answer> {
  const ref = query.get('ref') ?? forge.defaultBranch;
  const sha = await forge.git.commitSha(ref);
  if (!sha) {
    throw query.has('ref') ? new ApiError(404, `No commit found for the ref ${ref}`) : emptyRepository();
  }
  const clean = path.replace(/^\/+|\/+$/g, '');
  const entry = await forge.git.entryAt((await forge.git.commit(sha)).tree, clean);
  if (!entry) throw notFound();
  if (entryType(entry.mode) === 'tree') {
    const entries = await forge.git.tree(entry.sha);
    const items = await Promise.all(
      entries.map(async ({ mode, name, sha }) => {
        const size = entryType(mode) === 'blob' ? ((await forge.git.resolve(sha))?.size ?? 0) : 0;
        return item(forge, { path: clean ? `${clean}/${name}` : name, mode, sha, size }, ref);
      }),
    );
    return ok(items);
  }
  if (entryType(entry.mode) === 'commit') {
    return ok({
      ...item(forge, { path: clean, mode: entry.mode, sha: entry.sha, size: 0 }, ref),
      submodule_git_url: null,
    });
  }
  const blob = await forge.git.object(entry.sha);
  if (!blob) throw notFound();
  if (format === 'raw') {
    return { status: 200, body: blob.content, contentType: 'application/vnd.github.raw; charset=utf-8' };
  }
  const inline = blob.size <= INLINE_LIMIT;
  return ok({
    ...item(forge, { path: clean, mode: entry.mode, sha: entry.sha, size: blob.size }, ref),
    ...(entry.mode === '120000' ? { target: blob.content.toString() } : {}),
    content: inline ? foldedBase64(blob.content) : '',
    encoding: inline ? 'base64' : 'none',
  });
}

async function writeTarget({ forge, params, body }: Call): Promise<WriteTarget> {
  const path = (params['path'] ?? '').replace(/^\/+|\/+$/g, '');
  if (path === '' || path.split('/').some((part) => part === '' || part === '.' || part === '..' || part === '.git')) {
    throw new ApiError(422, 'path contains a malformed path component');
  }
  const branch = (body.optionalText('branch') ?? forge.defaultBranch).replace(/^refs\/heads\//, '');
  const tip = await forge.git.branchTip(branch);
  if (!tip && (branch !== forge.defaultBranch || (await forge.git.refs('refs/heads/')).length > 0)) {
    throw new ApiError(404, `Branch ${branch} not found`);
  }
  const protection = forge.store.state.protections[branch];
  const objection = forge.queue.updateObjection(branch) ?? (protection && pushObjection(protection));
  if (objection) throw new ApiError(409, `Could not change file: ${objection}`);
  const entry = tip ? await forge.git.entryAt((await forge.git.commit(tip)).tree, path) : undefined;
  if (entry && entryType(entry.mode) === 'tree') throw new ApiError(422, `${path} is a directory`);
  return { path, branch, tip, entry };
}

function assertSame({ path, entry }: WriteTarget, sha: string | undefined): void {
  if (sha !== undefined && entry?.sha !== sha) throw new ApiError(409, `${path} does not match ${sha}`);
}

async function commitTo(
  call: Call,
  { branch, tip, path }: WriteTarget,
  change: TreeChange,
  message: string,
): Promise<string> {
  const { forge, user } = call;
  const { author, committer, signs } = signaturesFrom(call, 'committer');
  try {
    const sha = await commitFiles(forge.git, {
      branch,
      parent: tip,
      changes: new Map([[path, change]]),
      message,
      author,
      committer,
    });
    if (signs) forge.store.sign(sha);
    await forge.pulls.branchMoved({ branch, before: tip ?? null, after: sha }, user);
    return sha;
  } catch (cause) {
    // Somebody pushed with git in this very moment.
    if (cause instanceof RefMovedError) throw new ApiError(409, `${branch} is not at ${tip} but expected to be`);
    throw cause;
  }
}

async function commitOf(forge: ForgeContext, sha: string): Promise<Record<string, unknown>> {
  return gitCommit(forge, await forge.git.commit(sha));
}

function emptyRepository(): ApiError {
  return new ApiError(404, 'This repository is empty.');
}

function item({ urls }: ForgeContext, { path, mode, sha, size }: Item, ref: string): Record<string, unknown> {
  const kind = entryType(mode);
  const type = kind === 'tree' ? 'dir' : kind === 'commit' ? 'submodule' : mode === '120000' ? 'symlink' : 'file';
  const encoded = urls.path(path);
  const self = `${urls.api}/contents/${encoded}?ref=${encodeURIComponent(ref)}`;
  const git = kind === 'commit' ? null : `${urls.api}/git/${kind}s/${sha}`;
  const html = `${urls.html}/${kind === 'tree' ? 'tree' : 'blob'}/${urls.path(ref)}/${encoded}`;
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    size,
    url: self,
    html_url: html,
    git_url: git,
    download_url: kind === 'blob' ? `${urls.html}/raw/${urls.path(ref)}/${encoded}` : null,
    type,
    _links: { self, git, html },
  };
}
