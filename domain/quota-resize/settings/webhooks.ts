import {
  ADDRESS_FORM,
  boolean,
  BOOLEAN_FORM,
  constant,
  listenAddress,
  matching,
  PATH,
  timing,
} from '../../kernel/settings/forms.ts';
import type { Settings } from '../../kernel/settings/setting.ts';

export const webhookSettings = {
  enabled: {
    type: boolean,
    expected: BOOLEAN_FORM,
    description:
      'Whether GitHub tells a starter of changes of pull requests, so that the worker asks for them once an hour only.',
    env: 'GITHUB_WEBHOOKS',
    flag: '--github-webhooks',
    default: 'false',
    isSwitch: true,
    isForWebhooks: true,
  },
  address: constant(
    {
      type: listenAddress,
      expected: ADDRESS_FORM,
      description: "Where the starter takes GitHub's webhooks, at /webhooks/github.",
      env: 'WEBHOOK_ADDRESS',
      flag: '--webhook-address',
      default: '127.0.0.1:0',
      podDefault: '0.0.0.0:8082',
    },
    'The Service and the NetworkPolicy name it.',
  ),
  secret: {
    type: matching(/[^,\s]/),
    expected: 'the secret of the webhook, or two of them, separated by a comma or a line break',
    description: 'The secret that GitHub signs its webhooks with. Two while it is being replaced.',
    env: 'GITHUB_WEBHOOK_SECRET',
    secret: true,
  },
  secretFile: {
    type: PATH,
    expected: 'the path of a file with the secret of the webhook',
    description: 'A file with the secret, read again when it changes: a secret is rotated without a restart.',
    env: 'GITHUB_WEBHOOK_SECRET_FILE',
    flag: '--github-webhook-secret-file',
  },
  poll: constant(
    timing(
      'webhook-poll',
      '1h',
      'How often an open pull request is asked for where webhooks tell of its changes, after its first minute.',
    ),
    'It is only for a webhook that got lost, which happens seldom.',
  ),
} as const satisfies Settings;
