import { z } from 'zod';
import { constant, integerBetween, timing } from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';
import { usageModes } from './mode.ts';

const usageSettings = {
  mode: {
    type: z.enum(usageModes),
    expected: '"off", "own" or "audit"',
    description:
      'Who keeps the status of quotas true: Kubernetes (off), Headroom (own), or Kubernetes while Headroom checks (audit).',
    env: 'HEADROOM_USAGE_MODE',
    flag: '--usage-mode',
    default: 'off',
  },
  resync: constant(
    timing('usage-resync', '5m', 'How often every quota is counted anew; 0 turns it off.', '0'),
    "It is the resync of Kubernetes' own controller.",
  ),
  replenishmentResync: constant(
    timing(
      'usage-replenishment-resync',
      '12h',
      'How often everything that quotas count is listed anew, at the earliest; each time up to twice as late.',
      '1s',
    ),
    "It is that of Kubernetes' own controller, and only for what no watch tells.",
  ),
  discovery: constant(
    timing('usage-discovery', '30s', 'How often the resources of the cluster are discovered.', '100ms'),
    "It is that of Kubernetes' own controller.",
  ),
  auditAfter: constant(
    timing('usage-audit-after', '60s', 'How long a status must be wrong before it is reported.', '100ms'),
    "Shorter than that, Kubernetes' own controller is only slow.",
  ),
  workers: constant(
    {
      type: integerBetween(1, 1_000),
      expected: 'a number from 1 to 1000',
      // The same number as Kubernetes' own controller for its two queues.
      description: 'How many counts a starter makes at once.',
      env: 'HEADROOM_USAGE_WORKERS',
      flag: '--usage-workers',
      default: '10',
    },
    "It is the number of Kubernetes' own controller.",
  ),
} as const satisfies Settings;

export const quotaUsageSettings = defineSettings(
  { quotaUsage: 'Counting what quotas use' },
  { quotaUsage: usageSettings },
  ['quotaUsage'],
);
