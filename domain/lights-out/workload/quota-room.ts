/** What the quotas of a namespace let in: no nodes come for pods that would be refused. */
import { amountsOf } from '../../kernel/amounts.ts';
import { isRecord } from '../../kernel/record.ts';
import type { Workload } from './workload.ts';

/** A ResourceQuota in the shape of Kubernetes' JSON. */
export interface NamespaceQuota {
  readonly spec?:
    | { readonly hard?: object | undefined; readonly scopes?: unknown; readonly scopeSelector?: unknown }
    | undefined;
  readonly status?: { readonly used?: object | undefined } | undefined;
}

/** What counts, by the names that a quota may have for it. */
const COUNTED = {
  pods: ['pods', 'count/pods'],
  cpu: ['requests.cpu', 'cpu'],
  memory: ['requests.memory', 'memory'],
} as const;
type Counted = keyof typeof COUNTED;

export class QuotaRoom {
  readonly #left = new Map<Counted, number>();

  /** A quota that is only for some pods is no limit here. */
  constructor(quotas: readonly NamespaceQuota[]) {
    for (const { spec, status } of quotas.filter(
      ({ spec }) => spec?.scopes === undefined && spec?.scopeSelector === undefined,
    )) {
      for (const [counted, names] of Object.entries(COUNTED) as [Counted, readonly string[]][]) {
        for (const name of names) {
          const hard = amountOf(spec?.hard, name, counted);
          if (hard === null) continue;
          const left = hard - (amountOf(status?.used, name, counted) ?? 0);
          this.#left.set(counted, Math.min(left, this.#left.get(counted) ?? left));
        }
      }
    }
  }

  /** As many of the pods as there is room for, which they take. */
  take(pods: number, { cpu = 0, memory = 0 }: NonNullable<Workload['requests']> = {}): number {
    const one: Readonly<Record<Counted, number>> = { pods: 1, cpu, memory };
    let taken = pods;
    for (const [counted, left] of this.#left) {
      if (one[counted] > 0) taken = Math.min(taken, Math.max(0, Math.floor(left / one[counted])));
    }
    for (const [counted, left] of this.#left) this.#left.set(counted, left - taken * one[counted]);
    return taken;
  }
}

/** In millicores for CPU; null where the list does not have it. */
function amountOf(list: unknown, name: string, counted: Counted): number | null {
  const text = isRecord(list) ? list[name] : undefined;
  return text === undefined ? null : (amountsOf({ [counted]: text })[counted] ?? 0);
}
