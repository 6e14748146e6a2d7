/** What is Headroom's own, or about it, where there is no GraphQL. */
import type { OpenBranch, Reopening } from '../forge.ts';
import type { GitHubRepository } from './repository.ts';
import { loginOf, moment } from './responses.ts';

/** Own pull requests that are open from branches of this beginning, newest first. */
export async function listOwnOpen(
  { client, where, name }: GitHubRepository,
  beginning: string,
): Promise<readonly OpenBranch[]> {
  const own = await client.account();
  if (own === null) return [];
  const pages = await client.pages(
    (octokit, page) => octokit.rest.pulls.list({ ...where, state: 'open', ...page }),
    (pulls) => pulls.length,
  );
  return pages
    .flat()
    .filter(({ user, head }) => loginOf(user) === own && head.ref.startsWith(beginning))
    .filter(({ head }) => sameName(head.repo?.full_name, name))
    .map(({ number, head }) => ({ number, branch: head.ref }))
    .toSorted((a, b) => b.number - a.number);
}

/** Who reopened a pull request last; null where nobody did, or the server has no list of events. */
export async function lastReopeningByRest(
  { client, where }: GitHubRepository,
  number: number,
): Promise<Reopening | null> {
  const pages = await client.pagesOr404(
    (octokit, page) => octokit.rest.issues.listEvents({ ...where, issue_number: number, ...page }),
    (events) => events.length,
  );
  if ('message' in pages) return null;
  const last = pages.flat().findLast(({ event }) => event === 'reopened');
  if (last === undefined) return null;
  return { id: last.node_id, by: loginOf(last.actor) ?? 'unknown', at: moment(last.created_at) };
}

function sameName(full: string | undefined, name: string): boolean {
  return full?.toLowerCase() === name.toLowerCase();
}
