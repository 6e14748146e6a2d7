/** Whether GitHub tells Headroom of changes, and how the starter knows that it is GitHub. */
import { Secret } from './secret.ts';
import { readSecretSetting, type SecretSources } from './secret-setting.ts';
import { type ListenAddress, type SettingValues, settings } from './settings.ts';

export interface Webhooks {
  /** Milliseconds between two looks of a worker at a pull request where a starter is told; absent: nobody is. */
  readonly pollMs: number | undefined;
  /** Where this process takes webhooks; absent: it takes none. */
  readonly address: ListenAddress | undefined;
  /** One secret, or two while it is being replaced. There wherever `address` is. */
  readonly secrets: Secret<readonly string[]> | undefined;
}

/** Every secret in a text; an empty part is none. */
function splitSecrets(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** @param takes whether this process is the one that takes webhooks, and so needs their secret. */
export function resolveWebhooks(
  { enabled, poll, address, secret, secretFile }: SettingValues['webhooks'],
  { takes, ...sources }: SecretSources & { readonly takes: boolean },
): Webhooks {
  const pollMs = enabled ? poll : undefined;
  if (!takes) return { pollMs, address: undefined, secrets: undefined };
  const { written, problems } = sources;
  const list = readSecretSetting(
    { path: 'webhooks.secret', setting: settings.webhooks.secret, value: secret, file: secretFile },
    sources,
  );
  const isNamed = written.has('webhooks.secret') || written.has('webhooks.secretFile');
  if (address !== undefined && !isNamed) {
    problems.push({
      where: 'GITHUB_WEBHOOK_SECRET or GITHUB_WEBHOOK_SECRET_FILE',
      message: `is required with ${written.get('webhooks.address')?.where}: without it anybody could send webhooks`,
    });
  }
  const secrets = list === undefined ? undefined : new Secret(() => splitSecrets(list.reveal()));
  return { pollMs, address, secrets };
}
