import { ApiError } from '../api-error.ts';
import type { FailureType } from '../graphql/errors.ts';
import { type IncomingRequest, RequestMatcher, type RequestPattern } from './request-pattern.ts';
import { primaryLimit, secondaryLimit } from './rate-limits.ts';

/** What goes wrong. */
export type FaultAction =
  /** Answered with this status, without any effect. */
  | { readonly kind: 'status'; readonly status: number; readonly message?: string }
  /** Takes effect, and then the connection breaks: the client never hears of it. */
  | { readonly kind: 'answer-lost' }
  /** The connection is reset before anything happens. */
  | { readonly kind: 'connection-reset' }
  /** Takes effect and is answered, but so much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** 403 with `retry-after`; with `status: 200`, which only GraphQL does, an error in the answer. */
  | { readonly kind: 'secondary-rate-limit'; readonly retryAfterSeconds?: number; readonly status?: 200 }
  /** 403 (or 429) with `x-ratelimit-remaining: 0`. */
  | { readonly kind: 'primary-rate-limit'; readonly status?: 403 | 429; readonly resetInSeconds?: number }
  /** 401, as for a token that was revoked. */
  | { readonly kind: 'bad-credentials' }
  /** One field of a GraphQL request is an error, in an answer with 200; the others are answered. */
  | FieldFault;

export interface FieldFault {
  readonly kind: 'field-error';
  /** A field of the root: `createPullRequest`. */
  readonly field: string;
  /** Absent: an error of GitHub's own, which has no type. */
  readonly type?: FailureType;
  readonly message: string;
  /** The field takes effect all the same. */
  readonly after?: boolean;
}

export type FaultRule = RequestPattern & { readonly action: FaultAction };

export interface Fault {
  readonly rule: FaultRule;
  /** How many requests it has hit so far. */
  readonly hits: number;
  /** When it hit them, in milliseconds since 1970. */
  readonly hitTimes: readonly number[];
  remove(): void;
}

/** Where a request is stopped: before anything happens, or after its effect and before its answer. */
export type HoldRule = RequestPattern & { readonly when: 'before' | 'after' };

export interface Hold {
  /** Resolves when a request has come to the point and waits there. */
  readonly held: Promise<IncomingRequest>;
  /**
   * Lets the request go on, and later ones pass. A request that was held before its effect and whose client is gone by
   * then has no effect.
   */
  release(): void;
  /** Breaks the connection of the held request; before its effect, it has none. */
  abandon(): void;
}

interface ArmedHold {
  readonly rule: HoldRule;
  readonly matcher: RequestMatcher;
  readonly opened: Promise<'go on' | 'break'>;
  announce(request: IncomingRequest): void;
  abandon(): void;
}

interface ArmedFault {
  readonly matcher: RequestMatcher;
  readonly fault: Fault & { hits: number; hitTimes: number[] };
}

/** The faults and holds that a test has set. */
export class Faults {
  readonly #faults = new Set<ArmedFault>();
  readonly #holds = new Set<ArmedHold>();

  fail(rule: FaultRule): Fault {
    const armed: ArmedFault = {
      matcher: new RequestMatcher(rule),
      fault: {
        rule,
        hits: 0,
        hitTimes: [],
        remove: () => {
          this.#faults.delete(armed);
        },
      },
    };
    this.#faults.add(armed);
    return armed.fault;
  }

  hold(rule: HoldRule): Hold {
    const held = Promise.withResolvers<IncomingRequest>();
    const opened = Promise.withResolvers<'go on' | 'break'>();
    const open = (how: 'go on' | 'break'): void => {
      this.#holds.delete(armed);
      opened.resolve(how);
    };
    const armed: ArmedHold = {
      rule,
      matcher: new RequestMatcher(rule),
      opened: opened.promise,
      announce: held.resolve,
      abandon: () => open('break'),
    };
    this.#holds.add(armed);
    return { held: held.promise, release: () => open('go on'), abandon: () => open('break') };
  }

  /** Forgets all faults and breaks what is held. */
  clear(): void {
    this.#faults.clear();
    for (const hold of this.#holds) hold.abandon();
  }

  /** What goes wrong with this request. Every rule counts it; the first that means it acts. */
  next(request: IncomingRequest): FaultAction | undefined {
    let action: FaultAction | undefined;
    for (const { matcher, fault } of this.#faults) {
      if (!matcher.meets(request) || action) continue;
      fault.hits += 1;
      fault.hitTimes.push(Date.now());
      action = fault.rule.action;
    }
    return action;
  }

  /** The holds that stop this request, in the order in which they were set. */
  stopping(request: IncomingRequest): readonly ArmedHold[] {
    return [...this.#holds].filter((hold) => hold.matcher.meets(request));
  }
}

/** Waits at every hold of one kind. Returns whether the connection is to be broken. */
export async function waitAt(
  holds: readonly ArmedHold[],
  when: 'before' | 'after',
  request: IncomingRequest,
): Promise<'go on' | 'break'> {
  for (const hold of holds) {
    if (hold.rule.when !== when) continue;
    hold.announce(request);
    if ((await hold.opened) === 'break') return 'break';
  }
  return 'go on';
}

/** The error answer of a fault that is one. */
export function faultAnswer(action: FaultAction, limit: number): ApiError | undefined {
  switch (action.kind) {
    case 'status':
      return new ApiError(
        action.status,
        action.message ?? (action.status >= 500 ? 'Server Error' : 'PreviouslyRejected'),
      );
    case 'secondary-rate-limit':
      return secondaryLimit(action.retryAfterSeconds ?? 60);
    case 'primary-rate-limit': {
      const reset = Math.ceil(Date.now() / 1000) + (action.resetInSeconds ?? 60);
      return primaryLimit(action.status ?? 403, limit, reset);
    }
    case 'bad-credentials':
      return new ApiError(401, 'Bad credentials');
    default:
      return undefined;
  }
}
