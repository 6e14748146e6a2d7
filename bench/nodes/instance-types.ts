/** The instance types that both sides have: sizes, zones and architectures, priced as clouds do, by what is in them. */
import type { KwokType } from '../../test/node-group/headroom/cluster.ts';

export const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
export const ARCHITECTURES = ['amd64', 'arm64'] as const;

export interface BenchType {
  /** Also the name of its NodeGroup. */
  readonly id: string;
  readonly zone: (typeof ZONES)[number];
  readonly arch: (typeof ARCHITECTURES)[number];
  readonly cores: number;
  readonly gibibytes: number;
  readonly pricePerHour: number;
  /** What pods get of a node: millicores, bytes and a number of pods. */
  readonly allocatable: { readonly cpu: number; readonly memory: number; readonly pods: number };
}

const CORES = [2, 4, 8, 16, 32] as const;
const GIBIBYTES_PER_CORE = 4;
const GIBIBYTE = 1024 ** 3;
const PODS = 110;
/** Karpenter's kwok provider takes this from every node: 100 millicores and 10 MiB. */
const RESERVED = { cpu: 100, memory: 10 * 1024 ** 2 };
/** US dollars an hour. */
const PRICE_PER_CORE = 0.025;
const PRICE_PER_GIBIBYTE = 0.0034;
/** Arm costs less on every cloud that has it. */
const PRICE_OF_ARCH = { amd64: 1, arm64: 0.8 } as const;

/** One type for each zone, so that one NodeGroup is of one type, and so is what Karpenter chooses from. */
export const BENCH_TYPES: readonly BenchType[] = ARCHITECTURES.flatMap((arch) =>
  ZONES.flatMap((zone) =>
    CORES.map((cores) => {
      const gibibytes = cores * GIBIBYTES_PER_CORE;
      const price = (cores * PRICE_PER_CORE + gibibytes * PRICE_PER_GIBIBYTE) * PRICE_OF_ARCH[arch];
      return {
        id: `${arch}-${cores}-${zone}`,
        zone,
        arch,
        cores,
        gibibytes,
        pricePerHour: Number(price.toFixed(6)),
        allocatable: {
          cpu: cores * 1000 - RESERVED.cpu,
          memory: gibibytes * GIBIBYTE - RESERVED.memory,
          pods: PODS,
        },
      };
    }),
  ),
);

/** As the ConfigMap of Headroom's kwok provider has them. */
export function headroomTypes(): readonly (KwokType & { readonly reserved: Readonly<Record<string, string>> })[] {
  return BENCH_TYPES.map(({ id, zone, arch, cores, gibibytes, pricePerHour }) => ({
    id,
    capacity: { cpu: String(cores), memory: `${gibibytes}Gi`, pods: String(PODS) },
    reserved: { cpu: `${RESERVED.cpu}m`, memory: String(RESERVED.memory) },
    labels: { 'topology.kubernetes.io/zone': zone, 'kubernetes.io/arch': arch },
    pricePerHour,
  }));
}

/** As Karpenter's kwok provider reads them from a file. */
export function karpenterTypes(): readonly object[] {
  const is = (key: string, value: string): object => ({ key, operator: 'In', values: [value] });
  return BENCH_TYPES.map(({ id, zone, arch, cores, gibibytes, pricePerHour }) => ({
    name: id,
    offerings: [
      {
        Price: pricePerHour,
        Available: true,
        Requirements: [is('karpenter.sh/capacity-type', 'on-demand'), is('topology.kubernetes.io/zone', zone)],
      },
    ],
    architecture: arch,
    operatingSystems: ['linux'],
    resources: { cpu: String(cores), memory: `${gibibytes}Gi`, pods: String(PODS) },
  }));
}
