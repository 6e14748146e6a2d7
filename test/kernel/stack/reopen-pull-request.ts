import type { Stack } from './stack.ts';
import type { ShownPullRequest } from './watched-quota.ts';

/** What GitHub offers beside a closed pull request: to restore its branch, and then to reopen it. */
export async function reopenPullRequest(
  { forge, env }: Pick<Stack, 'forge' | 'env'>,
  { number, head }: Pick<ShownPullRequest, 'number' | 'head'>,
  by: string,
): Promise<void> {
  if ((await forge.branchTip(head.ref)) === undefined) {
    const answer = await fetch(`${forge.url}/repos/acme/gitops/git/refs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.worker['GITHUB_TOKEN']}`, connection: 'close' },
      body: JSON.stringify({ ref: `refs/heads/${head.ref}`, sha: head.sha }),
    });
    if (!answer.ok) throw new Error(`${head.ref} could not be restored: ${answer.status} ${await answer.text()}`);
  }
  await forge.reopenPullRequest(number, by);
}
