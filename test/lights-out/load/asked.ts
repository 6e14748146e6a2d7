/** What Headroom asked of the API server, told from its audit log. */
import { workloadName } from '../../../domain/lights-out/workload/workload.ts';
import type { WorkloadType } from '../../../domain/lights-out/schedule/names.ts';
import { PLURAL } from '../../../domain/lights-out/schedule/names.ts';
import type { AuditEvent } from '../../kernel/servers/audit-log.ts';

/** Requests of the worker in a span of time. Moments are milliseconds since 1970. */
export interface Asked {
  /** By `workloadName`: when each write that took effect was answered. */
  readonly written: ReadonlyMap<string, readonly number[]>;
  /** Writes of workloads that took no effect, by their code: 409 is a lost race. */
  readonly refused: Readonly<Record<string, number>>;
  readonly reads: number;
  readonly lists: number;
  /** When each write of a schedule's status was answered. */
  readonly statusWrites: readonly number[];
  readonly events: number;
  /** Of the schedule itself: its finalizer. */
  readonly scheduleWrites: number;
}

const KIND_OF: Readonly<Record<string, WorkloadType>> = {
  deployments: 'Deployment',
  statefulsets: 'StatefulSet',
  cronjobs: 'CronJob',
};
const WRITES = ['create', 'update', 'patch', 'delete'];

/** What one user asked for between two moments, by when the requests came in. */
export function askedBy(
  user: string,
  events: readonly AuditEvent[],
  { from, to }: { readonly from: number; readonly to: number },
): Asked {
  const written = new Map<string, number[]>();
  const refused: Record<string, number> = {};
  const statusWrites: number[] = [];
  const counts = { reads: 0, lists: 0, events: 0, scheduleWrites: 0 };
  for (const { user: by, stage, verb, objectRef, responseStatus, ...event } of events) {
    const at = Date.parse(event.requestReceivedTimestamp);
    if (by.username !== user || stage !== 'ResponseComplete' || at < from || at > to) continue;
    const { resource = '', namespace = '', name = '', subresource } = objectRef ?? {};
    const answered = Date.parse(event.stageTimestamp);
    if (verb === 'get') counts.reads += 1;
    if (verb === 'list') counts.lists += 1;
    if (!WRITES.includes(verb)) continue;
    const code = responseStatus?.code ?? 0;
    const kind = KIND_OF[resource];
    if (kind !== undefined) {
      if (code >= 300) refused[code] = (refused[code] ?? 0) + 1;
      else {
        const workload = workloadName({ kind, namespace, name });
        written.set(workload, [...(written.get(workload) ?? []), answered]);
      }
    } else if (code < 300 && resource === PLURAL) {
      if (subresource === 'status') statusWrites.push(answered);
      else counts.scheduleWrites += 1;
    } else if (code < 300 && resource === 'events') counts.events += 1;
  }
  return { written, refused, statusWrites, ...counts };
}

/** When somebody last changed the spec of the schedule in the span; null where nobody did. */
export function editedAt(
  events: readonly AuditEvent[],
  schedule: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | null {
  const edits = events
    .filter(
      ({ user, verb, objectRef, responseStatus }) =>
        user.username === 'admin' &&
        verb === 'patch' &&
        objectRef?.resource === PLURAL &&
        objectRef.name === schedule &&
        (responseStatus?.code ?? 0) < 300,
    )
    .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp))
    .filter((at) => at >= from && at <= to);
  return edits.at(-1) ?? null;
}
