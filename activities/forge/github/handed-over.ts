/** A pull request that GitHub is asked to merge by itself, by a merge queue or by auto-merge. Both are mutations of GraphQL. */
import type { EnqueueOutcome } from '../forge.ts';
import type { GitHubClient } from './client.ts';

/** `rejected` where GitHub does not take it, as it is or as it has become. */
export async function handOver(
  client: GitHubClient,
  mutation: string,
  input: Readonly<Record<string, unknown>>,
): Promise<EnqueueOutcome> {
  const answer = await client.graphqlAnswer(['UNPROCESSABLE', 'STALE_DATA', 'FORBIDDEN'], mutation, { input });
  return answer.ok ? { kind: 'queued' } : { kind: 'rejected', message: answer.message };
}

/** Goes before the writes that wait. That it is not there any more is no failure. */
export async function takeBack(
  client: GitHubClient,
  mutation: string,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  await client.graphqlAnswer(['UNPROCESSABLE', 'NOT_FOUND'], mutation, { input }, { takesBack: true });
}
