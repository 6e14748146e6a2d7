import { open } from 'node:fs/promises';
import { stringify } from 'yaml';

/** The fields of audit.k8s.io/v1 Event, at level Metadata, that evidence is made of. */
export interface AuditEvent {
  readonly auditID: string;
  /** A watch has a ResponseStarted and, when it ends, a ResponseComplete; every other request a ResponseComplete only. */
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly requestURI: string;
  /** The name is empty where the server did not know who asked, as in the moment before it has read its tokens. */
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly userAgent?: string;
  /** Absent for requests outside of resources, such as /version. */
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    /** Absent for list and watch, and for a create whose name the server made up. */
    readonly name?: string;
    /** Absent for the core group. */
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  /** Among others `authorization.k8s.io/decision` and `authorization.k8s.io/reason`, which names the binding and the role. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Whether a request is sent as a write is and changes nothing: a dry run, or a question such as who one is. */
export function changesNothing({ requestURI, objectRef }: Pick<AuditEvent, 'requestURI' | 'objectRef'>): boolean {
  return requestURI.includes('dryRun=') || objectRef?.resource?.endsWith('reviews') === true;
}

/**
 * The audit policy: every request of everybody once answered, reads too, since they prove which rules of a role are used.
 * @param quietUsers components of the control plane, whose own traffic is no evidence of anything.
 */
export function auditPolicy(quietUsers: readonly string[]): string {
  return stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', users: quietUsers },
      { level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/healthz*'] },
      { level: 'Metadata' },
    ],
  });
}

/**
 * A reader of an audit log: each call answers with all events so far, in the order of writing, and reads what is new since the call
 * before. An event is written when its request has been answered, which may be shortly after the client saw the answer. A line
 * that is still being written is left for the next reading.
 *
 * @param fromByte where the events begin that are asked for.
 */
export function auditLogReader(file: string, fromByte = 0): () => Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  let readTo = fromByte;
  const readOn = async (): Promise<void> => {
    const added = await bytesFrom(file, readTo);
    const complete = added.subarray(0, added.lastIndexOf('\n') + 1);
    for (const line of complete.toString('utf8').split('\n')) if (line !== '') events.push(eventOf(line));
    readTo += complete.length;
  };
  let reading: Promise<void> = Promise.resolve();
  return async () => {
    // Two at once would read the same lines; one that failed is no matter of the next.
    reading = reading.catch(() => undefined).then(readOn);
    await reading;
    return [...events];
  };
}

async function bytesFrom(file: string, start: number): Promise<Buffer> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  const buffer = Buffer.alloc(Math.max(0, size - start));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

function eventOf(line: string): AuditEvent {
  const event = JSON.parse(line) as AuditEvent;
  return { ...event, user: { ...event.user, username: event.user.username ?? '' } };
}
