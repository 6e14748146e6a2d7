import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { GROUP, KIND, VERSION } from '../../domain/memcached/api/names.ts';
import { type ReadMemcached, readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { type ChildKind, childName } from '../../domain/memcached/children/children.ts';
import { passedOn } from '../../domain/memcached/children/managed-fields.ts';
import type { MemcachedObservation } from '../../domain/memcached/decide/observation.ts';
import { writeEvent, writeResult, type WriteResult } from '../../domain/memcached/plan/events.ts';
import { type LiveObject, uidOf } from '../../domain/memcached/plan/live.ts';
import { observationOf } from '../../domain/memcached/plan/observe.ts';
import { planOf } from '../../domain/memcached/plan/plan.ts';
import type { Seen } from '../../domain/memcached/plan/seen.ts';
import type { Step } from '../../domain/memcached/plan/steps.ts';
import { appliedStatus, type WantedStatus } from '../../domain/memcached/status/status.ts';
import { FIELD_MANAGER } from '../../domain/memcached/api/names.ts';
import { type MemcachedTarget, memcachedName } from '../../domain/memcached/target.ts';
import { ensureObjectEvent } from '../kernel/object-event.ts';
import { kubernetesFailure } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { applyChild, applyReplicas, deleteChild, replaceManagedFields, SERVER_SIDE_APPLY } from './child-api.ts';
import { countWrite } from './metrics.ts';
import { MEMCACHEDS, readSeen } from './read-seen.ts';

export interface EnsureOptions {
  readonly kubernetes: Kubernetes;
  /** Where the first implementation ran. */
  readonly formerNamespace: string;
  readonly now: () => EpochMs;
  readonly log: Pick<Logger, 'warn'>;
  /** @throws while nothing may be written. */
  readonly guard: (target: MemcachedTarget) => Promise<void>;
}

/** See `MemcachedActivities.ensureMemcached`. */
export async function ensureMemcached(
  options: EnsureOptions,
  { target, uid }: { readonly target: MemcachedTarget; readonly uid: string },
): Promise<MemcachedObservation> {
  const { kubernetes, now } = options;
  let seen = await readSeen(kubernetes, target, options);
  if (seen === null || seen.memcached.uid !== uid || seen.memcached.isDeleting) return observationOf(null, now());
  const failures: unknown[] = [];
  for (const step of planOf(seen).steps) {
    await options.guard(target);
    try {
      seen = await written(options, target, seen, step);
    } catch (error) {
      countWrite(step.kind === 'scale' ? 'Deployment' : step.child, 'error');
      const failed = kubernetesFailure(error);
      if (!isRejected(failed)) throw failed;
      failures.push(failed);
      // The other objects select, scale or protect its pods.
      if (step.kind === 'apply' && step.child === 'Deployment') break;
    }
  }
  const { status, isStatusTrue } = planOf(seen);
  if (!isStatusTrue) {
    await options.guard(target);
    seen = { ...seen, memcached: await writeStatus(options, target, seen.memcached, status) };
  }
  if (failures.length > 0) throw failures[0];
  return observationOf(seen, now());
}

/** A person has to act: trying the same again at once is in vain. What else there is to write can be written. */
function isRejected(failed: unknown): boolean {
  return (
    failed instanceof ApplicationFailure && (failed.type === 'InvalidInput' || failed.type === 'KubernetesForbidden')
  );
}

/** Makes one write; what was seen, with the API server's answer. */
async function written(options: EnsureOptions, target: MemcachedTarget, seen: Seen, step: Step): Promise<Seen> {
  const { kubernetes } = options;
  if (step.kind === 'delete') {
    await deleteChild(kubernetes, target, step.child, step.uid);
    return withChild(seen, step.child, null);
  }
  const child = step.kind === 'scale' ? 'Deployment' : step.child;
  const before = seen.children[child];
  if (step.kind === 'apply' && before !== null)
    await takeOver(kubernetes, target, seen.memcached.uid, step.child, before);
  const answer =
    step.kind === 'scale'
      ? await applyReplicas(kubernetes, target, { ...step, uid: before === null ? '' : uidOf(before) })
      : await applyChild(kubernetes, target, { ...step, kind: step.child, ...derivedFrom(step.child, before) });
  await report(options, seen.memcached, child, writeResult(before, answer), answer);
  return withChild(seen, child, answer);
}

/** The list of servers follows from the list before: an attempt that was given up must not write its own over a later one's. */
function derivedFrom(child: ChildKind, before: LiveObject | null): { readonly resourceVersion?: unknown } {
  return child === 'ConfigMap' ? { resourceVersion: before?.metadata?.['resourceVersion'] } : {};
}

/** What another operator wrote is Headroom's from now on, so that the apply takes away what is not wanted any more. */
async function takeOver(
  kubernetes: Kubernetes,
  target: MemcachedTarget,
  ownerUid: string,
  child: ChildKind,
  { metadata }: LiveObject,
): Promise<void> {
  const managedFields = passedOn(metadata?.['managedFields'], ownerUid);
  if (managedFields === null) return;
  const resourceVersion = metadata?.['resourceVersion'];
  await replaceManagedFields(kubernetes, target, child, { managedFields, resourceVersion });
}

function withChild(seen: Seen, child: ChildKind, live: LiveObject | null): Seen {
  return { ...seen, children: { ...seen.children, [child]: live } };
}

/** Metrics and an Event; an Event that cannot be written stops nothing. */
async function report(
  { kubernetes, log }: EnsureOptions,
  { name, namespace, uid }: ReadMemcached,
  child: ChildKind,
  result: WriteResult,
  answer: LiveObject,
): Promise<void> {
  countWrite(child, result);
  const event = writeEvent(result, child, childName(child, name));
  if (event === null) return;
  const about = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, namespace, name, uid };
  const key = `${child} ${String(answer.metadata?.['resourceVersion'])}`;
  try {
    await ensureObjectEvent(kubernetes, { about, ...event, key });
  } catch (error) {
    log.warn({ err: error, memcached: memcachedName({ namespace, name }) }, `no Event for: ${event.message}`);
  }
}

/** Applies the status; conditions of others stay. */
async function writeStatus(
  { kubernetes, now }: EnsureOptions,
  { namespace, name }: MemcachedTarget,
  { uid, status }: ReadMemcached,
  wanted: WantedStatus,
): Promise<ReadMemcached> {
  const body = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: KIND,
    metadata: { name, namespace, uid },
    status: appliedStatus(status, wanted, now()),
  };
  const request = { ...MEMCACHEDS, namespace, name, body, fieldManager: FIELD_MANAGER, force: true };
  return readMemcached(await kubernetes.custom.patchNamespacedCustomObjectStatus(request, SERVER_SIDE_APPLY));
}
