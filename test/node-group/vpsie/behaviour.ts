/** How unkindly VPSie answers. */

/** What becomes of one request for a machine. */
export interface AddBehaviour {
  /** How many machines come of it; 1 where it says nothing. */
  readonly machines?: number;
  /**
   * Milliseconds after the request at which somebody else's machine comes up in the list, in a group of theirs: before ours, with it,
   * or after it.
   */
  readonly foreignAfterMs?: number;
  /** How long after the request they come up in the list, in milliseconds; 0: with the answer. */
  readonly listedAfterMs?: number;
  /** Absent: the machine as an object. */
  readonly answer?: Unkindness | 'true' | 'data-true' | 'without-identifier';
}

/** An answer that says nothing of what was done. */
export type Unkindness =
  /** Status 200 with an error. */
  | 'error'
  /** The page of a proxy. */
  | 'page'
  /** The connection is kept open, and nothing comes. */
  | 'silence'
  /** The connection is broken. */
  | 'break'
  /** Status 429, with or without Retry-After. */
  | 'limited'
  | 'limited-without-time'
  /** Status 401, as after the end of a token. */
  | 'unauthorized'
  /** A limit of the account. */
  | 'terminal'
  /** Status 404, whatever there is. */
  | 'not-found';

/** What becomes of one request of another kind. */
export interface Fault {
  readonly method: string;
  /** A part of the path. */
  readonly path: string;
  readonly answer: Unkindness;
  /** Whether the request takes effect all the same. */
  readonly takesEffect?: boolean;
}

/** How the Node of a machine comes; times in milliseconds. */
export interface NodeBehaviour {
  readonly afterMs: number;
  /** 0: never; 2: a second one of another name, as after an installation that was begun anew. */
  readonly nodes: 0 | 1 | 2;
}

/** Seconds of Retry-After. */
const RETRY_AFTER_SECONDS = 1;

/** An answer of HTTP, or null for none. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer of an unkindness that has one. */
export function unkindAnswer(kind: Exclude<Unkindness, 'silence' | 'break'>): HttpAnswer {
  switch (kind) {
    case 'error':
      return json(200, { error: true, code: 500, message: 'Something went wrong, try again later' });
    case 'page':
      return { status: 502, headers: { 'content-type': 'text/html' }, body: '<html><body>Bad Gateway</body></html>' };
    case 'limited':
      return {
        ...json(429, { error: true, message: 'Rate limit reached' }),
        headers: { 'retry-after': `${RETRY_AFTER_SECONDS}` },
      };
    case 'limited-without-time':
      return json(429, { error: true, message: 'Rate limit reached' });
    case 'unauthorized':
      return json(401, { error: true, message: 'Unauthorized' });
    case 'not-found':
      return json(404, { error: true, message: 'Not found' });
    case 'terminal':
      return json(200, { error: true, message: 'Your plan does not allow more nodes' });
  }
}

export function json(status: number, body: unknown): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
