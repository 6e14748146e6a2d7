import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import {
  type ChargingQuota,
  claimTemplatesOf,
  countsResourceClaims,
  demandOfMessages,
  demandOfMissing,
  type DeniedWorkload,
} from '../../../domain/quota-resize/demand/demand.ts';
import { isCreating } from '../../../domain/quota-resize/demand/at-rest.ts';
import type { Missing } from '../../../domain/quota-resize/demand/missing.ts';
import { ALWAYS } from '../../../domain/quota-resize/demand/owner.ts';
import type { DoubtedDenial, WorkloadDemand, WorkloadRef } from '../../../domain/quota-resize/model/observation.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { AdmissionDefaults } from './admission-defaults.ts';
import { readMissing } from './missing.ts';
import type { NamespaceView } from './namespace-view.ts';
import { readDenials, withoutObject } from './denials.ts';

/** Owners read in parallel, so that a namespace with many denials causes no burst on the API server. */
const OWNERS_AT_ONCE = 8;

const STORAGE_CLASS_KEY = '.storageclass.storage.k8s.io/';

type Log = Pick<Logger, 'warn'>;

/** The defaults that decide what a quota's pods and claims are charged. */
type Surroundings = Omit<ChargingQuota, 'name' | 'hard' | 'scopes'>;

/** A denied workload, with what its owner lacks if the owner could be read. */
interface ReadWorkload {
  readonly denied: DeniedWorkload;
  readonly missing: readonly Missing[] | 'unreadable';
  readonly isAtRest: boolean;
}

/** What the workloads of a namespace still lack, and which Events are not believed. */
export interface NamespaceDemand {
  /** By the quota's name. */
  readonly byQuota: ReadonlyMap<string, readonly WorkloadDemand[]>;
  readonly doubted: readonly DoubtedDenial[];
  /** Owners that are not done: a moment later their objects, or more of them, may be missing. At most a few are named. */
  readonly unsettled: readonly WorkloadRef[];
}

/**
 * How long a denial counts whose object cannot be read, in milliseconds: nobody can say whether the object still exists,
 * and a controller that still wants it is denied again. Kubernetes keeps Events for an hour.
 */
const MESSAGE_MS = 3_600_000;

/** How many owners that are not done are named; one is enough to wait for. */
const MAX_UNSETTLED = 3;

/** How many Events that are not believed are named; people look for the others themselves. */
const MAX_DOUBTED = 5;

/**
 * What the namespace's workloads were denied and still lack, counted for each of the quotas. Denials and owners are
 * read once for all quotas. A workload that is gone, was created again, or lacks nothing any more has no demand.
 */
export async function readDemand(
  log: Log,
  view: NamespaceView,
  quotas: readonly V1ResourceQuota[],
): Promise<NamespaceDemand> {
  const { workloads: seen, doubted } = await readDenials(view, quotas);
  view.expectOwners(seen.length);
  const states = await inParallel(OWNERS_AT_ONCE, seen, async (denied) => await readMissing(log, view, denied));
  const now = Date.now();
  const workloads = seen.flatMap(({ workload, denials }, index): ReadWorkload[] => {
    const state = states[index];
    if (state === undefined || state === 'gone') return [];
    if (state !== 'unreadable') {
      const { missing, template, isAtRest } = state;
      return missing.length > 0 ? [{ denied: { workload, denials, template }, missing, isAtRest }] : [];
    }
    const recent = denials.filter(({ lastSeen }) => lastSeen > now - MESSAGE_MS);
    return recent.length > 0
      ? // Nobody can be asked whether that is all.
        [{ denied: { workload, denials: recent, template: ALWAYS }, missing: state, isAtRest: false }]
      : [];
  });
  const gone = seen.filter((_, index) => states[index] === 'gone').map(({ workload }) => withoutObject(workload));
  const notBelieved = [...doubted, ...gone].slice(0, MAX_DOUBTED);
  if (workloads.length === 0) return { byQuota: new Map(), doubted: notBelieved, unsettled: [] };
  const surroundings = await readSurroundings(log, view, quotas, workloads);
  const byQuota = new Map(
    quotas.map((quota) => {
      const charging = { ...surroundings, ...partsOf(quota) };
      const demand = workloads.flatMap(({ denied, missing }) => {
        const workloadDemand =
          missing === 'unreadable' ? demandOfMessages(charging, denied) : demandOfMissing(charging, denied, missing);
        return workloadDemand === null ? [] : [workloadDemand];
      });
      const sorted = demand.toSorted((a, b) => (sortKey(a.workload) < sortKey(b.workload) ? -1 : 1));
      return [charging.name, sorted] as const;
    }),
  );
  const restless = workloads.flatMap(({ denied, isAtRest }) => (isAtRest ? [] : [denied.workload]));
  const unsettled = [...restless, ...(await creatingOwners(view, restless))].slice(0, MAX_UNSETTLED);
  return { byQuota, doubted: notBelieved, unsettled };
}

