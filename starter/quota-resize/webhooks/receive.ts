/** Handles one webhook: verifies the sender, that it is new and recent, and finds whom to wake. */
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { formatSpan } from '../../../domain/kernel/time.ts';
import { baseRequest, type QuotaRequest, pullRequestRequest, reopenedRequest } from '../reconcile-request.ts';
import { readDelivery, type RepositoryEvent } from './delivery.ts';
import type { ConcernedQuota } from './pull-request-index.ts';
import { BodyMemory, BodyRefused } from '../../kernel/body-memory.ts';
import { SeenDeliveries } from './seen-deliveries.ts';
import { readSignedBody } from './signed-body.ts';

/** One request, as it came. */
export interface Delivery {
  /** The header `X-GitHub-Event`. */
  readonly event: string;
  /** The header `X-GitHub-Delivery`: the same for a repeated delivery. */
  readonly id: string;
  /** The header `X-Hub-Signature-256`. */
  readonly signature: string;
  /** The header `Content-Length`. */
  readonly length: number;
  /** The bytes that were signed. */
  readonly body: AsyncIterable<Buffer> | Iterable<Buffer>;
}

type Outcome =
  /** Accepted, and pull requests of this cluster got a reconcile request. */
  | 'requested'
  /** Accepted, but no pull request of this cluster is concerned. */
  | 'unmatched'
  /** An event that Headroom does not use. */
  | 'ignored'
  | 'unsigned'
  | 'malformed'
  /** Others send too much at the moment. */
  | 'busy'
  | 'slow'
  | 'replayed'
  | 'stale'
  /** The Leases have not been listed yet. */
  | 'not-ready';

export interface Answer {
  readonly outcome: Outcome;
  readonly status: number;
  /** What was wrong and what would be right; shown in GitHub's list of deliveries. */
  readonly message: string;
}

export interface ReceiverOptions {
  readonly cluster: string;
  /** The secrets that may have signed; called for every delivery. */
  readonly secrets: () => readonly string[];
  /** The quotas whose pull requests an event concerns; null while unknown. */
  readonly find: (event: RepositoryEvent) => readonly ConcernedQuota[] | null;
  readonly request: (request: QuotaRequest) => void;
  readonly now?: () => EpochMs;
}

/**
 * Older events have been seen by polling meanwhile. The limit also prevents replays, because a signature never expires.
 */
const OLDEST_MS = 3_600_000;
/** GitHub's largest payloads are pushes of thousands of commits, from which nothing is needed. In bytes. */
export const BODY_LIMIT = 5 * 1024 * 1024;
const DELIVERY_ID = /^[\w-]{1,100}$/;

/** Receives webhooks: each delivery has at most one effect, and unsigned or old ones have none. */
export function createReceiver(options: ReceiverOptions): (delivery: Delivery) => Promise<Answer> {
  const { cluster, find, request, now = Date.now } = options;
  const seen = new SeenDeliveries();
  const memory = new BodyMemory(BODY_LIMIT);

  return async ({ event, id, signature, length, body }) => {
    let text: string | null;
    try {
      text = await readSignedBody(body, { length, signature, secrets: options.secrets(), memory });
    } catch (error) {
      if (error instanceof BodyRefused) {
        return answer(error.reason, error.statusCode, `${error.message}; pull requests are polled instead`);
      }
      return answer('malformed', 400, 'the connection ended before the body did');
    }
    if (text === null) {
      return answer('unsigned', 401, 'X-Hub-Signature-256 is missing or not made with the secret of this webhook');
    }
    if (!DELIVERY_ID.test(id)) return answer('malformed', 400, 'X-GitHub-Delivery is missing or no delivery id');
    let read: RepositoryEvent | null;
    try {
      read = readDelivery(event, JSON.parse(text));
    } catch {
      return answer('malformed', 400, 'the payload is not as GitHub describes this event');
    }
    if (read === null) return answer('ignored', 202, 'this event changes nothing here');
    const age = read.at === null ? 0 : now() - read.at;
    if (age > OLDEST_MS) return answer('stale', 410, `it is ${formatSpan(age)} old: it has been seen without it`);
    const concerned = find(read);
    if (concerned === null) return answer('not-ready', 503, 'the pull requests are not known yet');
    // The id is not signed, so an intercepted delivery could be sent under another one; the signature is therefore
    // checked too.
    const isNew = [id, signature].map((mark) => seen.add(mark, now())).every(Boolean);
    if (!isNew) return answer('replayed', 409, 'this delivery was taken before');
    for (const { target, isFileChanged } of concerned) {
      // A change of the very file may have raised the quota, and a person may be waiting to merge, so the request is
      // immediate.
      const toEnqueue = read.base === null || isFileChanged ? pullRequestRequest : baseRequest;
      request(toEnqueue(target, `GitHub: ${event}`, id));
    }
    // It may be one of a decision that is over, so that no Lease names it.
    if (read.isReopened) request(reopenedRequest(cluster, `GitHub: ${event}`));
    return concerned.length === 0
      ? answer('unmatched', 202, 'no open pull request of this cluster is meant')
      : answer(
          'requested',
          202,
          `${concerned.length} reconcile ${concerned.length === 1 ? 'request' : 'requests'} enqueued`,
        );
  };
}

function answer(outcome: Outcome, status: number, message: string): Answer {
  return { outcome, status, message };
}
