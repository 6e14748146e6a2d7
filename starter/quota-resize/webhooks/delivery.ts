/**
 * Reads GitHub's webhooks in terms of pull requests. Only fields that identify a pull request, and times, are read;
 * nothing else in the payload is trusted.
 */
import * as z from 'zod';
import type { EpochMs } from '../../../domain/kernel/time.ts';

/** A delivery whose pull requests may be Headroom's; any of its identifiers may match. */
export interface RepositoryEvent {
  /** `owner/name`, as GitHub writes it. */
  readonly repository: string;
  readonly numbers: readonly number[];
  /** Heads of pull requests, by branch and by commit. */
  readonly branches: readonly string[];
  readonly heads: readonly string[];
  /** A branch that moved, so that pull requests into it may not be mergeable any more. */
  readonly base: string | null;
  /** The files that its new commits change, as far as GitHub lists them. */
  readonly files: readonly string[];
  /** Whether a pull request was reopened, which may be one that no decision is about any more. */
  readonly isReopened: boolean;
  /** The time of the event: the newest time in the payload; null when there is none. */
  readonly at: EpochMs | null;
}

const sha = z.string().regex(/^[0-9a-f]{40,64}$/);
const time = z
  .union([z.string(), z.number()])
  .nullish()
  // GitHub writes seconds since 1970 in payloads of `push`.
  .transform((written) => (typeof written === 'number' ? written * 1000 : Date.parse(written ?? '')));

const repository = z.object({ full_name: z.string().min(3), pushed_at: time });
const ref = z.object({ ref: z.string(), sha });
const pullRequest = z.object({ number: z.int(), head: ref, updated_at: time });
const linked = z.array(z.object({ number: z.int() })).default([]);
const paths = z.array(z.string()).default([]);
const commit = z.object({ added: paths, removed: paths, modified: paths });
const suite = z.object({ head_branch: z.string().nullish(), updated_at: time });

type Found = Partial<Omit<RepositoryEvent, 'repository' | 'at'>> & { readonly times: readonly number[] };

/** The parsers of the events; every other event is ignored. */
const readers: Readonly<Record<string, z.ZodType<Found>>> = {
  pull_request: z
    .object({ action: z.string(), pull_request: pullRequest })
    .transform(({ action, pull_request: pull }) => ({ ...ofPull(pull, []), isReopened: action === 'reopened' })),
  pull_request_review: z
    .object({ pull_request: pullRequest, review: z.object({ submitted_at: time }) })
    .transform(({ pull_request: pull, review }) => ofPull(pull, [review.submitted_at])),
  issue_comment: z
    .object({
      issue: z.object({ number: z.int(), pull_request: z.object({}).nullish(), updated_at: time }),
      comment: z.object({ updated_at: time }),
    })
    .transform(({ issue, comment }) => ({
      numbers: issue.pull_request ? [issue.number] : [],
      times: [issue.updated_at, comment.updated_at],
    })),
  check_run: z
    .object({
      check_run: z.object({
        head_sha: sha,
        pull_requests: linked,
        check_suite: suite.nullish(),
        started_at: time,
        completed_at: time,
      }),
    })
    .transform(({ check_run: run }) => ({
      ...ofCheck(run.head_sha, run.pull_requests, run.check_suite?.head_branch),
      times: [run.started_at, run.completed_at, run.check_suite?.updated_at ?? Number.NaN],
    })),
  check_suite: z
    .object({ check_suite: suite.extend({ head_sha: sha, pull_requests: linked }) })
    .transform(({ check_suite: found }) => ({
      ...ofCheck(found.head_sha, found.pull_requests, found.head_branch),
      times: [found.updated_at],
    })),
  status: z
    .object({ sha, branches: z.array(z.object({ name: z.string() })).default([]), updated_at: time })
    .transform((status) => ({
      heads: [status.sha],
      branches: status.branches.map(({ name }) => name),
      times: [status.updated_at],
    })),
  push: z
    .object({ ref: z.string(), repository, commits: z.array(commit).nullish() })
    .transform(({ ref: name, repository: { pushed_at }, commits }) => {
      const branch = /^refs\/heads\/(.+)$/.exec(name)?.[1];
      const files = (commits ?? []).flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified]);
      return { branches: branch === undefined ? [] : [branch], base: branch ?? null, files, times: [pushed_at] };
    }),
};

/** The names of the events that are read. */
export const webhookEvents: readonly string[] = Object.keys(readers);

/**
 * @param event the header `X-GitHub-Event`.
 * @returns null for an event that is ignored.
 * @throws {z.ZodError} for a payload that differs from GitHub's documentation.
 */
export function readDelivery(event: string, payload: unknown): RepositoryEvent | null {
  const reader = Object.hasOwn(readers, event) ? readers[event] : undefined;
  if (reader === undefined) return null;
  const { repository: found } = z.object({ repository }).parse(payload);
  const read = reader.parse(payload);
  const { times, numbers = [], branches = [], heads = [], base = null, files = [], isReopened = false } = read;
  const existing = times.filter((at) => !Number.isNaN(at));
  const at = existing.length === 0 ? null : Math.max(...existing);
  return { repository: found.full_name, numbers, branches, heads, base, files, isReopened, at };
}

function ofPull({ number, head, updated_at }: z.output<typeof pullRequest>, times: readonly number[]): Found {
  return { numbers: [number], branches: [head.ref], heads: [head.sha], times: [updated_at, ...times] };
}

function ofCheck(
  head: string,
  pulls: readonly { readonly number: number }[],
  branch: string | null | undefined,
): Omit<Found, 'times'> {
  return { heads: [head], numbers: pulls.map(({ number }) => number), branches: branch ? [branch] : [] };
}
