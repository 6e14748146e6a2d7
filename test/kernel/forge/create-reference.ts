import { ApiError } from './api-error.ts';
import type { ForgeContext } from './context.ts';
import { isRefName } from './git/ref-names.ts';
import { RefMovedError } from './git/ref-updater.ts';
import { NO_OBJECT } from './git/repository.ts';

/** Creates a branch or a tag. Returns what it points to. @throws ApiError 422 in GitHub's words */
export async function createReference(
  forge: ForgeContext,
  { ref, sha, by }: { readonly ref: string; readonly sha: string; readonly by: string },
): Promise<{ readonly sha: string; readonly type: string }> {
  if (!isRefName(ref)) throw new ApiError(422, `${ref} is not a valid ref name.`);
  const object = await objectOf(forge, sha);
  if (ref.startsWith('refs/heads/') && object.type !== 'commit') throw new ApiError(422, 'Object is not a commit');
  if (await forge.git.resolve(ref)) throw new ApiError(422, 'Reference already exists');
  await moved(() => forge.git.updateRef(ref, object.sha, NO_OBJECT));
  await afterMove(forge, by, ref, null, object.sha);
  return object;
}

/** @throws ApiError 422 when there is no such object */
export async function objectOf(forge: ForgeContext, sha: string): Promise<{ sha: string; type: string }> {
  const found = /^[0-9a-f]{40}$/.test(sha) ? await forge.git.resolve(sha) : undefined;
  if (!found) throw new ApiError(422, 'Object does not exist');
  return found;
}

/** @throws ApiError 422 when somebody moved the reference in the same moment */
export async function moved(move: () => Promise<void>): Promise<void> {
  try {
    await move();
  } catch (cause) {
    if (cause instanceof RefMovedError) throw new ApiError(422, 'Reference update failed');
    throw cause;
  }
}

/** Takes in that a branch was made, moved or deleted. */
export async function afterMove(
  forge: ForgeContext,
  by: string,
  ref: string,
  before: string | null,
  after: string | null,
): Promise<void> {
  if (!ref.startsWith('refs/heads/')) return;
  await forge.pulls.branchMoved({ branch: ref.slice('refs/heads/'.length), before, after }, by);
}
