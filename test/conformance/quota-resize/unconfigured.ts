import { BUILT_IN_GUARDRAIL } from '../../../domain/quota-resize/policy/guardrail.ts';
import type { PolicyDefaults } from '../../../domain/quota-resize/policy/policy.ts';

/** What a process without any configuration works with. */
export const UNCONFIGURED: PolicyDefaults = {
  mode: 'propose',
  dryRun: false,
  threshold: '80',
  increment: '20',
  cooldown: 3_600_000,
  autoMerge: false,
  maxStep: '2',
  burst: 'settle',
  steps: {},
  approval: 'none',
  approvalReminder: 86_400_000,
  approvalTimeout: null,
  freezeUntil: null,
  mergeWindows: [],
  rejectionCooldown: 86_400_000,
  guardrails: [BUILT_IN_GUARDRAIL],
};
