/** The instance types of kwok's nodes: a ConfigMap, as Karpenter's kwok provider has a file of them. */
import { ownValue } from '../../../../domain/kernel/record.ts';
import { parse } from 'yaml';
import { z } from 'zod';
import { isQuantity } from '../../../../domain/kernel/quantity.ts';
import type { InstanceType } from '../../../../domain/node-group/model/node-group.ts';
import { amountsOf } from '../../../../domain/kernel/amounts.ts';

/** Where they are, and by which key. */
export const INSTANCE_TYPES = { namespace: 'kube-system', name: 'kwok-instance-types', key: 'types' } as const;

/** What people write as 4 is a number in YAML. */
const quantity = z.union([z.string(), z.number()]).transform(String).refine(isQuantity, 'not a quantity');
const resources = z.record(z.string(), quantity);

const typesSchema = z.array(
  z.strictObject({
    id: z.string().min(1),
    /** Resources of the whole node, such as `cpu`, `memory` and `pods`. */
    capacity: resources,
    /** What of them no pod gets. */
    reserved: resources.default({}),
    /** Such as its zone; the labels that all of its nodes have by themselves need not be written. */
    labels: z.record(z.string(), z.string()).default({}),
    pricePerHour: z.number().nonnegative().optional(),
    isAvailable: z.boolean().default(true),
  }),
);

/**
 * Reads the list, which is YAML or JSON. Pods are 110 where it names none, as many as a kubelet takes.
 *
 * @throws Error that says what is wrong with it.
 */
export function readInstanceTypes(text: string): readonly InstanceType[] {
  const read = typesSchema.safeParse(parse(text));
  if (!read.success) throw new Error(z.prettifyError(read.error));
  return read.data.map(({ id, capacity, reserved, labels, pricePerHour, isAvailable }) => {
    const whole = { pods: 110, ...amountsOf(capacity) };
    const kept = amountsOf(reserved);
    return {
      id,
      capacity: whole,
      allocatable: Object.fromEntries(
        Object.entries(whole).map(([resource, amount]) => [
          resource,
          Math.max(0, amount - (ownValue(kept, resource) ?? 0)),
        ]),
      ),
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': id,
        ...labels,
      },
      pricePerHour: pricePerHour ?? null,
      isAvailable,
    };
  });
}
