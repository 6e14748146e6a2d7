import { ApiError } from '../api-error.ts';
import type { SecondaryLimits } from '../options.ts';

const MINUTE_MS = 60_000;
const MINUTES_OF_HOUR = 60;
// GitHub's weights: a request that reads is one point, one that writes five.
const READ_POINTS = 1;
const WRITE_POINTS = 5;

const SECONDARY =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.';

/** What one credential has used. */
interface Usage {
  used: number;
  resetAt: number;
  /** The admitted writes, all of them, oldest first. */
  readonly writes: number[];
  points: { at: number; points: number }[];
  running: number;
}

/** GitHub's primary limit (requests in a window of an hour) and its secondary limits (how fast one writes). */
export class RateLimits {
  readonly #limit: number;
  readonly #windowMs: number;
  #secondary: SecondaryLimits;
  readonly #usage = new Map<string, Usage>();

  constructor(limit: number, windowSeconds: number, secondary: SecondaryLimits) {
    this.#limit = limit;
    this.#windowMs = windowSeconds * 1000;
    this.#secondary = secondary;
  }

  /** The primary limit: requests in a window. */
  get limit(): number {
    return this.#limit;
  }

  /** Changes the secondary limits from now on; what was written before counts. */
  setSecondary(limits: SecondaryLimits): void {
    this.#secondary = limits;
  }

  /** When the admitted writes of a credential, or of all, came in, in milliseconds since 1970, oldest first. */
  writeTimes(credential?: string): number[] {
    const all = credential === undefined ? [...this.#usage.values()] : [this.#of(credential)];
    return all.flatMap(({ writes }) => writes).sort((a, b) => a - b);
  }

  /**
   * A request comes in.
   * @param writes how many things it makes: 0 for one that reads, and of GraphQL as many as it has mutations
   * @throws ApiError 403 or 429 when a limit is reached; then it is not counted as running
   */
  admit(credential: string, writes: number): void {
    const now = Date.now();
    const usage = this.#of(credential);
    if (usage.used >= this.#limit) throw primaryLimit(403, this.#limit, Math.ceil(usage.resetAt / 1000));
    const { contentPerMinute, contentPerHour, pointsPerMinute, concurrent, status = 403 } = this.#secondary;
    const minute = this.#secondary.minuteMs ?? MINUTE_MS;
    const reject = (until: number): ApiError => secondaryLimit(secondsUntil(now, until), status);
    if (concurrent !== undefined && usage.running >= concurrent) throw secondaryLimit(1, status);
    const points = writes > 0 ? WRITE_POINTS : READ_POINTS;
    usage.points = usage.points.filter(({ at }) => at > now - minute);
    const spent = usage.points.reduce((sum, charge) => sum + charge.points, 0);
    if (pointsPerMinute !== undefined && spent + points > pointsPerMinute) {
      throw reject((usage.points[0]?.at ?? now) + minute);
    }
    if (writes > 0) {
      const free = (limit: number | undefined, windowMs: number): number | undefined => {
        // The one that must have left the window before so many more fit into it.
        const oldest = limit === undefined ? undefined : usage.writes.at(Math.min(-1, writes - 1 - limit));
        return oldest === undefined || oldest <= now - windowMs ? undefined : oldest + windowMs;
      };
      const until = free(contentPerMinute, minute) ?? free(contentPerHour, minute * MINUTES_OF_HOUR);
      if (until !== undefined) throw reject(until);
      for (let write = 0; write < writes; write += 1) usage.writes.push(now);
    }
    if (pointsPerMinute !== undefined) usage.points.push({ at: now, points });
    usage.running += 1;
  }

  /** An admitted request has its answer. */
  finish(credential: string): void {
    this.#of(credential).running -= 1;
  }

  /** Takes one from the primary limit; a 304 and the question for the limit itself take none. */
  charge(credential: string): void {
    this.#of(credential).used += 1;
  }

  headers(credential: string): Record<string, string> {
    const { limit, remaining, used, reset } = this.core(credential);
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-resource': 'core',
    };
  }

  /** GitHub's `rate-limit`; `reset` is in seconds since 1970. */
  core(credential: string): { limit: number; remaining: number; used: number; reset: number } {
    const { used, resetAt } = this.#of(credential);
    return {
      limit: this.#limit,
      remaining: Math.max(0, this.#limit - used),
      used,
      reset: Math.ceil(resetAt / 1000),
    };
  }

  #of(credential: string): Usage {
    const usage = this.#usage.get(credential) ?? { used: 0, resetAt: 0, writes: [], points: [], running: 0 };
    this.#usage.set(credential, usage);
    const now = Date.now();
    if (now >= usage.resetAt) Object.assign(usage, { used: 0, resetAt: now + this.#windowMs });
    return usage;
  }
}

/** How many of these times lie within one window at most, wherever it begins. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  let first = 0;
  return sorted.reduce((most, time, index) => {
    while ((sorted[first] ?? time) <= time - windowMs) first += 1;
    return Math.max(most, index - first + 1);
  }, 0);
}

/** GitHub's answer when the primary limit is used up. */
export function primaryLimit(status: 403 | 429, limit: number, reset: number): ApiError {
  return new ApiError(
    status,
    'API rate limit exceeded for this user. If you reach out to GitHub Support for help, please include the request ID.',
    {
      headers: {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': '0',
        'x-ratelimit-used': String(limit),
        'x-ratelimit-reset': String(reset),
        'x-ratelimit-resource': 'core',
      },
    },
  );
}

/** GitHub's answer when somebody writes too fast. */
export function secondaryLimit(retryAfterSeconds: number, status: 403 | 429 = 403): ApiError {
  return new ApiError(status, SECONDARY, { headers: { 'retry-after': String(retryAfterSeconds) } });
}

function secondsUntil(now: number, then: number): number {
  return Math.max(1, Math.ceil((then - now) / 1000));
}
