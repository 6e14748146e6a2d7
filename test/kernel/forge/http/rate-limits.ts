import { ApiError } from '../api-error.ts';
import type { SecondaryLimits } from '../options.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
// GitHub's weights: a request that reads is one point, one that writes five.
const READ_POINTS = 1;
const WRITE_POINTS = 5;

const SECONDARY =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.';

/** GitHub's primary limit (requests in a window of an hour) and its secondary limits (how fast one writes). */
export class RateLimits {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #secondary: SecondaryLimits;
  #used = 0;
  #resetAt = 0;
  #writes: number[] = [];
  #points: { at: number; points: number }[] = [];
  #running = 0;

  constructor(limit: number, windowSeconds: number, secondary: SecondaryLimits) {
    this.#limit = limit;
    this.#windowMs = windowSeconds * 1000;
    this.#secondary = secondary;
  }

  /** A request comes in. @throws ApiError 403 when a limit is reached; then it is not counted as running */
  admit(writes: boolean): void {
    const now = Date.now();
    this.#roll(now);
    if (this.#used >= this.#limit) throw primaryLimit(403, this.#limit, Math.ceil(this.#resetAt / 1000));
    const { contentPerMinute, contentPerHour, pointsPerMinute, concurrent } = this.#secondary;
    if (concurrent !== undefined && this.#running >= concurrent) throw secondaryLimit(1);
    const points = writes ? WRITE_POINTS : READ_POINTS;
    this.#points = this.#points.filter(({ at }) => at > now - MINUTE);
    this.#writes = this.#writes.filter((at) => at > now - HOUR);
    const spent = this.#points.reduce((sum, one) => sum + one.points, 0);
    if (pointsPerMinute !== undefined && spent + points > pointsPerMinute) {
      throw secondaryLimit(secondsUntil(now, (this.#points[0]?.at ?? now) + MINUTE));
    }
    if (writes) {
      const minute = this.#writes.filter((at) => at > now - MINUTE);
      if (contentPerMinute !== undefined && minute.length >= contentPerMinute) {
        throw secondaryLimit(secondsUntil(now, (minute[0] ?? now) + MINUTE));
      }
      if (contentPerHour !== undefined && this.#writes.length >= contentPerHour) {
        throw secondaryLimit(secondsUntil(now, (this.#writes[0] ?? now) + HOUR));
      }
      if (contentPerMinute !== undefined || contentPerHour !== undefined) this.#writes.push(now);
    }
    if (pointsPerMinute !== undefined) this.#points.push({ at: now, points });
    this.#running += 1;
  }

  /** An admitted request has its answer. */
  finish(): void {
    this.#running -= 1;
  }

  /** Takes one from the primary limit; a 304 and the question for the limit itself take none. */
  charge(): void {
    this.#roll(Date.now());
    this.#used += 1;
  }

  headers(): Record<string, string> {
    const { limit, remaining, used, reset } = this.core();
    return {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(reset),
      'x-ratelimit-resource': 'core',
    };
  }

  /** GitHub's `rate-limit`; `reset` is in seconds since 1970. */
  core(): { limit: number; remaining: number; used: number; reset: number } {
    this.#roll(Date.now());
    return {
      limit: this.#limit,
      remaining: Math.max(0, this.#limit - this.#used),
      used: this.#used,
      reset: Math.ceil(this.#resetAt / 1000),
    };
  }

  #roll(now: number): void {
    if (now < this.#resetAt) return;
    this.#used = 0;
    this.#resetAt = now + this.#windowMs;
  }
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
export function secondaryLimit(retryAfterSeconds: number): ApiError {
  return new ApiError(403, SECONDARY, { headers: { 'retry-after': String(retryAfterSeconds) } });
}

function secondsUntil(now: number, then: number): number {
  return Math.max(1, Math.ceil((then - now) / 1000));
}
