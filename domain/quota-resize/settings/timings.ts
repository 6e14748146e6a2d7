import { timing } from '../../kernel/settings/forms.ts';
import type { Settings } from '../../kernel/settings/setting.ts';

export const timingSettings = {
  demandSettle: timing(
    'demand-settle',
    '2s',
    'How long a demand must stay the same before it is acted on, so that a rollout is seen whole; less where the owners of what was refused say that they are done.',
    '0',
  ),
  checksPollMin: timing('checks-poll-min', '15s', 'How often the checks of a fresh pull request are asked for.'),
  checksPollMax: timing('checks-poll-max', '5m', 'How often the checks of an old pull request are asked for.'),
  checksPollRamp: timing('checks-poll-ramp', '10m', 'After how long a pull request counts as old.'),
  settle: timing('settle', '60s', 'How long a pull request without any check must stand before it is merged.', '0'),
  updateInterval: timing(
    'update-interval',
    '10m',
    'An open pull request, and what people are asked about before one, change at most once in this span.',
  ),
  needGone: timing('need-gone', '10m', 'How long a demand must be gone before its pull request is closed.'),
  holdRetry: timing('hold-retry', '5m', 'After how long a blocked or locked decision is tried again.'),
  fileWait: timing(
    'file-wait',
    '24h',
    'How long a quota waits while the pull request of another one changes its file; then it gets its own.',
  ),
  syncPoll: timing('sync-poll', '15s', 'How often the cluster is asked whether it follows a merge.'),
  syncOverdue: timing('sync-overdue', '20m', 'After how long a cluster that does not follow is warned about.'),
  rejectionCooldown: timing('rejection-cooldown', '24h', "How long a person's rejection is respected."),
  recommendationRepeat: timing(
    'recommendation-repeat',
    '24h',
    'An unchanged recommendation is repeated at most once in this span.',
  ),
} as const satisfies Settings;
