/** What nodes use, by metrics.k8s.io, once a minute. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { isRecord } from '../../domain/kernel/record.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Amounts } from '../../domain/kernel/amounts.ts';
import { amountsOf } from '../../domain/kernel/amounts.ts';
import type { Log } from '../../platform/log/log.ts';
import { type ApiGet, createApiGet, failureOf, listPath } from '../../activities/kubernetes/api-get.ts';
import type { UsageSample } from './plan-messages.ts';

export interface UsageSamplerOptions {
  readonly kubeConfig: KubeConfig;
  /** What a node has for pods; null for one that is not known. */
  readonly allocatable: (node: string) => Amounts | null;
  readonly onSample: (sample: UsageSample) => void;
  /** The time by which plans are made. */
  readonly now: () => EpochMs;
  readonly everyMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const METRICS = { group: 'metrics.k8s.io', version: 'v1beta1', resource: 'nodes' };

/** Samples until the signal is aborted; never rejects. Where there are no metrics, there are no samples. */
export async function sampleUsage({
  kubeConfig,
  allocatable,
  onSample,
  now,
  everyMs,
  log,
  signal,
}: UsageSamplerOptions): Promise<void> {
  const get = createApiGet(kubeConfig);
  let trouble: string | null = null;
  while (!signal.aborted) {
    try {
      onSample(await readUsage(get, { allocatable, now }));
      if (trouble !== null) log.info('metrics.k8s.io answers again');
      trouble = null;
    } catch (error) {
      const { reason } = failureOf(error);
      if (reason !== trouble && !signal.aborted) {
        log.warn({ reason }, 'what nodes use is not known: no node is given back for being underutilized');
      }
      trouble = reason;
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}

/** What nodes use now. @throws {ApiException} where the cluster has no metrics.k8s.io, or does not let one see. */
export async function readUsage(
  get: ApiGet,
  { allocatable, now }: Pick<UsageSamplerOptions, 'allocatable' | 'now'>,
): Promise<UsageSample> {
  const answer = await get(listPath(METRICS), { accept: 'application/json' });
  return { at: now(), nodes: answer.kind === 'answer' ? usageOf(answer.body, allocatable) : {} };
}

function usageOf(body: unknown, allocatable: UsageSamplerOptions['allocatable']): UsageSample['nodes'] {
  const items: readonly unknown[] = isRecord(body) && Array.isArray(body['items']) ? body['items'] : [];
  const entries = items.flatMap((item) => {
    if (!isRecord(item) || !isRecord(item['metadata'])) return [];
    const name = String(item['metadata']['name']);
    const all = allocatable(name);
    if (all === null) return [];
    const used = amountsOf(item['usage']);
    return [[name, [percent(used['cpu'], all['cpu']), percent(used['memory'], all['memory'])] as const] as const];
  });
  return Object.fromEntries(entries);
}

function percent(used = 0, all = 0): number {
  // A node that says nothing of what it has is taken for full.
  return all <= 0 ? 100 : (used * 100) / all;
}
