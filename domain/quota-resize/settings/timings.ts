import { constant, timing } from '../../kernel/settings/forms.ts';
import type { Settings } from '../../kernel/settings/setting.ts';

export const timingSettings = {
  demandSettle: constant(
    timing(
      'demand-settle',
      '2s',
      'How long a demand must stay the same before it is acted on; less where the owners of denied objects say they are done.',
      '0',
    ),
    'It is long enough for a rollout to be refused as a whole, and nobody notices two seconds.',
  ),
  checksPollMin: constant(
    timing('checks-poll-min', '15s', 'How often the checks of a fresh pull request are asked for.'),
    'Asking more often costs requests and brings a merge forward by seconds; webhooks tell at once.',
  ),
  checksPollMax: constant(
    timing('checks-poll-max', '5m', 'How often the checks of an old pull request are asked for.'),
    'A check that has run for long ends a few minutes earlier or later; webhooks tell at once.',
  ),
  checksPollRamp: constant(
    timing('checks-poll-ramp', '10m', 'After how long a pull request counts as old.'),
    'It only says how fast the first span grows into the second.',
  ),
  settle: timing('settle', '60s', 'How long a pull request without any check must be open before it is merged.', '0'),
  updateInterval: constant(
    timing(
      'update-interval',
      '10m',
      'An open pull request, and what people are asked about before one, change at most once in this span.',
    ),
    'Long enough for reviewers to read what they review, short against the time that a merge takes.',
  ),
  needGone: constant(
    timing('need-gone', '10m', 'How long a demand must be gone before its pull request is closed.'),
    'It outlasts a rollout and a restart, and a pull request that nobody needs harms nobody meanwhile.',
  ),
  holdRetry: constant(
    timing('hold-retry', '5m', 'After how long a blocked or locked decision is tried again.'),
    'Headroom also watches what blocks; this is only for what no watch shows.',
  ),
  fileWait: constant(
    timing(
      'file-wait',
      '24h',
      'How long a quota waits while the pull request of another one changes its file; then it gets its own.',
    ),
    'It only prevents that a pull request that nobody merges holds up others for ever.',
  ),
  syncPoll: constant(
    timing('sync-poll', '15s', 'How often the cluster is asked whether it follows a merge.'),
    'It is one request to the API server for each merge.',
  ),
  syncOverdue: timing('sync-overdue', '20m', 'How long a cluster may take to follow a merge before Headroom warns.'),
  rejectionCooldown: timing('rejection-cooldown', '24h', "How long a person's rejection is respected."),
  recommendationRepeat: constant(
    timing('recommendation-repeat', '24h', 'An unchanged recommendation is repeated at most once in this span.'),
    'A changed recommendation is written at once; once a day is enough for the same one.',
  ),
} as const satisfies Settings;
