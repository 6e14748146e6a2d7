import { asksForVerified } from './guardrail.ts';
import type { PolicySource, ResizeMode, ResizePolicy } from './policy.ts';

/** What a quota's policy allows Headroom to do, and which layer each setting comes from. JSON-safe. */
export interface PolicyInForce {
  readonly mode: ResizeMode;
  readonly modeFrom: PolicySource;
  readonly autoMerge: boolean;
  readonly autoMergeFrom: PolicySource;
  /** The guardrail that takes only verified approvals; null: any approval counts. */
  readonly approvalVerifiedFor: string | null;
}

export function policyInForce(policy: ResizePolicy): PolicyInForce {
  const { mode, autoMerge, sources } = policy;
  return {
    mode,
    modeFrom: sources['mode'] ?? 'default',
    autoMerge: autoMerge.allowed,
    autoMergeFrom: sources['auto-merge'] ?? 'default',
    approvalVerifiedFor: asksForVerified(policy) ? policy.guardrail.name : null,
  };
}
