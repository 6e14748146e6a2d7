import { z } from 'zod';
import {
  boolean,
  BOOLEAN_FORM,
  booleanOr,
  explained,
  NO_REASON,
  numberBetween,
  parsed,
  percentage,
} from '../../kernel/settings/forms.ts';
import type { Settings } from '../../kernel/settings/setting.ts';
import { GUARDRAILS_FORM, guardrailList } from '../policy/guardrail-settings.ts';
import { parseMaxStep } from '../policy/max-step.ts';
import { readMergeWindows, WINDOWS_FORM } from '../policy/merge-window.ts';
import {
  APPROVAL_FORM,
  BURST_FORM,
  FREEZE_FORM,
  readApproval,
  readBurst,
  readFreezeUntil,
  readSpanOrNever,
  readSteps,
  SPAN_OR_NEVER_FORM,
  STEPS_FORM,
  WrongValue,
} from '../policy/values.ts';

/** A type that uses the parser of the annotation with the same meaning. */
function asAnnotated<Output>(read: (text: string) => Output): z.ZodType<Output, string> {
  return explained(
    (written) => read(written.trim()),
    (error) => (error instanceof WrongValue ? error.reason : undefined) ?? NO_REASON,
  );
}

export const autoMerge = booleanOr('github');

export const policySettings = {
  mode: {
    type: z.enum(['observe', 'propose']),
    expected: '"observe" or "propose"',
    description: 'Whether Headroom only recommends, or opens pull requests.',
    env: 'HEADROOM_MODE',
    flag: '--mode',
    default: 'observe',
  },
  dryRun: {
    type: boolean,
    expected: BOOLEAN_FORM,
    description: 'Observe whatever any other setting or annotation says: nothing is written to GitHub.',
    env: 'DRY_RUN',
    flag: '--dry-run',
    default: 'false',
    isSwitch: true,
  },
  threshold: {
    type: percentage(100),
    expected: 'a percentage above 0 and up to 100, such as 80 or 80%',
    description: 'The share of a limit, in percent, from which on it is raised.',
    env: 'THRESHOLD',
    flag: '--threshold',
    default: '80',
  },
  increment: {
    type: percentage(1000),
    expected: 'a percentage above 0 and up to 1000, such as 20 or 20%',
    description: 'By how much, in percent, a limit is raised at least.',
    env: 'INCREMENT',
    flag: '--increment',
    default: '20',
  },
  cooldownMinutes: {
    type: numberBetween(0, 40_320),
    expected: 'a number of minutes from 0 to 40320 (four weeks), such as 60',
    description: 'How many minutes a quota rests after a decision, however it ended, and after a recommendation.',
    env: 'COOLDOWN_MINUTES',
    flag: '--cooldown-minutes',
    default: '60',
  },
  maxStep: {
    type: parsed(parseMaxStep),
    expected: 'a factor from 1 to 1000, such as 2',
    description: 'The largest raise, as a multiple of the limit, that needs no approval by a person.',
    env: 'MAX_STEP',
    flag: '--max-step',
    default: '2',
  },
  burst: {
    type: asAnnotated(readBurst),
    expected: BURST_FORM,
    description:
      'How far unmet demand raises a limit: to below the threshold (settle), or to exactly what is needed (fill).',
    env: 'BURST',
    flag: '--burst',
    default: 'settle',
  },
  steps: {
    type: asAnnotated(readSteps),
    expected: STEPS_FORM,
    description: 'What proposed limits are rounded up to a multiple of, such as cpu=1,memory=4Gi.',
    env: 'STEPS',
    flag: '--steps',
    default: 'none',
  },
  approval: {
    type: asAnnotated(readApproval),
    expected: APPROVAL_FORM,
    description:
      'Whether a person has to approve every raise: not at all, before the pull request, or before the merge.',
    env: 'APPROVAL',
    flag: '--approval',
    default: 'none',
  },
  approvalReminder: {
    type: asAnnotated(readSpanOrNever),
    expected: SPAN_OR_NEVER_FORM,
    description: 'How often people are reminded of an approval that is missing.',
    env: 'APPROVAL_REMINDER',
    flag: '--approval-reminder',
    default: '24h',
  },
  approvalTimeout: {
    type: asAnnotated(readSpanOrNever),
    expected: SPAN_OR_NEVER_FORM,
    description: 'After how long without an answer an approval counts as rejected.',
    env: 'APPROVAL_TIMEOUT',
    flag: '--approval-timeout',
    default: 'never',
  },
  freezeUntil: {
    type: asAnnotated(readFreezeUntil),
    expected: FREEZE_FORM,
    description: 'Nothing is merged before this moment. An annotation can only make it later.',
    env: 'FREEZE_UNTIL',
    flag: '--freeze-until',
  },
  mergeWindows: {
    type: asAnnotated(readMergeWindows),
    expected: WINDOWS_FORM,
    description: 'When merging is allowed, such as 0 9 * * 1-5 for 8h in Europe/Berlin.',
    env: 'MERGE_WINDOWS',
    flag: '--merge-windows',
    default: 'always',
  },
  autoMerge: {
    type: autoMerge,
    expected: 'true, false or github',
    description:
      "Whether Headroom may merge. A namespace can only switch it off. github: GitHub's auto-merge merges what has to wait.",
    env: 'ENABLE_AUTO_MERGE',
    flag: '--enable-auto-merge',
    default: 'false',
    isSwitch: true,
  },
  guardrails: {
    type: guardrailList,
    expected: GUARDRAILS_FORM,
    description:
      'What no annotation may exceed, by namespace; the first match holds (docs/policy.md). In the environment it is JSON.',
    env: 'HEADROOM_GUARDRAILS',
    isStructured: true,
  },
} as const satisfies Settings;
