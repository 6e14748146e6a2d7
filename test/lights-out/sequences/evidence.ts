/** What the API server's audit log proves of the worker's writes: with their bodies, through every crash. */
import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { ORIGINAL_REPLICAS, ORIGINAL_SUSPEND } from '../../../domain/lights-out/schedule/names.ts';
import type { AuditEvent } from '../../kernel/servers/audit-log.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';

const WORKER = 'headroom-worker';
const USERS = [WORKER, 'headroom-starter'];
const WORKLOADS = [
  { group: 'apps', resources: ['deployments', 'statefulsets'] },
  { group: 'batch', resources: ['cronjobs'] },
];

/** What is on record of a write beyond its metadata. */
interface Write extends AuditEvent {
  readonly requestObject: { readonly metadata: { readonly annotations?: Readonly<Record<string, string | null>> } };
  readonly responseObject: { readonly metadata: { readonly uid: string; readonly resourceVersion: string } };
}

/** A policy of which the worker's writes to workloads are recorded as a whole, and everything else as ever. */
export async function writeAuditPolicy(file: string): Promise<void> {
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', users: ['system:apiserver', 'system:kube-controller-manager'] },
      { level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/healthz*'] },
      {
        level: 'RequestResponse',
        users: [WORKER],
        verbs: ['patch', 'update'],
        resources: WORKLOADS,
        omitManagedFields: true,
      },
      { level: 'Metadata' },
    ],
  };
  await writeFile(file, stringify(policy));
}

export interface Evidence {
  /** Writes of the worker to workloads. */
  readonly writes: number;
  /** What ought not to be. */
  readonly problems: readonly string[];
}

/** Whether each write of the worker put something to sleep, held it asleep or woke it, in this order, and none was refused. */
export async function readEvidence(plane: HeadroomPlane): Promise<Evidence> {
  const events = await plane.plane.auditEvents();
  const writes = events
    .filter((event): event is Write => isWrite(event))
    .toSorted((a, b) => versionOf(a) - versionOf(b));
  const problems: string[] = [];
  const asleep = new Set<string>();
  const versions = new Map<string, number>();
  for (const write of writes) {
    const { uid } = write.responseObject.metadata;
    const version = versionOf(write);
    const what = `${write.objectRef?.resource} ${write.objectRef?.namespace}/${write.objectRef?.name} at ${write.requestReceivedTimestamp}`;
    if (versions.get(uid) === version) problems.push(`${what}: a write that changed nothing`);
    versions.set(uid, version);
    const { annotations = {} } = write.requestObject.metadata;
    const original = annotations[ORIGINAL_REPLICAS] ?? annotations[ORIGINAL_SUSPEND];
    if (typeof original === 'string') asleep.add(uid);
    else if (!asleep.has(uid)) problems.push(`${what}: woken, or held, although it did not sleep`);
    else if (annotations[ORIGINAL_REPLICAS] === null || annotations[ORIGINAL_SUSPEND] === null) asleep.delete(uid);
  }
  return { writes: writes.length, problems: [...problems, ...refused(events)] };
}

function isWrite({ user, verb, objectRef, responseStatus }: AuditEvent): boolean {
  const isOfWorkload = WORKLOADS.some(({ resources }) => resources.includes(objectRef?.resource ?? ''));
  return (
    user.username === WORKER && ['patch', 'update'].includes(verb) && isOfWorkload && (responseStatus?.code ?? 0) < 300
  );
}

function versionOf({ responseObject }: Write): number {
  return Number(responseObject.metadata.resourceVersion);
}

/** An API server that has just started refuses everybody until it has read its roles: only what is never granted counts. */
function refused(events: readonly AuditEvent[]): readonly string[] {
  const ours = events.filter(({ user }) => USERS.includes(user.username));
  const inWords = ({ user, verb, objectRef }: AuditEvent): string =>
    `${user.username} may not ${verb} ${[objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/')}`;
  const granted = new Set(ours.filter(({ responseStatus }) => responseStatus?.code !== 403).map(inWords));
  const denied = ours.filter(({ responseStatus }) => responseStatus?.code === 403).map(inWords);
  return [...new Set(denied)].filter((request) => !granted.has(request));
}
