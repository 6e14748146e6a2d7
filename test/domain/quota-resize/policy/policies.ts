/** Policies out of annotations, for tests of how they are read. */
import { BUILT_IN_GUARDRAIL } from '../../../../domain/quota-resize/policy/guardrail.ts';
import type { PolicyDefaults, PolicyWarning, ResizePolicy } from '../../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../../domain/quota-resize/policy/resolve.ts';

export const defaults: PolicyDefaults = {
  mode: 'observe',
  dryRun: false,
  threshold: '80',
  increment: '20',
  cooldown: 3_600_000,
  autoMerge: true,
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

type Annotations = Readonly<Record<string, string>>;

/** The policy of a quota with these annotations, written without their prefix. */
export function resolve(
  namespace: Annotations = {},
  quota: Annotations = {},
  changed: Partial<PolicyDefaults> = {},
): { policy: ResizePolicy; warnings: readonly PolicyWarning[] } {
  return resolvePolicy({
    defaults: { ...defaults, ...changed },
    namespace: { name: 'team-a', annotations: prefixed(namespace) },
    quotaAnnotations: prefixed(quota),
  });
}

function prefixed(annotations: Annotations): Annotations {
  return Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`resizer.io/${name}`, value]));
}
