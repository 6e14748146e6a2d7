/**
 * What the gate asks of a merge that no person has approved, by what it can read itself: whether the quotas rest, and whether
 * anything in the cluster needs what is raised. Whoever may schedule activities can write a decision that nothing asked for.
 */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import { neededHold, countedSkip, unattendedHold } from '../../../domain/quota-resize/decide/unattended-hold.ts';
import { concerns } from '../../../domain/quota-resize/decide/unmerged.ts';
import type { LimitChange, OpenDecision } from '../../../domain/quota-resize/model/decision.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { isNeedReadable, maxNeeded, withReadableNeed } from '../../../domain/quota-resize/sizing/needed.ts';
import { neededLimits, type NeedOptions, readRequirements } from '../quota/needed.ts';
import { policyChanged } from './policy-guard.ts';

/** A quota that a decision raises, and the policy in force for it. */
export interface RaisedQuota {
  readonly target: QuotaTarget;
  readonly changes: readonly LimitChange[];
  readonly policy: ResizePolicy;
}

/**
 * @param raised the decision's own quota first.
 * @throws {ApplicationFailure} PolicyChanged when one of the quotas rests, or nothing needs what the decision gives to it.
 */
export async function assertUnattended(
  options: NeedOptions,
  target: QuotaTarget,
  decision: OpenDecision,
  raised: readonly [RaisedQuota, ...RaisedQuota[]],
): Promise<void> {
  for (const { target: quota, changes, policy } of raised) {
    // Who skips a cooldown does so for one quota.
    const skippedAt = quota === target ? countedSkip(decision, policy) : null;
    const lease = await options.leases.read(quota);
    const hold = unattendedHold({ changes, policy, lease, skippedAt }, Date.now());
    if (hold !== null) throw policyChanged(quota, 'merge', hold.detail);
  }
  const requirements = await readRequirements(options, target, decision);
  for (const { target: quota, changes } of raised) {
    // As `decide`, which closes a pull request that nothing needs, and leaves out a quota that lacks nothing.
    if (concerns(requirements.get(quota.quota) ?? null, { changes })) continue;
    if (!changes.every(({ resource }) => isNeedReadable(options.usage, resource))) continue;
    throw policyChanged(quota, 'merge', 'nothing in the cluster needs it, and only a person may merge it');
  }
  const { needed } = await options.leases.read(target);
  const policyOf = (quota: string) => (raised.find((one) => one.target.quota === quota) ?? raised[0]).policy;
  const known = maxNeeded(needed ?? {}, neededLimits(requirements));
  const hold = neededHold(target, withReadableNeed(options.usage, decision), known, policyOf);
  if (hold !== null) throw policyChanged(target, 'merge', hold.detail);
}
