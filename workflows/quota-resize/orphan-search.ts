import type { OrphanOutcome } from '../../activities/quota-resize/interface.ts';
import { targetName } from '../../domain/kernel/target.ts';
import { failedActivity } from '../kernel/failure.ts';
import { createPublisher } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

export interface OrphanSearchInput {
  readonly cluster: string;
}

/** What became of each pull request, as a sentence. */
export interface OrphanSearchResult {
  readonly outcomes: readonly string[];
}

/** History events are few, and one search is not to take for ever: the others are found by the next one. */
const AT_MOST = 50;

/**
 * One search for open pull requests that no Lease knows, such as those that people reopened: quotas without an episode
 * are looked after by nobody else. Started by a resync, and where a webhook tells that one was reopened.
 */
export async function orphanSearch({ cluster }: OrphanSearchInput): Promise<OrphanSearchResult> {
  const publish = createPublisher(
    { controller: 'quota-resize', target: cluster, cluster },
    { Searching: { whom: 'Headroom', until: 'all open pull requests are checked' }, Ended: null },
  );
  const detail = 'Headroom looks for open pull requests that no Lease knows';
  publish({ phase: 'Searching', reason: 'Resync', detail, facts: [] }, Date.now());
  const found = await observing.observeOrphans.executeWithOptions({ summary: cluster }, [{ cluster }]);
  const outcomes: string[] = [];
  for (const orphan of found.slice(0, AT_MOST)) {
    const name = `pull request #${orphan.number} of ${orphan.repository} for ${targetName(orphan.target)}`;
    const outcome = await ensuring.ensureOrphanEnded
      .executeWithOptions({ summary: name }, [orphan])
      .catch((error: unknown): OrphanOutcome => {
        // One that cannot be read or closed holds up no other.
        const failed = failedActivity(error);
        if (failed === null) throw error;
        return { kind: 'left', why: failed.message };
      });
    outcomes.push(`${name}: ${sentenceOf(outcome)}`);
  }
  publish({ phase: 'Ended', reason: 'Searched', detail: `found ${found.length}`, facts: outcomes }, Date.now());
  return { outcomes };
}

function sentenceOf(outcome: OrphanOutcome): string {
  switch (outcome.kind) {
    case 'closed':
      return `closed: ${outcome.why}`;
    case 'requested':
      return 'its quota takes it over';
    case 'left':
      return `left as it is: ${outcome.why}`;
  }
}
