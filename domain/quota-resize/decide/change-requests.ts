/** Requests for changes: a person's no to a merge, given on the forge. */
import type { ChangeRequests } from '../../kernel/forge.ts';
import { listText } from '../../kernel/sentence.ts';
import { decidedLimits } from '../model/decision.ts';
import type { Intent } from '../model/verdict.ts';
import { short } from './sentences.ts';
import type { Pass } from './pass.ts';

/** How many are named; the others are counted. */
const MOST_NAMED = 5;

/** Who requests changes, of which head, and what ends it; a clause for people. Null where nobody does. */
export function requestedChanges(requests: ChangeRequests | undefined): string | null {
  if (requests === undefined || requests.length === 0) return null;
  if (requests === 'unread') {
    return 'it has more reviews than Headroom reads, and one of them may request changes, so a person merges or closes it';
  }
  const named = requests.map(({ by, headSha }) => (headSha === null ? by : `${by} at ${short(headSha)}`));
  const [first] = requests;
  const end =
    requests.length === 1 && first !== undefined
      ? `an approval by ${first.by} or a dismissal of that review ends it`
      : 'an approval by the same account or a dismissal ends each of them';
  return `changes are requested by ${listText(named, MOST_NAMED)}; ${end}, and new commits do not`;
}

/** Names the newest of them: who heard of it has heard of the others. */
export function newestRequest(requests: ChangeRequests | undefined): string {
  if (requests === undefined || requests === 'unread') return requests ?? '';
  const [newest] = requests.toSorted((a, b) => b.at - a.at);
  return newest === undefined ? '' : `${newest.by}@${newest.at}`;
}

/**
 * Whoever requests changes of a pull request that Headroom gives up has rejected its values: without that, demand that goes
 * away and comes back would bring them into another pull request, of which nobody requests changes. An app is no person.
 */
export function withReviewersNo({ pullRequest, now }: Pick<Pass, 'pullRequest' | 'now'>, intent: Intent): Intent {
  if ((intent.kind !== 'close' && intent.kind !== 'release') || intent.rejection !== null) return intent;
  const requests = pullRequest?.changesRequested ?? [];
  const person = requests === 'unread' ? undefined : requests.find(({ by }) => !by.endsWith('[bot]'));
  if (person === undefined) return intent;
  const { by } = person;
  const reason = `changes of pull request #${pullRequest?.number} were requested`;
  const rejection = { limits: decidedLimits(intent.decision), at: now, by, reason };
  const counts = `${by} has requested changes, which counts as a rejection`;
  const given = { ...intent, detail: `${intent.detail}; ${counts}`, rejection };
  return given.kind === 'close' ? { ...given, comment: `${given.comment} Note that ${counts}.` } : given;
}
