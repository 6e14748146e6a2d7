import type { ForgeContext } from '../context.ts';
import { type Commit, entryType, type Signature } from '../git/objects.ts';
import { nodeId } from '../represent/urls.ts';
import { simpleUser } from '../represent/user.ts';
import { checkRollupObject } from './check-rollup.ts';
import { connection, type PageArguments } from './connection.ts';

/** GitHub cuts a blob's text off after this many bytes. */
const MAX_TEXT_BYTES = 512_000;

/** A value that the GraphQL executor reads fields from; a function is called with the field's arguments. */
export type GraphQLObject = Readonly<Record<string, unknown>>;

/** What `main:path/to/file` or `main` names. */
export async function expressionObject(forge: ForgeContext, expression: string): Promise<GraphQLObject | null> {
  const [, revision = '', path] = /^([^:]*)(?::(.*))?$/.exec(expression) ?? [];
  const sha = await forge.git.commitSha(revision);
  if (!sha) return null;
  if (path === undefined) return objectOf(forge, sha);
  const entry = await forge.git.entryAt((await forge.git.commit(sha)).tree, path);
  return entry ? objectOf(forge, entry.sha) : null;
}

export async function objectOf(forge: ForgeContext, sha: string): Promise<GraphQLObject | null> {
  const existing = /^[0-9a-f]{40}$/.test(sha) ? await forge.git.resolve(sha) : undefined;
  switch (existing?.type) {
    case 'commit':
      return commitObject(forge, await forge.git.commit(sha));
    case 'tree':
      return treeObject(forge, sha);
    case 'blob':
      return blobObject(forge, sha, existing.size);
    default:
      return null;
  }
}

/** `Commit`. */
export function commitObject(forge: ForgeContext, commit: Commit): GraphQLObject {
  const [headline = '', ...body] = commit.message.split('\n');
  const signed = forge.store.isSigned(commit.sha);
  return {
    ...gitObject('Commit', commit.sha),
    message: commit.message,
    messageHeadline: headline,
    messageBody: body.join('\n').trim(),
    authoredDate: commit.author.date,
    committedDate: commit.committer.date,
    committedViaWeb: signed,
    url: `${forge.urls.html}/commit/${commit.sha}`,
    author: gitActor(forge, commit.author),
    committer: gitActor(forge, commit.committer),
    signature: signed ? { __typename: 'GpgSignature', isValid: true, state: 'VALID', wasSignedByGitHub: true } : null,
    tree: () => treeObject(forge, commit.tree),
    statusCheckRollup: () => checkRollupObject(forge, commit.sha),
    parents: async (page: PageArguments) =>
      connection(
        'parents',
        await Promise.all(commit.parents.map(async (sha) => commitObject(forge, await forge.git.commit(sha)))),
        page,
      ),
    file: async ({ path }: { path: string }) => {
      const entry = await forge.git.entryAt(commit.tree, path);
      return entry ? { name: entry.name, path, oid: entry.sha, object: () => objectOf(forge, entry.sha) } : null;
    },
  };
}

function treeObject(forge: ForgeContext, sha: string): GraphQLObject {
  return {
    ...gitObject('Tree', sha),
    entries: async () =>
      (await forge.git.tree(sha)).map((entry) => ({
        name: entry.name,
        oid: entry.sha,
        mode: Number.parseInt(entry.mode, 8),
        type: entryType(entry.mode),
        object: () => objectOf(forge, entry.sha),
      })),
  };
}

function blobObject(forge: ForgeContext, sha: string, byteSize: number): GraphQLObject {
  return {
    ...gitObject('Blob', sha),
    byteSize,
    isTruncated: byteSize > MAX_TEXT_BYTES,
    isBinary: async () => (await forge.git.object(sha))?.content.includes(0) ?? false,
    text: async () => {
      const content = (await forge.git.object(sha))?.content;
      return content === undefined || content.includes(0) ? null : content.subarray(0, MAX_TEXT_BYTES).toString();
    },
  };
}

function gitObject(type: string, sha: string): GraphQLObject {
  return { __typename: type, id: nodeId(type, sha), oid: sha, abbreviatedOid: sha.slice(0, 7) };
}

/** `Actor`: a user, or an app's bot. */
export function actor({ urls }: ForgeContext, login: string): GraphQLObject {
  const shown = simpleUser(urls, login);
  return {
    __typename: shown.type === 'Bot' ? 'Bot' : 'User',
    id: shown['node_id'],
    databaseId: shown.id,
    // GraphQL leaves out the ending that tells an app's login in the REST API.
    login: login.replace(/\[bot\]$/, ''),
    url: shown['html_url'],
  };
}

function gitActor(forge: ForgeContext, { name, email, date }: Signature): GraphQLObject {
  const login = /^\d+\+(.+)@users\.noreply\.github\.com$/.exec(email)?.[1];
  const user = login === undefined || login.endsWith('[bot]') ? null : actor(forge, login);
  return { __typename: 'GitActor', name, email, date, user };
}
