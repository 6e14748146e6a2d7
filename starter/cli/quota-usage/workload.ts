/** The workload that an object belongs to, as people name it. */

export interface Workload {
  /** `Deployment`; of an object that belongs to nobody its own kind. */
  readonly kind: string;
  readonly name: string;
}

/** An object with what it belongs to, in the shape of Kubernetes' JSON. */
export interface Owned {
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly uid?: string | undefined;
        readonly ownerReferences?:
          | readonly {
              readonly kind: string;
              readonly name: string;
              readonly uid: string;
              readonly controller?: boolean | undefined;
            }[]
          | undefined;
      }
    | undefined;
}

/** A StatefulSet as far as it says how its claims are named. */
export interface ClaimingSet extends Owned {
  readonly spec?:
    | {
        readonly volumeClaimTemplates?:
          | readonly { readonly metadata?: { readonly name?: string | undefined } | undefined }[]
          | undefined;
      }
    | undefined;
}

/** What stands between objects and the workload that people know. */
export interface Between {
  /** ReplicaSets, Jobs and pods by UID: their owner is the workload, not they. */
  readonly objects: ReadonlyMap<string, Owned>;
  readonly statefulSets: readonly ClaimingSet[];
}

/** Longer than any real chain of owners: a claim of a pod of a Job of a CronJob. */
const LONGEST_CHAIN = 8;

/**
 * Pod → ReplicaSet → Deployment, Job → CronJob, claim → pod → …, and a claim that a StatefulSet's template made by its
 * name. An object that belongs to nobody is its own workload.
 *
 * @param kind the kind of the object itself.
 */
export function workloadOf(object: Owned, kind: string, between: Between): Workload {
  let current = object;
  let found: Workload = { kind, name: object.metadata?.name ?? '' };
  for (let step = 0; step < LONGEST_CHAIN; step += 1) {
    const owner = current.metadata?.ownerReferences?.find((reference) => reference.controller === true);
    if (owner === undefined) break;
    found = { kind: owner.kind, name: owner.name };
    const next = between.objects.get(owner.uid);
    if (next === undefined) break;
    current = next;
  }
  if (found.kind !== 'PersistentVolumeClaim') return found;
  return statefulSetOfClaim(found.name, between.statefulSets) ?? found;
}

/** Such a claim is named `<template>-<set>-<ordinal>`, and belongs to nobody as long as it is to be kept. */
function statefulSetOfClaim(claim: string, sets: readonly ClaimingSet[]): Workload | undefined {
  const set = sets.find(({ metadata, spec }) =>
    (spec?.volumeClaimTemplates ?? []).some((template) => {
      const prefix = `${template.metadata?.name ?? ''}-${metadata?.name ?? ''}-`;
      return claim.startsWith(prefix) && /^(?:0|[1-9][0-9]*)$/.test(claim.slice(prefix.length));
    }),
  );
  return set === undefined ? undefined : { kind: 'StatefulSet', name: set.metadata?.name ?? '' };
}
