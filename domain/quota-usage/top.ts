/** The workloads with the highest usage of a quota's resource. */
import { percentOf } from '../kernel/percent.ts';
import { addQuantities, compareQuantities, formatQuantity, type Quantity, quantityOf } from '../kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../kernel/resource-list.ts';

/** The charge of one object of a workload, which may have many. */
export interface WorkloadCharge {
  /** `Deployment/web`; equal texts are the same workload. */
  readonly workload: string;
  readonly charge: ResourceList;
}

/** A part of what is used of a resource. */
interface UsageShare {
  /** A quantity as Kubernetes writes it. */
  readonly amount: string;
  /** Percent of the total with one decimal, rounded down. */
  readonly share: number;
}

export interface TopUsage {
  readonly total: string;
  /** The largest first; equal ones by name. */
  readonly top: readonly (UsageShare & { readonly workload: string })[];
  /** All the others together; null when there are none. */
  readonly others: (UsageShare & { readonly workloads: number }) | null;
}

const ZERO = quantityOf(0n);

function sum(amounts: readonly Quantity[]): Quantity {
  return amounts.reduce(addQuantities, ZERO);
}

/** The `most` workloads with the largest charge of a resource. Workloads without a charge are omitted. */
export function topUsage(charges: Iterable<WorkloadCharge>, resource: string, most: number): TopUsage {
  const amounts = new Map<string, Quantity>();
  for (const { workload, charge } of charges) {
    amounts.set(workload, addQuantities(amounts.get(workload) ?? ZERO, quantityIn(charge, resource)));
  }
  const users = [...amounts]
    .filter(([, amount]) => amount.nano > 0n)
    .toSorted(([a, left], [b, right]) => compareQuantities(right, left) || (a < b ? -1 : 1));
  const total = sum(users.map(([, amount]) => amount));
  const shareOf = (amount: Quantity): UsageShare => ({
    amount: formatQuantity(amount),
    share: Number(percentOf(amount, total)),
  });
  const rest = users.slice(most).map(([, amount]) => amount);
  return {
    total: formatQuantity(total),
    top: users.slice(0, most).map(([workload, amount]) => ({ workload, ...shareOf(amount) })),
    others: rest.length === 0 ? null : { workloads: rest.length, ...shareOf(sum(rest)) },
  };
}
