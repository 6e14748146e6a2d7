/** What became of every pull request, from the forge's log and from what people did. */
import type { WriteExchange } from '../kernel/forge/http/write-log.ts';
import { openedBy, stepsOf } from '../kernel/forge/opening.ts';

interface JournalledPullRequest {
  readonly number: number;
  readonly namespace: string;
  readonly decision: string;
  readonly openedAt: string;
  /** Merged or closed, by whomever; absent while it is open. */
  readonly endedAt?: string;
}

/**
 * The pull requests in the order of their opening.
 *
 * @param endedByPeople when people merged or closed which one, ISO 8601.
 */
export function pullRequestsOf(
  writes: readonly WriteExchange[],
  endedByPeople: ReadonlyMap<number, string>,
): readonly JournalledPullRequest[] {
  const ended = new Map(endedByPeople);
  for (const { method, path, at, effect, requestBody } of writes) {
    const [, number, merge] = /\/pulls\/(\d+)(\/merge)?$/.exec(path) ?? [];
    const closes = method === 'PATCH' && (requestBody as { state?: string } | undefined)?.state === 'closed';
    if (!effect || number === undefined || !(closes || (method === 'PUT' && merge !== undefined))) continue;
    if (!ended.has(Number(number))) ended.set(Number(number), at);
  }
  return writes.flatMap((write) => {
    const number = openedBy(write);
    if (number === undefined) return [];
    const { branch = '', decision = '', at } = write;
    const endedAt = ended.get(number);
    const namespace = branch.split('/')[2] ?? '';
    return { number, namespace, decision, openedAt: at, ...(endedAt === undefined ? {} : { endedAt }) };
  });
}

/** Every way in which the writes were not "one pull request, one commit and one merge for a decision, one open at a time". */
export function doubleWrites(
  writes: readonly WriteExchange[],
  endedByPeople: ReadonlyMap<number, string>,
): readonly string[] {
  const problems: string[] = [];
  const last = new Map<string, JournalledPullRequest>();
  for (const pull of pullRequestsOf(writes, endedByPeople)) {
    const before = last.get(pull.namespace);
    if (before !== undefined && !(before.endedAt !== undefined && before.endedAt <= pull.openedAt)) {
      problems.push(
        `${pull.namespace}: #${pull.number} was opened at ${pull.openedAt} while #${before.number} was open (until ${before.endedAt ?? 'now'})`,
      );
    }
    last.set(pull.namespace, pull);
  }
  const steps = [
    { what: 'pull requests', is: (write: WriteExchange) => openedBy(write) !== undefined },
    { what: 'commits', is: (write: WriteExchange) => stepsOf(write).includes('PUT contents') },
    { what: 'merges', is: ({ method, path }: WriteExchange) => method === 'PUT' && path.endsWith('/merge') },
  ];
  for (const { what, is } of steps) {
    const perBranch = new Map<string, number>();
    for (const write of writes) {
      if (!write.effect || write.branch === undefined || !is(write)) continue;
      perBranch.set(write.branch, (perBranch.get(write.branch) ?? 0) + 1);
    }
    for (const [branch, count] of perBranch) if (count > 1) problems.push(`${branch}: ${count} ${what}`);
  }
  return problems;
}
