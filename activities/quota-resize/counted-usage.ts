import { setTimeout } from 'node:timers/promises';
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { UsageContradiction } from '../../domain/quota-resize/model/observation.ts';
import { contradictionsOf } from '../../domain/quota-resize/demand/stale-usage.ts';
import { countedUsage, countsClaims, countsPods } from '../../domain/quota-usage/usage.ts';
import { NamespaceView } from './namespace-view.ts';

/**
 * How long a contradiction must stand still before it is one: a pod is charged some moments before it can be listed, and a
 * deleted one is uncharged some moments after it is gone.
 */
const CONFIRM_AFTER_MS = 1000;

type Contradictions = ReadonlyMap<string, readonly UsageContradiction[]>;

const NONE: Contradictions = new Map();

/**
 * Where `status.used` of the quotas differs from what the pods and claims of the namespace are charged, by the quota's name.
 * Only what stood still counts: the same quotas before and after the objects were listed, and the same difference a
 * moment later. In a busy namespace there is nothing to say, and `status.used` is believed.
 *
 * @param relist reads the namespace's quotas anew.
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
  return new Map([...first].filter(([name, one]) => JSON.stringify(one) === JSON.stringify(second.get(name))));
}

async function compare(view: NamespaceView, quotas: readonly V1ResourceQuota[]): Promise<Contradictions> {
  const specs = quotas.map((quota) => quota.spec ?? {});
  const [pods, claims] = await Promise.all([
    specs.some(countsPods) ? view.pods() : [],
    specs.some(countsClaims) ? view.claims() : [],
  ]);
  const found = quotas.map((quota) => {
    const counted = countedUsage(quota.spec ?? {}, { pods, claims }, Date.now());
    return [quota.metadata?.name ?? '', contradictionsOf(quota.status?.used ?? {}, counted)] as const;
  });
  return new Map(found.filter(([, contradictions]) => contradictions.length > 0));
}

/** Whether each of the quotas is still what it was. */
export function isSame(before: readonly V1ResourceQuota[], after: readonly V1ResourceQuota[]): boolean {
  const versions = new Map(after.map(({ metadata }) => [metadata?.uid, metadata?.resourceVersion]));
  return before.every(({ metadata }) => versions.get(metadata?.uid) === metadata?.resourceVersion);
}
