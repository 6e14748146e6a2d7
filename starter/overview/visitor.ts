/** Who may read an opened overview: the API server says whose token it is, and what that user may read. */
import { createHash } from 'node:crypto';
import { AuthenticationV1Api, AuthorizationV1Api, type KubeConfig, type V1UserInfo } from '@kubernetes/client-node';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';

/** The right to read the overview, as a rule of a ClusterRole has it: `nonResourceURLs: [/headroom/overview]`, `verbs: [get]`. */
export const OVERVIEW_PATH = '/headroom/overview';

/** A token of a service account has about a kilobyte, one of an OpenID provider may have several. */
const MAX_TOKEN = 16 * 1024;
/** A page is loaded every 30 seconds, and some people share a token: what was answered holds for this long, in milliseconds. */
const KEPT_MS = 10_000;
/** Answers of each kind that are kept, and questions that are asked at once: others may send any number of tokens. */
const MOST_KEPT = 1_000;
const MOST_ASKED = 8;
/** Whoever was allowed before does not wait for strangers. */
const MOST_ASKED_OF_READERS = 2 * MOST_ASKED;

export type Visit =
  | { readonly kind: 'allowed'; readonly user: string }
  /** Nobody is named, or nobody that the API server knows. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'forbidden'; readonly user: string }
  /** Too many ask at once. */
  | { readonly kind: 'busy' }
  /** The API server does not say. */
  | { readonly kind: 'unanswered' };

/** What the API server is asked. */
export interface Reviews {
  /** The user of a token; null for a token that it does not know. */
  readonly userOf: (token: string) => Promise<V1UserInfo | null>;
  readonly mayRead: (user: V1UserInfo) => Promise<boolean>;
}

interface KeptVisit {
  readonly visit: Visit;
  readonly until: MonotonicMs;
}

export class Visitors {
  readonly #reviews: Reviews;
  readonly #log: Pick<Log, 'warn'>;
  /** Apart from the others, whose number is up to strangers. */
  readonly #allowed = new Map<string, KeptVisit>();
  readonly #others = new Map<string, KeptVisit>();
  readonly #asking = new Map<string, Promise<Visit>>();
  #trouble: string | null = null;

  constructor(reviews: Reviews, log: Pick<Log, 'warn'>) {
    this.#reviews = reviews;
    this.#log = log;
  }

  /**
   * Never throws.
   *
   * @param authorization the header: `Bearer TOKEN`, or `Basic` with the token as the password, which a browser asks for.
   */
  async visit(authorization: string | undefined): Promise<Visit> {
    const token = tokenOf(authorization);
    if (token === null) return { kind: 'unknown' };
    // Not the token itself, which would be in every dump of the memory.
    const key = createHash('sha256').update(token).digest('base64');
    const before = this.#allowed.get(key);
    const kept = before ?? this.#others.get(key);
    if (kept !== undefined && performance.now() < kept.until) return kept.visit;
    const asking = this.#asking.get(key);
    if (asking !== undefined) return await asking;
    const most = before === undefined ? MOST_ASKED : MOST_ASKED_OF_READERS;
    if (this.#asking.size >= most) return { kind: 'busy' };
    const asked = this.#ask(key, token).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return await asked;
  }

  async #ask(key: string, token: string): Promise<Visit> {
    const until = performance.now() + KEPT_MS;
    try {
      const visit = await this.#review(token);
      this.#trouble = null;
      for (const visits of [this.#allowed, this.#others]) visits.delete(key);
      keep(visit.kind === 'allowed' ? this.#allowed : this.#others, key, { visit, until });
      return visit;
    } catch (error) {
      const { reason } = failureOf(error);
      // Once per reason: strangers could fill the log.
      if (reason !== this.#trouble) this.#log.warn({ reason }, 'the API server does not say who may read the overview');
      this.#trouble = reason;
      return { kind: 'unanswered' };
    }
  }

  async #review(token: string): Promise<Visit> {
    const user = await this.#reviews.userOf(token);
    if (user === null) return { kind: 'unknown' };
    const name = user.username ?? '';
    return { kind: (await this.#reviews.mayRead(user)) ? 'allowed' : 'forbidden', user: name };
  }
}

/** In place of the oldest, where there are too many. */
function keep(visits: Map<string, KeptVisit>, key: string, visit: KeptVisit): void {
  visits.set(key, visit);
  const [oldest] = visits.keys();
  if (visits.size > MOST_KEPT && oldest !== undefined) visits.delete(oldest);
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
