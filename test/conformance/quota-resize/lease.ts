/** The cases of an existing resizer about its Leases. */
import * as z from 'zod';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { evaluateLease } from '../../../domain/lease-gc/evaluate-lease.ts';
import {
  type LeaseObject,
  leaseSelector,
  quotaLeaseLabels,
  readLeaseMemory,
} from '../../../domain/quota-resize/model/lease.ts';
import { type Adapter, adapter, LATER_STRATEGY, NotApplicable } from '../adapter.ts';
import { sameJson } from '../compare.ts';

const gcInput = z.strictObject({
  namespaces: z.array(z.string()),
  leases: z.array(z.strictObject({ name: z.string(), managed: z.boolean(), targetNs: z.string() })),
});

/** Long after every Lease was written, so that no grace period is running. */
const MUCH_LATER = Date.UTC(2100, 0, 1);

/** Whether the API server lists the Lease by the selector of the garbage collection, which is one of equal labels. */
function isListed({ metadata }: LeaseObject): boolean {
  return leaseSelector.split(',').every((requirement) => {
    const [label = '', value] = requirement.split('=');
    return value !== undefined && metadata?.labels?.[label] === value;
  });
}

/** Which Leases the garbage collection deletes, where no workflow runs and every quota of a living namespace exists. */
function collect({ namespaces, leases }: z.infer<typeof gcInput>): unknown {
  const quotaOf = (lease: { name: string; targetNs: string }) => lease.name.replace(`state-${lease.targetNs}-`, '');
  const surroundings = {
    cluster: 'c',
    namespaces: new Set(namespaces),
    quotas: new Set(leases.map((lease) => `${lease.targetNs}/${quotaOf(lease)}`)),
    running: new Set<string>(),
  };
  const isDeleted = (lease: z.infer<typeof gcInput>['leases'][number]) => {
    const object: LeaseObject = {
      metadata: {
        name: lease.name,
        labels: lease.managed ? quotaLeaseLabels : {},
        annotations: { 'resizer.io/target-namespace': lease.targetNs, 'resizer.io/target-quota': quotaOf(lease) },
      },
    };
    return isListed(object) && evaluateLease(object, 0, surroundings, MUCH_LATER).kind === 'delete';
  };
  return {
    deleted: leases.filter(isDeleted).map(({ name }) => name),
    kept: leases.filter((lease) => !isDeleted(lease)).map(({ name }) => name),
  };
}

export const leaseKinds: Readonly<Record<string, Adapter>> = {
  'lease-state': adapter(
    z.union([
      z.strictObject({ 'annotation resizer.io/last-modified': z.string() }),
      z.strictObject({ mutate: z.string() }),
    ]),
    z.union([
      z.strictObject({ instant: z.string().nullable() }),
      z.strictObject({ lastModifiedUnchanged: z.boolean() }),
    ]),
    (input) => {
      // What changes is the window of observations.
      if ('mutate' in input) throw new NotApplicable(LATER_STRATEGY);
      const text = input['annotation resizer.io/last-modified'];
      const { memory } = readLeaseMemory({ metadata: { annotations: { 'resizer.io/last-modified': text } } });
      return { instant: memory.lastModified === null ? null : formatInstant(memory.lastModified) };
    },
    sameJson,
  ),
  'lease-gc': adapter(
    gcInput,
    z.strictObject({ deleted: z.array(z.string()), kept: z.array(z.string()) }),
    collect,
    sameJson,
  ),
};
