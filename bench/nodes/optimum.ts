/** What no placement can be cheaper than. */
import { BENCH_TYPES, type BenchType } from './instance-types.ts';
import type { BenchPod } from './workload.ts';

/**
 * A lower bound of the cost an hour in US dollars: each pod pays for its share of the cheapest node that it may be on, by its CPU, by its
 * memory, or by how many of it one node takes, whichever sum is the largest. Nodes count in fractions, and rules between pods
 * (spread, anti-affinity) not at all, so that the true optimum is somewhat above.
 */
export function leastCost(pods: readonly BenchPod[]): number {
  const cpu = sumOf(pods, (pod, type) => pod.requests.cpu / type.allocatable.cpu);
  const memory = sumOf(pods, (pod, type) => pod.requests.memory / type.allocatable.memory);
  return Math.max(cpu, memory, areAlike(pods) ? sumOf(pods, (pod, type) => 1 / fitting(pod, type)) : 0);
}

function sumOf(pods: readonly BenchPod[], share: (pod: BenchPod, type: BenchType) => number): number {
  return pods.reduce(
    (sum, pod) =>
      sum +
      Math.min(...BENCH_TYPES.filter((type) => allows(pod, type)).map((type) => type.pricePerHour * share(pod, type))),
    0,
  );
}

/** How many pods of this size one node takes. */
function fitting({ requests }: BenchPod, { allocatable }: BenchType): number {
  return Math.min(
    Math.floor(allocatable.cpu / requests.cpu),
    Math.floor(allocatable.memory / requests.memory),
    allocatable.pods,
  );
}

/** Only then is the number of pods a node a bound: small pods may fill what large ones leave. */
function areAlike(pods: readonly BenchPod[]): boolean {
  const [first] = pods;
  return pods.every(
    ({ requests }) => requests.cpu === first?.requests.cpu && requests.memory === first.requests.memory,
  );
}

function allows(pod: BenchPod, type: BenchType): boolean {
  const labels: Readonly<Record<string, string>> = {
    'topology.kubernetes.io/zone': type.zone,
    'kubernetes.io/arch': type.arch,
  };
  return fitting(pod, type) > 0 && Object.entries(pod.selector).every(([key, value]) => labels[key] === value);
}
