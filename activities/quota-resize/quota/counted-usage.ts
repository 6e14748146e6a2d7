import { setTimeout } from 'node:timers/promises';
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import type { UsageContradiction } from '../../../domain/quota-resize/model/observation.ts';
import { contradictionsOf } from '../../../domain/quota-resize/demand/stale-usage.ts';
import { countedUsage, countsClaims, countsPods } from '../../../domain/quota-usage/usage.ts';
import { NamespaceView } from './namespace-view.ts';

/**
 * How long a contradiction must persist: a pod is charged some moments before it is listed, and is still charged some
 * moments after it was deleted.
 */
const CONFIRM_AFTER_MS = 1000;

type Contradictions = ReadonlyMap<string, readonly UsageContradiction[]>;

const NONE: Contradictions = new Map();

/**
 * Where `status.used` of the quotas differs from the charge of the namespace's pods and claims, by the quota's name.
 * Only a stable difference counts: the same quotas before and after the objects were listed, and the same difference a
 * moment later. In a namespace with constant changes nothing is reported and `status.used` is used.
 *
 * @param relist reads the namespace's quotas again.
 */
export async function readContradictions(
  view: NamespaceView,
  quotas: readonly V1ResourceQuota[],
  relist: () => Promise<readonly V1ResourceQuota[]>,
): Promise<Contradictions> {
  const first = await compare(view, quotas);
  if (first.size === 0 || !isSame(quotas, await relist())) return NONE;
  await setTimeout(CONFIRM_AFTER_MS);
  const second = await compare(new NamespaceView(view.kubernetes, view.namespace), quotas);
  if (!isSame(quotas, await relist())) return NONE;
  return new Map(
    [...first].filter(([name, contradiction]) => JSON.stringify(contradiction) === JSON.stringify(second.get(name))),
  );
}

async function compare(view: NamespaceView, quotas: readonly V1ResourceQuota[]): Promise<Contradictions> {
  const count = await countIn(view, quotas);
  const found = quotas.map(
    (quota) => [quota.metadata?.name ?? '', contradictionsOf(quota.status?.used ?? {}, count(quota))] as const,
  );
  return new Map(found.filter(([, contradictions]) => contradictions.length > 0));
}

/** Counts what only pods and claims are charged for. */
export async function countIn(
  view: NamespaceView,
  quotas: readonly V1ResourceQuota[],
): Promise<(quota: V1ResourceQuota) => ResourceList> {
  const specs = quotas.map((quota) => quota.spec ?? {});
  const [pods, claims] = await Promise.all([
    specs.some(countsPods) ? view.pods() : [],
    specs.some(countsClaims) ? view.claims() : [],
  ]);
  return ({ spec = {} }) => countedUsage(spec, { pods, claims }, Date.now());
}

/** Whether none of the quotas has changed. */
export function isSame(before: readonly V1ResourceQuota[], after: readonly V1ResourceQuota[]): boolean {
  const versions = new Map(after.map(({ metadata }) => [metadata?.uid, metadata?.resourceVersion]));
  return before.every(({ metadata }) => versions.get(metadata?.uid) === metadata?.resourceVersion);
}
