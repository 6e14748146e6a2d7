/** The request that opens a pull request at once, and what a write has made. */
import type { RequestPattern } from './http/request-pattern.ts';
import type { WriteExchange } from './http/write-log.ts';

/** Recognises the one request that makes branch, commit and pull request for a quota of a namespace. */
export function openingOf(namespace: string, cluster = 'test'): RequestPattern {
  return { method: 'POST', path: '/graphql', body: `"headRefName":"headroom/${cluster}/${namespace}/` };
}

const STEPS = [
  ['createRef', 'POST git'],
  ['createCommitOnBranch', 'PUT contents'],
  ['createPullRequest', 'POST pulls'],
] as const;

/** What a write made, as if it had been a REST request for each: its method, and what of the repository it is about. */
export function stepsOf({ method, path, responseBody }: WriteExchange): readonly string[] {
  if (path !== '/graphql') return [`${method} ${path.replace(/^\/repos\/[^/]+\/[^/]+\//, '').replace(/\/.*/, '')}`];
  const { data } = (responseBody ?? {}) as { readonly data?: Readonly<Record<string, unknown>> | null };
  return STEPS.flatMap(([field, step]) => (data?.[field] == null ? [] : [step]));
}

/** The number of the pull request that a write opened; undefined where it opened none. */
export function openedBy({ method, path, effect, responseBody }: WriteExchange): number | undefined {
  interface Opened {
    readonly number?: number;
  }
  if (!effect || method !== 'POST' || !/\/(?:pulls|graphql)$/.test(path)) return undefined;
  const answer = responseBody as
    | (Opened & { readonly data?: { readonly createPullRequest?: { readonly pullRequest: Opened } | null } | null })
    | undefined;
  return answer?.number ?? answer?.data?.createPullRequest?.pullRequest.number;
}
