import { ApiError, notFound } from '../api-error.ts';
import type { ForgeContext } from '../context.ts';
import { entryType, isoSeconds, type Signature } from '../git/objects.ts';
import type { ListedEntry, TreeChange } from '../git/repository.ts';
import type { Body } from '../http/body.ts';
import { type Call, created, ok, REPOSITORY, type Route } from '../http/route.ts';
import { signatureOf, webSignature } from '../people.ts';
import { gitCommit } from '../represent/commit.ts';
import { nodeId } from '../represent/urls.ts';
import { assertNotEmpty } from './references.ts';

const MODES = ['100644', '100755', '040000', '160000', '120000'] as const;

/** Trees, blobs and commits as git holds them. */
export const gitDatabaseRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/git/trees/{tree_sha}`,
    docs: 'git/trees#get-a-tree',
    wide: ['tree_sha'],
    async handle({ forge, params, query }) {
      await assertNotEmpty(forge);
      const tree = await treeOf(forge, params['tree_sha'] ?? '');
      // GitHub takes any value of `recursive` for yes, even "0" and "false".
      const all = query.has('recursive');
      const listed = all ? await forge.git.listTree(tree) : await entriesOf(forge, tree);
      const { entries, truncated } = cut(forge, listed);
      return ok({ ...treeHead(forge, tree), tree: entries.map((entry) => treeItem(forge, entry)), truncated });
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/git/trees`,
    docs: 'git/trees#create-a-tree',
    async handle({ forge, body }) {
      const items = body.list('tree');
      if (!items || items.length === 0) throw new ApiError(422, 'Invalid tree info');
      const baseName = body.optionalText('base_tree');
      const base = baseName === undefined ? undefined : await treeOf(forge, baseName);
      const changes = new Map<string, TreeChange>();
      for (const item of items) {
        const [path, change] = await treeChange(forge, item);
        changes.set(path, change);
      }
      const sha = await forge.git.editTree(base, changes);
      const entries = await entriesOf(forge, sha);
      return created({
        ...treeHead(forge, sha),
        tree: entries.map((entry) => treeItem(forge, entry)),
        truncated: false,
      });
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/git/blobs/{file_sha}`,
    docs: 'git/blobs#get-a-blob',
    async handle({ forge, params, format }) {
      const sha = params['file_sha'] ?? '';
      const found = /^[0-9a-f]{40}$/.test(sha) ? await forge.git.object(sha) : undefined;
      if (found?.type !== 'blob') throw notFound();
      if (format === 'raw') {
        return { status: 200, body: found.content, contentType: 'application/vnd.github.raw; charset=utf-8' };
      }
      return ok({
        sha,
        node_id: nodeId('Blob', sha),
        size: found.size,
        url: `${forge.urls.api}/git/blobs/${sha}`,
        content: foldedBase64(found.content),
        encoding: 'base64',
      });
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/git/blobs`,
    docs: 'git/blobs#create-a-blob',
    async handle({ forge, body }) {
      const encoding = body.choice('encoding', ['utf-8', 'base64']) ?? 'utf-8';
      const content = body.text('content');
      const sha = await forge.git.writeBlob(encoding === 'base64' ? decodeBase64(content) : Buffer.from(content));
      return created({ sha, url: `${forge.urls.api}/git/blobs/${sha}` });
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/git/commits/{commit_sha}`,
    docs: 'git/commits#get-a-commit-object',
    async handle({ forge, params }) {
      const sha = params['commit_sha'] ?? '';
      const found = /^[0-9a-f]{40}$/.test(sha) ? await forge.git.resolve(sha) : undefined;
      if (found?.type !== 'commit') throw notFound();
      return ok(gitCommit(forge, await forge.git.commit(sha)));
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/git/commits`,
    docs: 'git/commits#create-a-commit',
    async handle(call) {
      const { forge, body } = call;
      const message = body.text('message');
      const tree = body.text('tree');
      if ((await forge.git.resolve(tree))?.type !== 'tree') throw new ApiError(422, 'Tree SHA does not exist');
      const parents = body.texts('parents') ?? [];
      for (const parent of parents) {
        if ((await forge.git.resolve(parent))?.type !== 'commit') {
          throw new ApiError(422, 'Parent SHA does not exist or is not a commit object');
        }
      }
      const { author, committer, signs } = signaturesFrom(call, 'author');
      const sha = await forge.git.writeCommit({ tree, parents, author, committer, message });
      if (signs) forge.store.sign(sha);
      return created(gitCommit(forge, await forge.git.commit(sha)));
    },
  },
];

/**
 * Who has written and who has committed what a request makes. Of the two, `first` is by default who asks, and the other
 * the same as the first; a commit that an app makes without naming anybody is GitHub's own, signed.
 */
