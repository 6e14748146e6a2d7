/** Whose something on the forge is: Headroom may have another account by now than the one that it opened a pull request with. */
import type { Forge, PullRequest } from '../../forge/forge.ts';

/**
 * Whether an account is Headroom's, as far as a pull request tells: it opened that, or it is the one that this process has.
 *
 * @param by null where the forge names nobody.
 */
export async function isOwnAccount(
  forge: Pick<Forge, 'pullRequests'>,
  { user }: Pick<PullRequest, 'user'>,
  by: string | null,
): Promise<boolean> {
  return by !== null && (by === user || by === (await forge.pullRequests.ownAccount()));
}
