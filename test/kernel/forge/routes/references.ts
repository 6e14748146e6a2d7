import { ApiError, notFound } from '../api-error.ts';
import { isRefName } from '../git/ref-names.ts';
import type { Ref } from '../git/repository.ts';
import type { ForgeContext } from '../context.ts';
import { afterMove, createReference, moved, objectOf } from '../create-reference.ts';
import { created, noContent, ok, REPOSITORY, type Route } from '../http/route.ts';
import { pushObjection } from '../merge-rules.ts';
import { nodeId } from '../represent/urls.ts';

/** Branches and tags as bare references: the `git/ref` endpoints. */
export const referenceRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/git/ref/{ref}`,
    docs: 'git/refs#get-a-reference',
    wide: ['ref'],
    async handle({ forge, params }) {
      await assertNotEmpty(forge);
      const ref = `refs/${params['ref']}`;
      const found = isRefName(ref) ? await forge.git.resolve(ref) : undefined;
      if (!found) throw notFound();
      return ok(reference(forge, { ref, sha: found.sha, type: found.type }));
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/git/matching-refs/{ref}`,
    docs: 'git/refs#list-matching-references',
    wide: ['ref'],
    async handle({ forge, params }) {
      await assertNotEmpty(forge);
      return ok((await forge.git.refs(`refs/${params['ref']}`)).map((ref) => reference(forge, ref)));
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/git/refs`,
    docs: 'git/refs#create-a-reference',
    async handle(call) {
      const { forge, body, user } = call;
      const ref = body.text('ref');
      await assertNotEmpty(forge);
      const object = await createReference(forge, { ref, sha: body.text('sha'), by: user });
      return created(reference(forge, { ref, sha: object.sha, type: object.type }));
    },
  },
  {
    method: 'PATCH',
    path: `${REPOSITORY}/git/refs/{ref}`,
    docs: 'git/refs#update-a-reference',
    wide: ['ref'],
    async handle(call) {
      const { forge, params, body } = call;
      const ref = `refs/${params['ref']}`;
      const sha = body.text('sha');
      const force = body.flag('force') ?? false;
      const old = isRefName(ref) ? await forge.git.resolve(ref) : undefined;
      if (!old) throw new ApiError(422, 'Reference does not exist');
      const object = await objectOf(forge, sha);
      refuseProtected(forge, ref);
      if (!force && !(await forge.git.isAncestor(old.sha, object.sha))) {
        throw new ApiError(422, 'Update is not a fast forward');
      }
      await moved(() => forge.git.updateRef(ref, object.sha, old.sha));
      await afterMove(forge, call.user, ref, old.sha, object.sha);
      return ok(reference(forge, { ref, sha: object.sha, type: object.type }));
    },
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/git/refs/{ref}`,
    docs: 'git/refs#delete-a-reference',
    wide: ['ref'],
    async handle(call) {
      const { forge, params } = call;
      const ref = `refs/${params['ref']}`;
      const old = isRefName(ref) ? await forge.git.resolve(ref) : undefined;
      if (!old) throw new ApiError(422, 'Reference does not exist');
      if (forge.store.state.protections[ref.slice('refs/heads/'.length)] && ref.startsWith('refs/heads/')) {
        throw new ApiError(422, 'Cannot delete a protected branch');
      }
      if (ref === `refs/heads/${forge.defaultBranch}`) throw new ApiError(422, 'Cannot delete the default branch');
      await moved(() => forge.git.deleteRef(ref, old.sha));
      await afterMove(forge, call.user, ref, old.sha, null);
      return noContent();
    },
  },
];

/** @throws ApiError 409 for a repository without a commit, as GitHub's Git database answers */
export async function assertNotEmpty(forge: ForgeContext): Promise<void> {
  if (await forge.git.branchTip(forge.defaultBranch)) return;
  if ((await forge.git.refs('refs/heads/')).length > 0) return;
  throw new ApiError(409, 'Git Repository is empty.');
}

function refuseProtected(forge: ForgeContext, ref: string): void {
  const queued = ref.startsWith('refs/heads/') ? forge.queue.updateObjection(ref.slice(11)) : undefined;
  if (queued !== undefined) throw new ApiError(422, queued);
  const protection = ref.startsWith('refs/heads/') ? forge.store.state.protections[ref.slice(11)] : undefined;
  const objection = protection && pushObjection(protection);
  if (objection) throw new ApiError(422, objection);
}

function reference({ urls }: ForgeContext, { ref, sha, type }: Ref): Record<string, unknown> {
  return {
    ref,
    node_id: nodeId('Ref', ref),
    url: `${urls.api}/git/${urls.path(ref)}`,
    object: { sha, type, url: `${urls.api}/git/${type}s/${sha}` },
  };
}