export function signaturesFrom(
  { body, user, installation }: Call,
  first: 'author' | 'committer',
): { author: Signature; committer: Signature; signs: boolean } {
  const [givenAuthor, givenCommitter] = [body.object('author'), body.object('committer')];
  if (installation && !givenAuthor && !givenCommitter) {
    return { author: signatureOf(user), committer: webSignature(), signs: true };
  }
  if (first === 'author') {
    const author = signatureFrom(givenAuthor, signatureOf(user));
    return { author, committer: signatureFrom(givenCommitter, author), signs: false };
  }
  const committer = signatureFrom(givenCommitter, signatureOf(user));
  return { author: signatureFrom(givenAuthor, committer), committer, signs: false };
}

/** The person and date that a body gives for a commit; what it leaves out is the fallback's. */
function signatureFrom(given: Body | undefined, fallback: Signature): Signature {
  if (!given) return fallback;
  const date = given.optionalText('date');
  if (date !== undefined && Number.isNaN(Date.parse(date))) {
    throw new ApiError(422, `Invalid request.\n\n${date} is not a valid date.`);
  }
  return {
    name: given.optionalText('name') ?? fallback.name,
    email: given.optionalText('email') ?? fallback.email,
    date: date === undefined ? isoSeconds(new Date()) : isoSeconds(new Date(date)),
  };
}

/** @throws ApiError 422 for anything that is not Base64 */
export function decodeBase64(text: string): Buffer {
  const compact = text.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw new ApiError(422, 'content is not valid Base64');
  return Buffer.from(compact, 'base64');
}

/** Base64 in lines of 60 characters, each with its line end, as GitHub writes it. */
export function foldedBase64(content: Buffer): string {
  return content.toString('base64').replace(/.{1,60}/g, '$&\n');
}

/** The tree that a SHA or the name of a branch stands for. @throws ApiError 404 */
async function treeOf(forge: ForgeContext, name: string): Promise<string> {
  if (/^[0-9a-f]{40}$/.test(name)) {
    const found = await forge.git.resolve(`${name}^{tree}`);
    if (found) return found.sha;
  }
  const commit = await forge.git.commitSha(name);
  if (!commit) throw notFound();
  return (await forge.git.commit(commit)).tree;
}

async function entriesOf(forge: ForgeContext, tree: string): Promise<ListedEntry[]> {
  const entries = await forge.git.tree(tree);
  return Promise.all(
    entries.map(async ({ mode, name, sha }) => {
      const type = entryType(mode);
      const size = type === 'blob' ? (await forge.git.resolve(sha))?.size : undefined;
      return { path: name, mode: mode.padStart(6, '0'), type, sha, ...(size === undefined ? {} : { size }) };
    }),
  );
}

function treeHead({ urls }: ForgeContext, sha: string): { sha: string; url: string } {
  return { sha, url: `${urls.api}/git/trees/${sha}` };
}

function treeItem({ urls }: ForgeContext, entry: ListedEntry): Record<string, unknown> {
  // A submodule's commit is in another repository and has no address here.
  return entry.type === 'commit' ? { ...entry } : { ...entry, url: `${urls.api}/git/${entry.type}s/${entry.sha}` };
}

/** As much of a listing as GitHub gives in one answer. */
function cut(
  { site: { treeLimit } }: ForgeContext,
  listed: readonly ListedEntry[],
): { entries: readonly ListedEntry[]; truncated: boolean } {
  // The 7 MB are those of git's own listing: a 100,000 entries of JSON would never fit into them. Besides its path an
  // entry there takes its mode, type and SHA and what separates them.
  const fixed = 53;
  let bytes = 0;
  let kept = 0;
  for (const { path } of listed) {
    bytes += fixed + path.length;
    if (kept >= treeLimit.entries || bytes > treeLimit.bytes) break;
    kept += 1;
  }
  return { entries: kept < listed.length ? listed.slice(0, kept) : listed, truncated: kept < listed.length };
}

async function treeChange(forge: ForgeContext, item: unknown): Promise<[string, TreeChange]> {
  if (typeof item !== 'object' || item === null) throw new ApiError(422, 'Invalid tree info');
  const { path, mode = '100644', sha, content } = item as Record<string, unknown>;
  if (typeof path !== 'string' || path === '' || path.split('/').some((part) => part === '' || part === '..')) {
    throw new ApiError(422, 'tree.path contains a malformed path component');
  }
  const existing = MODES.find((allowed) => allowed === mode);
  if (!existing) throw new ApiError(422, `tree.mode ${String(mode)} is not one of ${MODES.join(', ')}`);
  if (sha === null) return [path, null];
  if (typeof content === 'string')
    return [path, { mode: existing, sha: await forge.git.writeBlob(Buffer.from(content)) }];
  if (typeof sha !== 'string') throw new ApiError(422, 'Must supply either tree.sha or tree.content');
  const wanted = entryType(existing);
  if (wanted !== 'commit' && (await forge.git.resolve(sha))?.type !== wanted) {
    throw new ApiError(422, `tree.sha ${sha} is not a valid ${wanted}`);
  }
  return [path, { mode: existing, sha }];
}
