/** Watches the custom resources whose number is set in place of that of the workloads they own. */
import type { KubeConfig } from '@kubernetes/client-node';
import {
  type LocatedOwner,
  type OwnerKind,
  ownerKindOf,
  ownerOf,
  type Owners,
} from '../../activities/lights-out/owners.ts';
import type { Workload } from '../../domain/lights-out/workload/workload.ts';
import type { Log } from '../../platform/log/log.ts';
import { type ApiGet, failureOf, listPath } from '../../activities/kubernetes/api-get.ts';
import type { Informer } from '../../activities/kubernetes/informer.ts';
import { openWhereFound } from '../kernel/where-served.ts';
import { type Shaped, shaped } from './shape.ts';
import type { WorkloadChanges } from './workload-changes.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' } as const;

export interface OwnerWatchOptions {
  readonly kubeConfig: KubeConfig;
  /** The name of their CustomResourceDefinition. */
  readonly definition: string;
  readonly owners: Owners;
  readonly changes: Pick<WorkloadChanges, 'ownerChanged'>;
  /** From the caches, as they are. */
  readonly workloadsIn: (namespace: string) => readonly Workload[];
  /** How often to check whether the cluster has the definition, in milliseconds. */
  readonly everyMs: number;
  readonly onState: () => void;
  /** Whether changes are news: the cache was filled once. */
  readonly isListed: () => boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** For as long as the definition is there and has a scale subresource. */
export function openOwners(options: OwnerWatchOptions): Informer<Shaped<LocatedOwner>> {
  const { kubeConfig, definition, owners, changes, everyMs, isListed, log, signal } = options;
  const ownedBy = (owner: LocatedOwner): readonly Workload[] =>
    options
      .workloadsIn(owner.namespace)
      .filter((workload) => workload.controller?.name === owner.name && owners.of(workload)?.uid === owner.uid);
  const change = (owner: LocatedOwner, put: () => void): void => {
    // What is new owns what was there before it was known, too.
    const named = options.workloadsIn(owner.namespace).filter(({ controller }) => controller?.name === owner.name);
    changes.ownerChanged(named, put);
  };
  return openWhereFound<Shaped<LocatedOwner>>(
    kubeConfig,
    {
      resource: definition,
      find: async (get) => {
        const kind = await readKind(get, definition);
        if (kind === null) return null;
        owners.follow(kind);
        const { group, version, plural: resource } = kind;
        return {
          path: listPath({ group, version, resource }),
          shape: (object) => shaped(object, ownerOf(kind, object)),
        };
      },
      onChange: ({ read: owner }, last) => {
        if (owner === undefined) return;
        const isNews = isListed() && (last?.read === undefined || wishesOf(last.read) !== wishesOf(owner));
        if (isNews) change(owner, () => owners.put(owner));
        else owners.put(owner);
      },
      onDelete: (_, last) => {
        const owner = last?.read;
        if (owner !== undefined) changes.ownerChanged(ownedBy(owner), () => owners.remove(owner));
      },
      onState: options.onState,
    },
    { everyMs, log, signal },
  );
}

async function readKind(get: ApiGet, definition: string): Promise<OwnerKind | null> {
  try {
    const answer = await get(`${listPath(DEFINITIONS)}/${definition}`, { accept: 'application/json' });
    return answer.kind === 'answer' ? ownerKindOf(definition, answer.body) : null;
  } catch (error) {
    if (failureOf(error).code === 404) return null;
    throw error;
  }
}

/** What of an owner is a reason to look at its workloads: its status changes whenever a pod does. */
function wishesOf({ uid, replicas, changed }: LocatedOwner): string {
  const { manager, at, isOnlyIt } = changed ?? {};
  return JSON.stringify([uid, replicas, manager, at, isOnlyIt]);
}
