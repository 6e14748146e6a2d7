import type { V1Lease } from '@kubernetes/client-node';
import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import { sized, whyFull } from '../../../domain/node-group/plan-lease-size.ts';
import { leaseFullPatch } from '../../../domain/node-group/status/lease-full.ts';
import type { NodeGroupTarget } from '../../../domain/node-group/target.ts';
import { failure } from '../../kernel/failure.ts';
import { annotateLease, createLease } from '../../kubernetes/lease-object.ts';
import type { MachineOptions } from '../machines/options.ts';
import { patchGroupStatus, readGroup } from './group-objects.ts';

type Options = Pick<MachineOptions, 'kubernetes' | 'systemNamespace' | 'clock' | 'guard' | 'log'>;

/**
 * Writes a group's part of the Lease of plans.
 *
 * @param lease as it was read; null where there is none.
 * @throws InvalidInput, not retried, where the part is too large; the status of the group says so.
 */
export async function writePlanLease(
  options: Options,
  target: NodeGroupTarget,
  lease: V1Lease | null,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  const fit = sized(wanted, target.group);
  if (fit.kind === 'tooLarge') {
    await sayFull(options, target, fit.detail);
    throw failure({ type: 'InvalidInput', message: `nothing is written down: ${fit.detail}`, nonRetryable: true });
  }
  const { annotations, dropped } = fit;
  await options.guard(target);
  if (lease === null) await createLease(options, { name: PLAN_LEASE, labels: {}, annotations }, null);
  else await annotateLease(options, lease, annotations);
  for (const group of dropped) {
    await sayFull(options, { ...target, group }, `what was said of its nodes was dropped: ${whyFull(wanted)}`);
  }
}

/** Where that cannot be written, it stops nothing. */
async function sayFull(options: Options, target: NodeGroupTarget, detail: string): Promise<void> {
  const { kubernetes, clock, log } = options;
  log.warn({ nodeGroup: target.group }, `the Lease of plans is full: ${detail}`);
  try {
    const { uid } = await readGroup(kubernetes, target.group);
    if (uid === '') return;
    await patchGroupStatus(options, { target, uid }, ({ status }) => leaseFullPatch(status, detail, clock.now()));
  } catch (error) {
    log.warn({ err: error, nodeGroup: target.group }, 'the status does not say that the Lease of plans is full');
  }
}
