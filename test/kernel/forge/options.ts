import type { Writable } from 'node:stream';
import type { HookOptions } from './hooks.ts';
import type { CheckMode, MergeMethod } from './model.ts';
import type { RepositoryOptions } from './open-repository.ts';

export interface ForgeOptions extends RepositoryOptions {
  /** More repositories; the forge's own methods are about the first one. */
  repositories?: readonly RepositoryOptions[];
  /** Webhooks of the first repository, made anew at every start. */
  hooks?: readonly HookOptions[];
  /** How long a webhook may take to answer, in milliseconds. Default: GitHub's 10,000. */
  webhookTimeoutMs?: number;
  /** Serves GitHub Enterprise's addresses: the API below `/api/v3` and `/api/graphql`, and nowhere else. */
  enterprise?: boolean;
  /** 0, the default, takes a free port. */
  port?: number;
  /** The token that requests must carry; without one (and without `tokens`) every request is let in. */
  token?: string;
  /** Who the token, or a request without one, speaks for. Default: `headroom-bot`. */
  login?: string;
  /** More tokens, each with the login that it speaks for. */
  tokens?: Readonly<Record<string, string>>;
  /** What happens to each new head of a pull request. Default: `none`. */
  checks?: CheckMode;
  /** How long the check run `ci` takes, in milliseconds. Default: 200. */
  checkDelayMs?: number;
  /** How long every answer takes at least, in milliseconds. Default: 0. */
  latencyMs?: number;
  /** How long `mergeable` is null after a push or a move of the base, in milliseconds; 0: never. Default: 50. */
  mergeableDelayMs?: number;
  /** Where a recursive tree is cut. Default: GitHub's 100,000 entries and 7 MB. */
  treeLimit?: { entries?: number; bytes?: number };
  /** The primary limit. Default: GitHub's 5,000 requests in 3,600 s. */
  rateLimit?: { limit?: number; windowSeconds?: number };
  /** The secondary limits; each is off unless it is given. GitHub's own: 80 and 500 writes, 900 points, 100 at once. */
  secondaryLimits?: SecondaryLimits;
  /** Which kinds of merge the repository allows. Default: all. */
  mergeMethods?: readonly MergeMethod[];
  /** Finds the decision in the name of a branch (its first group), for the log. Default: the last part of the name. */
  decisionPattern?: RegExp;
  /** Gets a line of JSON for every write: a stream, or the path of a file to append to. */
  log?: Writable | string;
  /** Checks every exchange against GitHub's OpenAPI description. Default: on in a test run, else off. */
  validate?: boolean;
}

export interface SecondaryLimits {
  contentPerMinute?: number;
  contentPerHour?: number;
  /** A write is 5 points, a read 1. */
  pointsPerMinute?: number;
  concurrent?: number;
  /** How long a minute of these limits lasts, in milliseconds, for tests that cannot wait for one. Default: 60,000. */
  minuteMs?: number;
  /** With what a refusal is answered; GitHub does either. Default: 403. */
  status?: 403 | 429;
}
