import type { PolicySource, ResizeMode, ResizePolicy } from './policy.ts';

/** What a quota's policy allows Headroom to do, and which layer each setting comes from. JSON-safe. */
export interface PolicyInForce {
  readonly mode: ResizeMode;
  readonly modeFrom: PolicySource;
  readonly autoMerge: boolean;
  readonly autoMergeFrom: PolicySource;
}

export function policyInForce({ mode, autoMerge, sources }: ResizePolicy): PolicyInForce {
  return {
    mode,
    modeFrom: sources['mode'] ?? 'default',
    autoMerge: autoMerge.allowed,
    autoMergeFrom: sources['auto-merge'] ?? 'default',
  };
}
