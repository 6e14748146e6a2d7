import { ApiError, notFound } from '../api-error.ts';
import type { ForgeContext } from '../context.ts';
import { pageOf } from '../http/pagination.ts';
import { ok, REPOSITORY, type Route } from '../http/route.ts';
import { fileChange, fullCommit } from '../represent/commit.ts';

// GitHub shows at most this many files of a comparison or a commit.
const FILES_SHOWN = 300;
const COMMITS_SHOWN = 250;

/** Commits with their changes, and comparisons. */
export const commitRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/commits`,
    docs: 'commits/commits#list-commits',
    async handle(call) {
      const { forge, query } = call;
      const name = query.get('sha') ?? forge.defaultBranch;
      const sha = await forge.git.commitSha(name);
      if (!sha) {
        throw query.has('sha') ? notFound() : new ApiError(409, 'Git Repository is empty.');
      }
      const { page, perPage } = pageOf(call);
      const path = query.get('path');
      const shas = await forge.git.log(sha, {
        skip: (page - 1) * perPage,
        // One more than shown tells whether there is another page.
        limit: perPage + 1,
        ...(path ? { path } : {}),
      });
      const commits = await Promise.all(shas.slice(0, perPage).map((commitSha) => forge.git.commit(commitSha)));
      const next = new URL(call.url);
      next.searchParams.set('page', String(page + 1));
      return ok(
        commits.map((commit) => fullCommit(forge, commit)),
        shas.length > perPage ? { link: `<${next.href}>; rel="next"` } : {},
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/compare/{basehead}`,
    docs: 'commits/commits#compare-two-commits',
    wide: ['basehead'],
    async handle({ forge, params, format }) {
      const [baseName = '', headName = ''] = (params['basehead'] ?? '').split('...');
      const [baseSha, headSha] = await Promise.all([sideOf(forge, baseName), sideOf(forge, headName)]);
      if (!baseSha || !headSha) throw notFound();
      const mergeBase = await forge.git.mergeBase(baseSha, headSha);
      if (!mergeBase) throw new ApiError(404, `No common ancestor between ${baseName} and ${headName}.`);
      if (format === 'diff' || format === 'patch') {
        const text = await forge.git.diffText(mergeBase, headSha);
        return { status: 200, body: text, contentType: `application/vnd.github.${format}; charset=utf-8` };
      }
      const { urls } = forge;
      const { ahead, behind } = await forge.git.distance(baseSha, headSha);
      const shas = await forge.git.commitsBetween(baseSha, headSha);
      const files = await forge.git.diff(mergeBase, headSha);
      const commits = await Promise.all(shas.slice(0, COMMITS_SHOWN).map((sha) => forge.git.commit(sha)));
      const html = `${urls.html}/compare/${urls.path(baseName)}...${urls.path(headName)}`;
      return ok({
        url: `${urls.api}/compare/${urls.path(baseName)}...${urls.path(headName)}`,
        html_url: html,
        permalink_url: `${urls.html}/compare/${baseSha}...${headSha}`,
        diff_url: `${html}.diff`,
        patch_url: `${html}.patch`,
        base_commit: fullCommit(forge, await forge.git.commit(baseSha)),
        merge_base_commit: fullCommit(forge, await forge.git.commit(mergeBase)),
        status: ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
        ahead_by: ahead,
        behind_by: behind,
        total_commits: ahead,
        commits: commits.map((commit) => fullCommit(forge, commit)),
        files: files.slice(0, FILES_SHOWN).map((file) => fileChange(urls, headSha, file)),
      });
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/commits/{ref}`,
    docs: 'commits/commits#get-a-commit',
    wide: ['ref'],
    async handle({ forge, params, format }) {
      const sha = await commitOf(forge, params['ref'] ?? '');
      const commit = await forge.git.commit(sha);
      if (format === 'sha') {
        return { status: 200, body: sha, contentType: 'application/vnd.github.sha; charset=utf-8' };
      }
      if (format === 'diff' || format === 'patch') {
        const text = await forge.git.diffText(commit.parents[0], sha);
        return { status: 200, body: text, contentType: `application/vnd.github.${format}; charset=utf-8` };
      }
      const files = await forge.git.diff(commit.parents[0], sha);
      return ok(fullCommit(forge, commit, files.slice(0, FILES_SHOWN)));
    },
  },
];

/** The commit that a ref names. @throws ApiError 422 for an unknown one, as GitHub answers here */
export async function commitOf(forge: ForgeContext, ref: string): Promise<string> {
  const sha = await forge.git.commitSha(ref);
  if (!sha) throw new ApiError(422, `No commit found for SHA: ${ref}`);
  return sha;
}

/** One side of a comparison, which may carry the owner: `acme:main`. */
function sideOf(forge: ForgeContext, name: string): Promise<string | undefined> {
  const own = `${forge.owner}:`;
  return forge.git.commitSha(name.startsWith(own) ? name.slice(own.length) : name);
}
