/** Handles one webhook: verifies the sender, that it is new and recent, and finds whom to wake. */
import { Webhooks } from '@octokit/webhooks';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { formatSpan } from '../../../domain/kernel/time.ts';
import { baseRequest, type QuotaRequest, pullRequestRequest } from '../reconcile-request.ts';
import { readDelivery, type RepositoryEvent } from './delivery.ts';
import type { ConcernedQuota } from './pull-request-index.ts';
import { SeenDeliveries } from './seen-deliveries.ts';

/** One request, as it came. */
export interface Delivery {
  /** The header `X-GitHub-Event`. */
  readonly event: string;
  /** The header `X-GitHub-Delivery`: the same for a repeated delivery. */
  readonly id: string;
  /** The header `X-Hub-Signature-256`. */
  readonly signature: string;
  /** The bytes that were signed. */
  readonly body: Buffer;
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
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;
const DELIVERY_ID = /^[\w-]{1,100}$/;

/** Receives webhooks: each delivery has at most one effect, and unsigned or old ones have none. */
export function createReceiver(options: ReceiverOptions): (delivery: Delivery) => Promise<Answer> {
  const { find, request, now = Date.now } = options;
  const seen = new SeenDeliveries();

  return async ({ event, id, signature, body }) => {
    const text = body.toString('utf8');
    if (!(await isSigned(text, signature, options.secrets()))) {
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

/** Whether one of the secrets has signed the text; compared in constant time. */
async function isSigned(text: string, signature: string, secrets: readonly string[]): Promise<boolean> {
  if (text === '' || !SIGNATURE.test(signature)) return false;
  const verified = await Promise.all(
    secrets.map(async (secret) => await new Webhooks({ secret }).verify(text, signature)),
  );
  return verified.includes(true);
}
