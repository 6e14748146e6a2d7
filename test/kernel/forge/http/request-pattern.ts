/** Which requests a fault or a hold is for. */
export interface RequestPattern {
  /** Any method when left out. */
  readonly method?: string;
  /**
   * The path without query, as a glob (`*` within a segment, `**` across segments) or a regular expression. A glob may
   * leave out `/repos/OWNER/REPO`: `/pulls/7/merge`.
   */
  readonly path?: string | RegExp;
  /** A text that the request's body contains. */
  readonly body?: string;
  /** The first matching request that is meant, counted from 1. Default: 1. */
  readonly nth?: number;
  /** How many matching requests from there on. Default: 1. */
  readonly times?: number | 'always';
}

export interface IncomingRequest {
  readonly method: string;
  /** Percent-encoded, without the query and without the prefix `/api/v3`. */
  readonly path: string;
  readonly body: string;
}

/** Counts the requests that fit a pattern and says which of them are meant. */
export class RequestMatcher {
  readonly #pattern: RequestPattern;
  readonly #path: RegExp | undefined;
  #seen = 0;

  constructor(pattern: RequestPattern) {
    this.#pattern = pattern;
    this.#path = typeof pattern.path === 'string' ? globToRegExp(pattern.path) : pattern.path;
  }

  /** Whether this request is one that is meant; asking counts it. */
  meets({ method, path, body }: IncomingRequest): boolean {
    const { nth = 1, times = 1 } = this.#pattern;
    if (this.#pattern.method !== undefined && this.#pattern.method.toUpperCase() !== method) return false;
    if (this.#path && ![path, withoutRepository(path)].some((candidate) => this.#path?.test(decoded(candidate))))
      return false;
    if (this.#pattern.body !== undefined && !body.includes(this.#pattern.body)) return false;
    this.#seen += 1;
    return this.#seen >= nth && (times === 'always' || this.#seen < nth + times);
  }
}

function globToRegExp(glob: string): RegExp {
  const source = glob
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`);
}

function withoutRepository(path: string): string {
  return path.replace(/^\/repos\/[^/]+\/[^/]+/, '');
}

/** Clients differ in whether they encode the slashes of a path or a ref; a pattern need not. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
