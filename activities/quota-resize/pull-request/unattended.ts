/**
 * What the gate asks of a merge that no person has approved, by what it can read itself: whether the quotas rest, and whether
 * anything in the cluster needs what is raised. Whoever may schedule activities can write a decision that nothing asked for.
 */
import {
  BY_PERSON,
  countedSkip,
  neededHold,
  unattendedHold,
} from '../../../domain/quota-resize/decide/unattended-hold.ts';
import { concerns } from '../../../domain/quota-resize/decide/unmerged.ts';
import type { OpenDecision } from '../../../domain/quota-resize/model/decision.ts';
import { isNeedReadable, maxNeeded, withReadableNeed } from '../../../domain/quota-resize/sizing/needed.ts';
import type { UsageMode } from '../../../domain/quota-usage/mode.ts';
import { neededLimits, type ReadRequirements } from '../quota/needed.ts';
import { policyChanged } from './policy-guard.ts';
import type { RaisedQuotas } from './raised-quota.ts';

/**
 * @throws {ApplicationFailure} PolicyChanged when one of the quotas rests, or nothing needs what the decision gives to it.
 */
export async function assertUnattended(
  usage: UsageMode,
  decision: OpenDecision,
  raised: RaisedQuotas,
  needs: ReadRequirements,
): Promise<void> {
  const [own] = raised;
  const { target } = own;
  for (const { target: quota, changes, policy, lease } of raised) {
    // Who skips a cooldown does so for one quota.
    const skippedAt = quota === target ? countedSkip(decision, policy) : null;
    const hold = unattendedHold({ changes, policy, lease, skippedAt }, Date.now());
    if (hold !== null) throw policyChanged(quota, 'merge', hold.detail);
  }
  const requirements = await needs(target, decision);
  for (const { target: quota, changes } of raised) {
    // As `decide`, which closes a pull request that nothing needs, and leaves out a quota that lacks nothing.
    if (concerns(requirements.get(quota.quota) ?? null, { changes })) continue;
    if (!changes.every(({ resource }) => isNeedReadable(usage, resource))) continue;
    throw policyChanged(quota, 'merge', `nothing in the cluster needs it, and ${BY_PERSON}`);
  }
  const policyOf = (quota: string) => (raised.find((one) => one.target.quota === quota) ?? own).policy;
  const known = maxNeeded(own.lease.needed ?? {}, neededLimits(requirements));
  const hold = neededHold(target, withReadableNeed(usage, decision), known, policyOf);
  if (hold !== null) throw policyChanged(target, 'merge', hold.detail);
}
