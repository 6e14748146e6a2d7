/** Whether GitHub reports changes by webhook, and how the starter verifies that a request is from GitHub. */
import type { ListenAddress } from '../../kernel/settings/forms.ts';
import { Secret } from '../../kernel/settings/secret.ts';
import { readSecretSetting } from '../../kernel/settings/secret-setting.ts';
import type { SettingSources, ValuesOf } from '../../kernel/settings/setting.ts';
import { webhookSettings } from './webhooks.ts';

export interface Webhooks {
  /** Milliseconds between a worker's polls of a pull request when a starter receives webhooks; absent: none does. */
  readonly pollMs: number | undefined;
  /** The address on which this process receives webhooks; absent: it receives none. */
  readonly address: ListenAddress | undefined;
  /** One secret, or two while it is being rotated. Present whenever `address` is. */
  readonly secrets: Secret<readonly string[]> | undefined;
}

/** The secrets in a text; empty parts are ignored. */
function splitSecrets(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Only a starter that resizes quotas receives webhooks and needs their secret. */
export function resolveWebhooks(
  { enabled, poll, address, secret, secretFile }: ValuesOf<typeof webhookSettings>,
  sources: SettingSources,
): Webhooks {
  const pollMs = enabled ? poll : undefined;
  const isReceiving = sources.program === 'starter' && sources.runs.has('quota-resize');
  if (!isReceiving) return { pollMs, address: undefined, secrets: undefined };
  const { written, problems } = sources;
  const list = readSecretSetting(
    { path: 'webhooks.secret', setting: webhookSettings.secret, value: secret, file: secretFile },
    sources,
  );
  if (!enabled) return { pollMs, address: undefined, secrets: undefined };
  const isNamed = written.has('webhooks.secret') || written.has('webhooks.secretFile');
  if (!isNamed) {
    problems.push({
      where: 'GITHUB_WEBHOOK_SECRET or GITHUB_WEBHOOK_SECRET_FILE',
      message: `is required with ${written.get('webhooks.enabled')?.where}: without it anybody could send webhooks`,
    });
  }
  const secrets = list === undefined ? undefined : new Secret(() => splitSecrets(list.reveal()));
  return { pollMs, address, secrets };
}
