import type { V1ObjectMeta, V1ResourceQuota } from '@kubernetes/client-node';
import { readableList, type ResourceList } from '../../domain/kernel/resource-list.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { PolicyDefaults, ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../domain/quota-resize/policy/resolve.ts';
import { isUnderPressure } from '../../domain/quota-resize/sizing/over-threshold.ts';

export interface ThresholdStatesOptions {
  readonly policyDefaults: PolicyDefaults;
  /**
   * The last counted usage of a quota, which replaces its status resource by resource; null without a count. Absent:
   * only the status is used.
   */
  readonly countedUsed?: (namespace: string, quota: string) => ResourceList | null;
}

export interface ThresholdState {
  readonly isOver: boolean;
  /** Since when; null while it is not. */
  readonly overSince: EpochMs | null;
  readonly used: ResourceList;
}

/**
 * Whether each quota is over a threshold now, and was at its last evaluation: a count may change that without a change
 * of the quota.
 */
export class ThresholdStates {
  readonly #options: ThresholdStatesOptions;
  readonly #namespace: (name: string) => Pick<V1ObjectMeta, 'labels' | 'annotations'>;
  /** By UID. */
  readonly #states = new Map<string, ThresholdState>();

  constructor(
    options: ThresholdStatesOptions,
    namespace: (name: string) => Pick<V1ObjectMeta, 'labels' | 'annotations'>,
  ) {
    this.#options = options;
    this.#namespace = namespace;
  }

  /** Evaluates the quota again, and returns the result together with the previous one. */
  evaluate(quota: V1ResourceQuota): { readonly before: ThresholdState | undefined; readonly now: ThresholdState } {
    const uid = quota.metadata?.uid ?? '';
    const before = this.#states.get(uid);
    const now = this.stateOf(quota);
    this.#states.set(uid, now);
    return { before, now };
  }

  /** By its last evaluation, since when it is over a threshold; null while it is not. */
  overSince({ metadata }: V1ResourceQuota): EpochMs | null {
    return this.#states.get(metadata?.uid ?? '')?.overSince ?? null;
  }

  stateOf(quota: V1ResourceQuota): ThresholdState {
    const { metadata, spec, status } = quota;
    const counted = this.#options.countedUsed?.(metadata?.namespace ?? '', metadata?.name ?? '') ?? {};
    const used = { ...status?.used, ...counted };
    const amounts = { hard: readableList(spec?.hard ?? {}), used: readableList(used) };
    const isOver = isUnderPressure(amounts, this.policyOf(quota));
    const before = this.#states.get(metadata?.uid ?? '')?.overSince ?? Date.now();
    return { isOver, overSince: isOver ? before : null, used };
  }

  policyOf({ metadata }: V1ResourceQuota): ResizePolicy {
    return resolvePolicy({
      defaults: this.#options.policyDefaults,
      namespace: { ...this.#namespace(metadata?.namespace ?? ''), name: metadata?.namespace ?? '' },
      quotaAnnotations: metadata?.annotations ?? {},
    }).policy;
  }

  forget({ metadata }: V1ResourceQuota): void {
    this.#states.delete(metadata?.uid ?? '');
  }
}
