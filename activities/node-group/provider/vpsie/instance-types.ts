/** What the nodes of VPSie's sizes are, and which size an offering of a NodeGroup is. */
import { finiteAmount } from '../../../../domain/kernel/amounts.ts';
import { OFFERING_LABEL } from '../../../../domain/node-group/api/names.ts';
import type { InstanceType, NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Offer } from './rest.ts';

type Offerings = Pick<NodeGroup, 'offeringIds' | 'preferredInstanceType' | 'providerSpec'>;

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** As many as a kubelet takes. */
const PODS = 110;

/**
 * The size of an offering: the one of its number or name. One that VPSie does not have under either is `kubeSizeID`, if it is the
 * offering that the group uses first: the VPSie autoscaler makes all nodes of that size, whatever the offerings are called.
 */
export function offerOf(group: Offerings, instanceType: string, offers: readonly Offer[]): Offer | null {
  const named = offers.find(({ id, name }) => String(id) === instanceType || name === instanceType);
  if (named !== undefined) return named;
  const first = group.preferredInstanceType ?? group.offeringIds[0];
  if (instanceType !== first) return null;
  return offers.find(({ id }) => String(id) === group.providerSpec['kubeSizeID']) ?? null;
}

export function instanceTypesOf(group: Offerings, offers: readonly Offer[]): readonly InstanceType[] {
  return group.offeringIds.flatMap((id) => {
    const offer = offerOf(group, id, offers);
    return offer === null ? [] : [instanceType(id, offer)];
  });
}

function instanceType(id: string, { cpu, ram, disk, pricePerHour }: Offer): InstanceType {
  const millicores = finiteAmount(cpu * 1000);
  const memory = finiteAmount(Math.floor(ram) * MIB);
  const storage = finiteAmount(disk * GIB);
  const others = { pods: PODS, ...(storage === 0 ? {} : { 'ephemeral-storage': storage }) };
  return {
    id,
    capacity: { cpu: millicores, memory, ...others },
    allocatable: {
      cpu: millicores - reservedCpu(millicores),
      memory: memory - reservedMemory(memory),
      ...others,
      ...(storage === 0 ? {} : { 'ephemeral-storage': Math.floor(storage * STORAGE_LEFT) }),
    },
    labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux', [OFFERING_LABEL]: id },
    pricePerHour,
    isAvailable: true,
  };
}

/** The kubelet evicts below 100 MiB of memory and a tenth of the disk: its defaults. */
const EVICTION_MEMORY = 100 * MIB;
const STORAGE_LEFT = 0.9;

/** Shares of what is above each bound, as GKE reserves them: VPSie says nothing of it, and too little left is the safe error. */
const MEMORY_STEPS = [
  { upTo: 4 * GIB, share: 0.25 },
  { upTo: 8 * GIB, share: 0.2 },
  { upTo: 16 * GIB, share: 0.1 },
  { upTo: 128 * GIB, share: 0.06 },
  { upTo: Number.POSITIVE_INFINITY, share: 0.02 },
];
const CPU_STEPS = [
  { upTo: 1000, share: 0.06 },
  { upTo: 2000, share: 0.01 },
  { upTo: 4000, share: 0.005 },
  { upTo: Number.POSITIVE_INFINITY, share: 0.0025 },
];

function reservedMemory(memory: number): number {
  return Math.min(memory, Math.ceil(inSteps(memory, MEMORY_STEPS)) + EVICTION_MEMORY);
}

function reservedCpu(millicores: number): number {
  return Math.ceil(inSteps(millicores, CPU_STEPS));
}

function inSteps(amount: number, steps: typeof CPU_STEPS): number {
  let sum = 0;
  let from = 0;
  for (const { upTo, share } of steps) {
    sum += Math.max(0, Math.min(amount, upTo) - from) * share;
    from = upTo;
  }
  return sum;
}
