import type { PullRequest } from '../model.ts';
import { nodeId, type Urls } from './urls.ts';
import { simpleUser } from './user.ts';

interface StateEvent {
  readonly id: number;
  readonly nodeId: string;
  readonly event: 'closed' | 'reopened';
  readonly by: string | null;
  readonly at: string;
}

/** That a pull request was closed and reopened, and only the last time, the oldest first. */
export function stateEvents({ id, reopened, closedAt, closedBy }: PullRequest): readonly StateEvent[] {
  const events: StateEvent[] = [];
  if (reopened !== undefined) {
    const { by, at, times } = reopened;
    events.push({
      id: id * 1000 + times,
      nodeId: nodeId('ReopenedEvent', `${id}-${times}`),
      event: 'reopened',
      by,
      at,
    });
  }
  if (closedAt !== null) {
    events.push({ id: id * 1000, nodeId: nodeId('ClosedEvent', id), event: 'closed', by: closedBy, at: closedAt });
  }
  return events;
}

/** GitHub's `issue-event-for-issue`. */
export function issueEvent(urls: Urls, { id, nodeId: node, event, by, at }: StateEvent): Record<string, unknown> {
  return {
    id,
    node_id: node,
    url: `${urls.api}/issues/events/${id}`,
    actor: by === null ? null : simpleUser(urls, by),
    event,
    commit_id: null,
    commit_url: null,
    created_at: at,
    performed_via_github_app: null,
  };
}
