/** Whose something on the forge is: Headroom may have another account by now than the one that it opened a pull request with. */
import type { Forge, ForgeApproval, PullRequest } from '../../forge/forge.ts';

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
  return by !== null && (isSameAccount(by, user) || isSameAccount(by, await forge.pullRequests.ownAccount()));
}

/** The approvals that people gave: the forge leaves out the account that opened the pull request, and the present one is no person either. */
export async function approvalsOfPeople(
  forge: Pick<Forge, 'pullRequests'>,
  approvals: readonly ForgeApproval[],
): Promise<readonly ForgeApproval[]> {
  const own = approvals.length === 0 ? null : await forge.pullRequests.ownAccount();
  return approvals.filter(({ by }) => !isSameAccount(by, own));
}

/** The forge takes a name in upper and in lower case for the same account, and not every answer has it as it was registered. */
function isSameAccount(name: string, other: string | null): boolean {
  return name.toLowerCase() === other?.toLowerCase();
}
