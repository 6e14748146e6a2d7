/** When what happened on one side, as its API server's audit log has it. */
import type { AuditEvent } from '../../test/kernel/servers/audit-log.ts';
import type { Side } from './side.ts';

const SCHEDULER = 'system:kube-scheduler';
const KWOK = 'kwok';
/** Seconds: both make no plan before no pod has changed for as long. */
const WINDOW_GAP = 1;

/** Seconds since the first pod was asked for. */
export interface ScaleUpTimes {
  readonly lastPod: number;
  /** The last pod that kube-scheduler wrote a status of before the first claim: what the first plan could know. */
  readonly lastPending: number;
  /** The first VPSieNode or NodeClaim. */
  readonly firstClaim: number;
  /** VPSieNodes or NodeClaims, by window. */
  readonly windows: readonly ClaimWindow[];
  readonly firstNode: number;
  readonly lastNode: number;
  readonly allRunning: number;
}

/** Claims of which none came more than a second after the one before: that long no pod may change before the next plan is made. */
interface ClaimWindow {
  readonly claims: number;
  /** When the first one came. */
  readonly from: number;
}

/** Seconds since the pods' deletion was asked for. */
export interface ScaleDownTimes {
  readonly lastPodGone: number;
  /** The last write to a Node by the side: its deletion, or the end of its finalizer. */
  readonly lastNodeGone: number;
}

type Matcher = Partial<Pick<AuditEvent, 'verb'>> & {
  readonly resource: string;
  readonly subresource?: string;
  readonly users?: readonly string[];
};

export function scaleUpTimes(events: readonly AuditEvent[], { users, claims }: Side, namespace: string): ScaleUpTimes {
  const pods = moments(events, { verb: 'create', resource: 'pods' }, namespace);
  const begin = Math.min(...pods);
  const claimed = moments(events, { verb: 'create', resource: claims, users });
  const nodes = moments(events, { verb: 'create', resource: 'nodes', users });
  const firstClaim = Math.min(...claimed);
  const status = { verb: 'patch', resource: 'pods', subresource: 'status' };
  const pending = moments(events, { ...status, users: [SCHEDULER] }, namespace).filter((at) => at < firstClaim);
  const running = moments(events, { ...status, users: [KWOK] }, namespace);
  const since = (moment: number): number => (moment - begin) / 1000;
  return {
    lastPod: since(Math.max(...pods)),
    lastPending: since(Math.max(...pending)),
    firstClaim: since(firstClaim),
    windows: windowsOf(claimed.map(since)),
    firstNode: since(Math.min(...nodes)),
    lastNode: since(Math.max(...nodes)),
    allRunning: since(Math.max(...running)),
  };
}

function windowsOf(claimed: readonly number[]): readonly ClaimWindow[] {
  const windows: ClaimWindow[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const at of claimed.toSorted((a, b) => a - b)) {
    const open = at - last > WINDOW_GAP ? undefined : windows.pop();
    windows.push({ claims: (open?.claims ?? 0) + 1, from: open?.from ?? at });
    last = at;
  }
  return windows;
}

export function scaleDownTimes(
  events: readonly AuditEvent[],
  { users }: Side,
  { namespace, from }: { readonly namespace: string; readonly from: number },
): ScaleDownTimes {
  const later = events.filter(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) >= from);
  const gone = moments(later, { verb: 'delete', resource: 'pods', users: [KWOK] }, namespace);
  const nodes = ['delete', 'patch', 'update'].flatMap((verb) => moments(later, { verb, resource: 'nodes', users }));
  return {
    lastPodGone: (Math.max(...gone) - from) / 1000,
    lastNodeGone: (Math.max(...nodes) - from) / 1000,
  };
}

/** When the requests came that were answered well, in milliseconds since 1970. */
function moments(events: readonly AuditEvent[], wanted: Matcher, namespace?: string): readonly number[] {
  return events
    .filter(
      ({ stage, verb, user, objectRef, responseStatus }) =>
        stage === 'ResponseComplete' &&
        verb === wanted.verb &&
        objectRef?.resource === wanted.resource &&
        objectRef.subresource === wanted.subresource &&
        (wanted.users === undefined || wanted.users.includes(user.username)) &&
        (namespace === undefined || objectRef.namespace === namespace) &&
        (responseStatus?.code ?? 0) < 300,
    )
    .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
}
