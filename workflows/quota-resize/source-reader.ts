import { CancellationScope, log } from '@temporalio/workflow';
import type { Observed, QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { SourceObservation } from '../../domain/quota-resize/model/observation.ts';
import { isCancelled } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { observing } from './activities.ts';

type Asked = Parameters<QuotaResizeActivities['observeSource']>[0];
export type SourceInput = Omit<Asked, 'afterMs' | 'observes'>;

/** A place in Git that is looked up before it is needed. */
interface Ahead {
  readonly question: string;
  readonly at: EpochMs;
  /** Whether it comes to an end while its answer is of use. */
  readonly isLimited: boolean;
  readonly scope: CancellationScope;
  /** Null where it could not be found out; whoever needs it asks again. */
  readonly answer: Promise<SourceObservation | null>;
  /** The answer, once it is there. */
  answered: SourceObservation | null;
  /** What was observed of the quota at its end, and a moment before that. */
  seen: Observed;
  readonly readAfter: EpochMs;
}

/**
 * How old an answer may be that is decided by, in milliseconds. What is written later is compared with Git once more, so
 * an older one costs a repetition and nothing else.
 */
const FRESH_MS = 10_000;

/** Finds the place of quotas in Git: ahead of time where the episode waits for its demand to come to rest. */
export class SourceReader {
  #ahead: Ahead | null = null;

  /** Whether a place is being looked up, for as long as its answer is of use. */
  get isLooking(): boolean {
    return this.#ahead?.isLimited === true && this.#ahead.answered === null;
  }

  /** Completes when the place is known, or cannot be found out. */
  async looked(): Promise<void> {
    await Promise.race([this.#ahead?.answer, CancellationScope.current().cancelRequested]);
  }

  /**
   * Begins to look the place up, unless the same was asked a moment ago.
   *
   * @param besides what is asked for with it; such a look ends when the answer would be too old, as it is waited for.
   */
  lookUp(input: SourceInput, summary: string, besides: Pick<Asked, 'afterMs' | 'observes'> | null): void {
    const question = questionOf(input);
    if (this.#ahead !== null && this.#ahead.question === question && isFresh(this.#ahead)) return;
    this.forget();
    const scope = new CancellationScope();
    const isLimited = besides !== null;
    const limit = isLimited ? { scheduleToCloseTimeout: FRESH_MS } : {};
    const looked = scope
      .run(async () => await observe({ ...input, ...besides }, summary, limit))
      .catch((error: unknown) => {
        if (!isCancelled(error)) log.info('a place in Git that was looked up ahead is not known', { error });
        return null;
      });
    const answer = looked.then((found) => {
      if (found === null) return null;
      const { observation, readAfter: seenAfter, ...place } = found;
      if (observation !== undefined) {
        ahead.seen = { observation, ...(seenAfter === undefined ? {} : { readAfter: seenAfter }) };
      }
      ahead.answered = place;
      return place;
    });
    const at = Date.now();
    const readAfter = at + (besides?.afterMs ?? 0);
    const ahead: Ahead = { question, at, isLimited, scope, answer, answered: null, seen: {}, readAfter };
    this.#ahead = ahead;
  }

  /** What was observed of the quota when the place was looked up, after which moment; null where that is not over. */
  get seen(): { readonly observed: Observed; readonly readAfter: EpochMs } | null {
    const ahead = this.#ahead;
    return ahead === null || ahead.answered === null ? null : { observed: ahead.seen, readAfter: ahead.readAfter };
  }

  /** What `read` would answer at once; null where it would wait. */
  known(input: SourceInput): SourceObservation | null {
    const ahead = this.#ahead;
    return ahead !== null && ahead.question === questionOf(input) && isFresh(ahead) ? ahead.answered : null;
  }

  async read(input: SourceInput, summary: string): Promise<SourceObservation> {
    const ahead = this.#ahead;
    this.#ahead = null;
    if (ahead === null) return await observe(input, summary);
    try {
      if (ahead.question === questionOf(input) && isFresh(ahead)) {
        // It was begun in another scope, which a command does not cancel.
        const answer = await Promise.race([ahead.answer, CancellationScope.current().cancelRequested]);
        if (answer !== null) return answer;
      }
    } finally {
      ahead.scope.cancel();
    }
    return await observe(input, summary);
  }

  /** Ends what was begun ahead. */
  forget(): void {
    this.#ahead?.scope.cancel();
    this.#ahead = null;
  }
}

async function observe(
  input: Asked,
  summary: string,
  limit: { readonly scheduleToCloseTimeout?: number } = {},
): Promise<SourceObservation & Observed> {
  return await observing.observeSource.executeWithOptions({ ...limit, summary: brief(summary) }, [input]);
}

function isFresh({ at }: Ahead): boolean {
  return Date.now() - at < FRESH_MS;
}

function questionOf(input: SourceInput): string {
  return JSON.stringify(input);
}
