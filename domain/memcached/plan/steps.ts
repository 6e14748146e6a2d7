/** What there is to write of the objects of a Memcached, one by one. */
import { isRecord } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { APPLIED, SET_BACK } from '../api/names.ts';
import type { Body } from '../children/body.ts';
import { type ChildKind, childName } from '../children/children.ts';
import { hasAll } from '../children/difference.ts';
import { asleepBy, isBeingDeleted, isOwnedBy, type LiveObject, ownerVersion, uidOf } from './live.ts';
import type { Seen } from './seen.ts';
import { setBackOf } from './set-back.ts';
import type { StepDown } from './step-down.ts';

/** One write. `scale` writes the replicas of the Deployment alone; `setBack` is what it remembers of that they were set back. */
export type Step =
  | { readonly kind: 'apply'; readonly child: ChildKind; readonly body: Body; readonly uid: string | null }
  | { readonly kind: 'delete'; readonly child: ChildKind; readonly uid: string }
  | { readonly kind: 'scale'; readonly uid: string | null; readonly replicas: number; readonly setBack?: string };

/** What is set back again and again. */
export interface Deferred {
  readonly child: ChildKind;
  readonly count: number;
  /** When it is written again. */
  readonly until: EpochMs;
}

/** A part of a plan; see there. */
export interface Steps {
  readonly steps: readonly Step[];
  readonly conflicts: readonly string[];
  readonly awaited: readonly string[];
  readonly notes: readonly string[];
  readonly deferred: readonly Deferred[];
  readonly stepDown: StepDown | null;
  readonly isScaledByOther: boolean;
  /** Whether the Deployment stays as it is, or is not made, because its new pods could not start. */
  readonly isHeld: boolean;
}

export const nothing: Steps = {
  steps: [],
  conflicts: [],
  awaited: [],
  notes: [],
  deferred: [],
  stepDown: null,
  isScaledByOther: false,
  isHeld: false,
};

export function together(parts: readonly Steps[]): Steps {
  return {
    steps: parts.flatMap(({ steps }) => steps),
    conflicts: parts.flatMap(({ conflicts }) => conflicts),
    awaited: parts.flatMap(({ awaited }) => awaited),
    notes: parts.flatMap(({ notes }) => notes),
    deferred: parts.flatMap(({ deferred }) => deferred),
    stepDown: parts.find(({ stepDown }) => stepDown !== null)?.stepDown ?? null,
    isScaledByOther: parts.some((part) => part.isScaledByOther),
    isHeld: parts.some(({ isHeld }) => isHeld),
  };
}

/** Which kind it is, is known; objects in a list do not say it. */
function isAsWanted(live: LiveObject, { metadata, spec, data }: Body): boolean {
  return hasAll(live, { metadata, spec, data });
}

/** Whether exactly this was applied: what is different since, somebody else has changed. */
function wasApplied({ metadata }: LiveObject, body: Body): boolean {
  const annotations = metadata?.['annotations'];
  return isRecord(annotations) && annotations[APPLIED] === body.metadata.annotations[APPLIED];
}

/** An owner reference stays as it is, whichever version of the API its writer knew. */
function ownedAs(body: Body, apiVersion: string | undefined): Body {
  if (apiVersion === undefined) return body;
  const ownerReferences = body.metadata.ownerReferences.map((owner) => ({ ...owner, apiVersion }));
  return { ...body, metadata: { ...body.metadata, ownerReferences } };
}

/** What makes an object as it is wanted, where it may be written. */
export function objectSteps(
  kind: ChildKind,
  { memcached, children, at }: Pick<Seen, 'memcached' | 'children' | 'at'>,
  wanted: Body,
): Steps {
  const live = children[kind];
  if (live === null) return { ...nothing, steps: [{ kind: 'apply', child: kind, body: wanted, uid: null }] };
  const body = ownedAs(wanted, ownerVersion(live, memcached.uid));
  const name = `${kind} ${memcached.namespace}/${childName(kind, memcached.name)}`;
  if (!isOwnedBy(live, memcached.uid)) {
    return {
      ...nothing,
      conflicts: [`${name} exists and does not belong to this Memcached: delete or rename one of them`],
    };
  }
  if (isBeingDeleted(live)) return { ...nothing, awaited: [`${name} is being deleted, and is made again after that`] };
  const isAsleep = kind === 'HorizontalPodAutoscaler' && asleepBy(live) !== null;
  if (isAsleep || isAsWanted(live, body)) return nothing;
  const apply = (applied: Body): Steps => ({
    ...nothing,
    steps: [{ kind: 'apply', child: kind, body: applied, uid: uidOf(live) }],
  });
  if (!wasApplied(live, body)) return apply(body);
  const { count, from, mark } = setBackOf(live, SET_BACK, at);
  if (at < from) return { ...nothing, deferred: [{ child: kind, count, until: from }] };
  const annotations = { ...body.metadata.annotations, [SET_BACK]: mark };
  return apply({ ...body, metadata: { ...body.metadata, annotations } });
}
