/** Who may read an opened overview: the API server says whose token it is, and what that user may read. */
import { createHash } from 'node:crypto';
import { AuthenticationV1Api, AuthorizationV1Api, type KubeConfig, type V1UserInfo } from '@kubernetes/client-node';
import type { MonotonicMs } from '../../domain/kernel/time.ts';

/** The right to read the overview, as a rule of a ClusterRole has it: `nonResourceURLs: [/headroom/overview]`, `verbs: [get]`. */
export const OVERVIEW_PATH = '/headroom/overview';

/** A token of a service account has about a kilobyte, one of an OpenID provider may have several. */
const MAX_TOKEN = 16 * 1024;
/** A page is loaded every 30 seconds, and some people share a token: what was answered holds for this long, in milliseconds. */
const KEPT_MS = 10_000;
/** Answers that are kept, and questions that are asked at once: others may send any number of tokens. */
const MOST_KEPT = 1_000;
const MOST_ASKED = 8;

export type Visit =
  | { readonly kind: 'allowed'; readonly user: string }
  /** Nobody is named, or nobody that the API server knows. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'forbidden'; readonly user: string }
  /** Too many ask at once. */
  | { readonly kind: 'busy' };

/** What the API server is asked. */
export interface Reviews {
  /** The user of a token; null for a token that it does not know. */
  readonly userOf: (token: string) => Promise<V1UserInfo | null>;
  readonly mayRead: (user: V1UserInfo) => Promise<boolean>;
}

export class Visitors {
  readonly #reviews: Reviews;
  readonly #kept = new Map<string, { readonly visit: Visit; readonly until: MonotonicMs }>();
  #asked = 0;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
  }

  /**
   * @param authorization the header: `Bearer TOKEN`, or `Basic` with the token as the password, which a browser asks for.
   * @throws the API server's error, or the network's.
   */
  async visit(authorization: string | undefined): Promise<Visit> {
    const token = tokenOf(authorization);
    if (token === null) return { kind: 'unknown' };
    // Not the token itself, which would be in every dump of the memory.
    const key = createHash('sha256').update(token).digest('base64');
    const now = performance.now();
    const kept = this.#kept.get(key);
    if (kept !== undefined && now < kept.until) return kept.visit;
    if (this.#asked >= MOST_ASKED) return { kind: 'busy' };
    this.#asked += 1;
    try {
      const visit = await this.#ask(token);
      this.#kept.delete(key);
      this.#kept.set(key, { visit, until: now + KEPT_MS });
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      return visit;
    } finally {
      this.#asked -= 1;
    }
  }

  async #ask(token: string): Promise<Visit> {
    const user = await this.#reviews.userOf(token);
    if (user === null) return { kind: 'unknown' };
    const name = user.username ?? '';
    return { kind: (await this.#reviews.mayRead(user)) ? 'allowed' : 'forbidden', user: name };
  }
}

/** Null for a header without a token, or with one that nobody has. */
function tokenOf(authorization = ''): string | null {
  const [, scheme = '', given = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  const token =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(given, 'base64')
          .toString()
          .replace(/^[^:]*:?/, '')
      : given;
  return token === '' || token.length > MAX_TOKEN ? null : token;
}

/** Asks the API server with the rights of the process. */
export function reviewsBy(kubeConfig: KubeConfig): Reviews {
  const authentication = kubeConfig.makeApiClient(AuthenticationV1Api);
  const authorization = kubeConfig.makeApiClient(AuthorizationV1Api);
  return {
    userOf: async (token) => {
      const { status } = await authentication.createTokenReview({ body: { spec: { token } } });
      return status?.authenticated === true ? (status.user ?? null) : null;
    },
    mayRead: async ({ username, groups, uid, extra }) => {
      const spec = {
        nonResourceAttributes: { path: OVERVIEW_PATH, verb: 'get' },
        ...(username === undefined ? {} : { user: username }),
        ...(groups === undefined ? {} : { groups }),
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
      };
      const { status } = await authorization.createSubjectAccessReview({ body: { spec } });
      return status?.allowed === true && status.denied !== true;
    },
  };
}
