/** What the quotas of a namespace let in: no nodes come for pods that would be refused. */
import { type Amounts, amountsOf } from '../../kernel/amounts.ts';
import { isRecord, ownValue } from '../../kernel/record.ts';

/** A ResourceQuota in the shape of Kubernetes' JSON. */
export interface NamespaceQuota {
  readonly spec?:
    | { readonly hard?: object | undefined; readonly scopes?: unknown; readonly scopeSelector?: unknown }
    | undefined;
  readonly status?: { readonly used?: object | undefined } | undefined;
}

const PODS = 'pods';
/** A quota of one of these refuses pods that do not say how much they request. */
const TO_BE_STATED = new Set(['cpu', 'memory']);

interface Left {
  readonly resource: string;
  /** As `Amounts` has it. */
  amount: number;
}

export class QuotaRoom {
  readonly #left: readonly Left[];

  /** A quota that is only for some pods is no limit here. */
  constructor(quotas: readonly NamespaceQuota[]) {
    this.#left = quotas.filter(isForAll).flatMap(({ spec, status }) =>
      Object.entries(spec?.hard ?? {}).flatMap(([name, hard]) => {
        const resource = resourceOf(name);
        if (resource === null) return [];
        const used = isRecord(status?.used) ? ownValue(status.used, name) : undefined;
        return [{ resource, amount: amountOf(hard, resource) - amountOf(used ?? '0', resource) }];
      }),
    );
  }

  /**
   * As many of the pods as there is room for, which they take.
   *
   * @param requests of one pod, once it is stored.
   */
  take(pods: number, requests: Amounts): number {
    const oneOf = ({ resource }: Left): number | undefined => (resource === PODS ? 1 : ownValue(requests, resource));
    let taken = pods;
    for (const left of this.#left) {
      const one = oneOf(left);
      if (one === undefined && TO_BE_STATED.has(left.resource)) taken = 0;
      else if (one !== undefined && one > 0) taken = Math.min(taken, Math.max(0, Math.floor(left.amount / one)));
    }
    for (const left of this.#left) left.amount -= taken * (oneOf(left) ?? 0);
    return taken;
  }
}

/** No pod of a workload that can be woken has an end of its own: it is `NotTerminating`. */
function isForAll({ spec }: NamespaceQuota): boolean {
  const scopes = Array.isArray(spec?.scopes) ? spec.scopes : [];
  return spec?.scopeSelector === undefined && scopes.every((scope) => scope === 'NotTerminating');
}

/** What a pod takes of a quota's entry; null for one that is not about pods. A pod has no lower limit than it requests. */
function resourceOf(name: string): string | null {
  if (name === 'count/pods') return PODS;
  const [, resource] = /^(?:requests|limits)\.(.+)$/.exec(name) ?? [];
  if (resource !== undefined) return resource;
  return [PODS, 'cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-') ? name : null;
}

function amountOf(text: unknown, resource: string): number {
  return amountsOf({ [resource]: text })[resource] ?? 0;
}
