/** Keeps observations small, however many workloads a quota denied: most of them are summed, exactly. */
import { addAmounts, amountsIn, type Amounts, resourceList } from '../../kernel/resource-list.ts';
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import type { QuotaObservation, WorkloadDemand } from '../model/observation.ts';

/** How many workloads of each quota an observation names; nobody reads more. */
const NAMED = 40;

/**
 * The most that an observation may have, in bytes of JSON. Temporal refuses an answer of 2 MiB, and each observation
 * stays in the history of its episode.
 */
const MAX_BYTES = 256 * 1024;

/** Messages of so many milliseconds are summed together, because those before Headroom's last change do not count. */
const MESSAGES_MS = 5 * MINUTE_MS;

/**
 * The observation with the demand of at most 40 workloads of each quota by itself and the rest in sums; fewer are named
 * where it would be too large. Other quotas are left out last, those that would be last by name first: they have
 * episodes of their own.
 */
export function summarized(observation: QuotaObservation): QuotaObservation {
  let summary = observation;
  for (let named = NAMED; named > 0; named = Math.floor(named / 2)) {
    // Sums of sums: each step has few entries to add.
    summary = {
      ...summary,
      demand: summarizedDemand(summary.demand, named),
      otherQuotas: summary.otherQuotas.map((other) => ({ ...other, demand: summarizedDemand(other.demand, named) })),
    };
    if (bytesOf(summary) <= MAX_BYTES) return summary;
  }
  return withFewerQuotas(summary);
}

function withFewerQuotas(observation: QuotaObservation): QuotaObservation {
  let bytes = bytesOf({ ...observation, otherQuotas: [] });
  const otherQuotas = observation.otherQuotas.filter((other) => {
    bytes += bytesOf(other) + 1;
    return bytes <= MAX_BYTES;
  });
  return { ...observation, otherQuotas };
}

/** The size as JSON. */
function bytesOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** The first `named` workloads, and the others in one sum for each kind (and, for messages, for each few minutes). */
export function summarizedDemand(demand: readonly WorkloadDemand[], named = NAMED): readonly WorkloadDemand[] {
  if (demand.length <= named) return demand;
  const groups = Map.groupBy(demand.slice(named), groupOf);
  return [...demand.slice(0, named), ...[...groups.values()].map(sumOf)];
}

function groupOf({ basis, workload, lastSeen }: WorkloadDemand): string {
  // Headroom reads owners of few kinds; messages may be about any number of them.
  return basis === 'workload' ? workload.kind : `message ${Math.floor(lastSeen / MESSAGES_MS)}`;
}

function sumOf(group: readonly WorkloadDemand[]): WorkloadDemand {
  const [first] = group;
  if (first === undefined) throw new Error('a group of workloads has no workload');
  const { basis } = first;
  const kinds = new Set(group.map(({ workload }) => workload.kind));
  const total = group.reduce<Amounts>((sum, workload) => addAmounts(sum, amountsIn(workload.total)), new Map());
  const later = count(group, (workload) => workload.later ?? 0);
  const times = group.map(({ lastSeen }) => lastSeen);
  return {
    workload: { kind: kinds.size === 1 ? first.workload.kind : 'object', name: '', uid: '' },
    basis,
    alike: count(group, ({ alike = 1 }) => alike),
    missing: count(group, ({ missing }) => missing),
    surge: count(group, ({ surge }) => surge),
    ...(later > 0 ? { later } : {}),
    total: resourceList([...total]),
    // A message counts if it is newer than the last change, so the oldest of them decides for all.
    lastSeen: basis === 'message' ? smallest(times) : largest(times),
  };
}

function count(group: readonly WorkloadDemand[], of: (workload: WorkloadDemand) => number): number {
  return group.reduce((sum, workload) => sum + of(workload), 0);
}

function smallest(times: readonly EpochMs[]): EpochMs {
  return times.reduce((a, b) => Math.min(a, b));
}

function largest(times: readonly EpochMs[]): EpochMs {
  return times.reduce((a, b) => Math.max(a, b));
}