/** Owners that create pods and were not refused: theirs may be next. */
async function creatingOwners(view: NamespaceView, known: readonly WorkloadRef[]): Promise<readonly WorkloadRef[]> {
  const [replicaSets, controllers] = await Promise.all([view.replicaSets(), view.replicationControllers()]);
  const seen = new Set(known.map(({ uid }) => uid));
  return [
    ...replicaSets.map((owner) => ({ owner, kind: 'ReplicaSet' })),
    ...controllers.map((owner) => ({ owner, kind: 'ReplicationController' })),
  ].flatMap(({ owner, kind }): WorkloadRef[] => {
    const { name = '', uid = '' } = owner.metadata ?? {};
    return isCreating(owner) && !seen.has(uid) ? [{ kind, name, uid }] : [];
  });
}

function sortKey({ kind, name, uid }: WorkloadRef): string {
  return `${kind}/${name}/${uid}`;
}

function partsOf(quota: V1ResourceQuota): Pick<ChargingQuota, 'name' | 'hard' | 'scopes'> {
  const { hard = {}, scopes, scopeSelector } = quota.spec ?? {};
  return { name: quota.metadata?.name ?? '', hard, scopes: { scopes, scopeSelector } };
}

/** Defaults are read only if a quota's scopes or resources depend on them. */
async function readSurroundings(
  log: Log,
  view: NamespaceView,
  quotas: readonly V1ResourceQuota[],
  workloads: readonly ReadWorkload[],
): Promise<Surroundings> {
  const defaults = new AdmissionDefaults(log, view);
  const keys = quotas.flatMap((quota) => Object.keys(quota.spec?.hard ?? {}));
  const scopes = quotas.flatMap(({ spec }) =>
    (spec?.scopeSelector?.matchExpressions ?? []).map((requirement) => requirement.scopeName),
  );
  const missing = workloads.flatMap((workload) => (workload.missing === 'unreadable' ? [] : workload.missing));
  const [limitRanges, defaultStorageClass, defaultPriorityClass, overheads, claimTemplates] = await Promise.all([
    view.limitRanges(),
    keys.some((key) => key.includes(STORAGE_CLASS_KEY)) ? defaults.storageClass() : null,
    scopes.includes('PriorityClass') ? defaults.priorityClass() : null,
    readOverheads(defaults, missing),
    keys.some(countsResourceClaims) ? readClaimTemplates(defaults, missing) : {},
  ]);
  return { limitRanges, overheads, claimTemplates, defaultStorageClass, defaultPriorityClass };
}

/** The pod overheads of the RuntimeClasses of the missing pods. */
async function readOverheads(
  defaults: AdmissionDefaults,
  missing: readonly Missing[],
): Promise<ChargingQuota['overheads']> {
  const overheads: Record<string, ResourceList> = {};
  for (const object of missing) {
    const name = object.of === 'pod' && object.spec.overhead === undefined ? object.spec.runtimeClassName : undefined;
    if (name !== undefined && name !== '') overheads[name] = (await defaults.overheadOf(name)) ?? {};
  }
  return overheads;
}

/** The resource claim templates of missing pods. */
async function readClaimTemplates(
  defaults: AdmissionDefaults,
  missing: readonly Missing[],
): Promise<ChargingQuota['claimTemplates']> {
  const templates: Record<string, ChargingQuota['claimTemplates'][string]> = {};
  for (const name of new Set(missing.flatMap(claimTemplatesOf))) {
    const template = await defaults.claimTemplate(name);
    if (template !== null) templates[name] = template;
  }
  return templates;
}
