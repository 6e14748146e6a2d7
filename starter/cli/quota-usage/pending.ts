/** What waits for room in a namespace: what quotas refused and is still missing, and pods that do not run yet. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import { readMissing } from '../../../activities/quota-resize/quota/missing.ts';
import type { NamespaceView } from '../../../activities/quota-resize/quota/namespace-view.ts';
import { readDenials, type SeenWorkload } from '../../../activities/quota-resize/quota/denials.ts';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import { maskList, multiplyList, type ResourceList, withoutZeros } from '../../../domain/kernel/resource-list.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import type { Missing } from '../../../domain/quota-resize/demand/missing.ts';
import { admit } from '../../../domain/quota-usage/admission.ts';
import type { UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorFor } from '../../../domain/quota-usage/evaluators.ts';
import { requirementsOf } from '../../../domain/quota-usage/scopes.ts';
import type { PendingPods } from './pending-pods.ts';
import { RESOURCE_CLAIMS, type TemplateObject, Templates } from './template-object.ts';
import { type Between, type Workload, workloadOf } from './workload.ts';

export interface Pending {
  /** What quotas refused and is still missing. */
  readonly workloads: readonly MissingWorkload[];
  readonly pods: PendingPods;
}

/** A workload that misses room. */
export interface MissingWorkload extends Workload {
  /** What it misses: `pods`, `persistentvolumeclaims`, `resourceclaims.resource.k8s.io`, `jobs.batch`. */
  readonly resource: string;
  /** How many of them; null where its owner may not be read. */
  readonly missing: number | null;
  /** What all of the missing would be charged, by quota. */
  readonly needs: readonly { readonly quota: string; readonly amounts: ResourceList }[];
  /** When admission last refused one, RFC 3339. */
  readonly deniedAt: string;
  /** What admission would answer to the next one now; null where its template is not known. */
  readonly next: NextAnswer | null;
}

type NextAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false /** All quotas that deny it. */; readonly answers: readonly QuotaAnswer[] };

interface QuotaAnswer {
  readonly quota: string;
  /** In admission's own words. */
  readonly message: string;
}

/** Owners that are read at the same time. */
const OWNERS_AT_ONCE = 4;

/**
 * What the workloads of the namespace were refused and still miss of these quotas.
 *
 * @param between what stands between a ReplicaSet and the workload that people know.
 */
export async function readMissingWorkloads(
  log: Pick<Logger, 'warn'>,
  view: NamespaceView,
  quotas: readonly V1ResourceQuota[],
  between: Between,
  context: UsageContext,
): Promise<readonly MissingWorkload[]> {
  const limits = quotas.flatMap(({ spec }) => Object.keys(spec?.hard ?? {}));
  const countsDevices = evaluatorFor(RESOURCE_CLAIMS).matchingResources(limits, context).length > 0;
  const templates = new Templates(log, view, countsDevices);
  const { workloads } = await readDenials(view, quotas);
  const found = await inParallel(OWNERS_AT_ONCE, workloads, async (seen) => {
    const state = await readMissing(log, view, seen);
    if (state === 'gone') return [];
    const workload = knownWorkload(seen, between);
    const deniedAt = formatInstant(Math.max(...seen.denials.map(({ lastSeen }) => lastSeen)));
    if (state === 'unreadable') return [unreadable(seen, workload, deniedAt, quotas)].flat();
    const missed = await Promise.all(
      state.missing
        .filter(({ count }) => count > 0)
        .map(async (missing) =>
          (await templates.objects(missing)).map((template) =>
            missingWorkload(workload, deniedAt, missing, template, quotas, context),
          ),
        ),
    );
    return missed.flat();
  });
  return found
    .flat()
    .filter(({ needs }) => needs.length > 0)
    .toSorted(byName);
}

function byName(a: MissingWorkload, b: MissingWorkload): number {
  const key = ({ kind, name, resource }: MissingWorkload): string => `${kind}/${name} ${resource}`;
  return key(a) < key(b) ? -1 : 1;
}

/** The Deployment of a ReplicaSet that was refused pods, the CronJob of a Job. */
function knownWorkload({ workload: { kind, name, uid } }: SeenWorkload, between: Between): Workload {
  const owner = between.objects.get(uid);
  return owner === undefined ? { kind, name } : workloadOf(owner, kind, between);
}

function missingWorkload(
  workload: Workload,
  deniedAt: string,
  { count }: Missing,
  template: TemplateObject,
  quotas: readonly V1ResourceQuota[],
  context: UsageContext,
): MissingWorkload {
  const needs = quotas.flatMap((quota) => {
    const amounts = multiplyList(chargeOf(quota, template, context), count);
    return Object.keys(amounts).length === 0 ? [] : [{ quota: quota.metadata?.name ?? '', amounts }];
  });
  const resource = groupResourceName(template.resource);
  const next = nextAnswer(quotas, template, context);
  return { ...workload, resource, missing: count, needs, deniedAt, next };
}

/** What one such object is charged by the quota; empty where the quota does not count it. */
function chargeOf(
  { spec }: V1ResourceQuota,
  { resource, object }: TemplateObject,
  context: UsageContext,
): ResourceList {
  const evaluator = evaluatorFor(resource);
  const names = evaluator.matchingResources(Object.keys(spec?.hard ?? {}), context);
  const isCounted = requirementsOf(spec ?? {}).every((requirement) => evaluator.matchesScope(requirement, object));
  return isCounted ? withoutZeros(maskList(evaluator.usage(object, context), names)) : {};
}

function nextAnswer(
  quotas: readonly V1ResourceQuota[],
  { resource, object }: TemplateObject,
  context: UsageContext,
): NextAnswer {
  const answers = quotas.flatMap(({ metadata, spec, status }): QuotaAnswer[] => {
    const quota = metadata?.name ?? '';
    const answer = admit({ name: quota, spec, status }, object, evaluatorFor(resource), context);
    return answer.allowed ? [] : [{ quota, message: answer.message }];
  });
  return answers.length === 0 ? { allowed: true } : { allowed: false, answers };
}

/** What the refusal itself said, where the owner may not be read. */
function unreadable(
  { denials }: SeenWorkload,
  workload: Workload,
  deniedAt: string,
  quotas: readonly V1ResourceQuota[],
): MissingWorkload {
  const newest = denials.toSorted((a, b) => b.lastSeen - a.lastSeen)[0]?.denial;
  const isAsked = quotas.some(({ metadata }) => metadata?.name === newest?.quota);
  const needs = newest === undefined || !isAsked ? [] : [{ quota: newest.quota, amounts: newest.requested }];
  return { ...workload, resource: newest?.resource ?? '', missing: null, needs, deniedAt, next: null };
}
