/** Headroom's credential for GitHub, from the configuration: a token or a GitHub App. */
import type { Secret } from '../../kernel/settings/secret.ts';
import { readSecretSetting } from '../../kernel/settings/secret-setting.ts';
import type { SettingSources, ValuesOf, WrittenValue } from '../../kernel/settings/setting.ts';
import { githubSettings } from './github.ts';

/** A value from a file is read again at every `reveal()`. */
export type GitHubCredential =
  | { readonly kind: 'token'; readonly token: Secret }
  | { readonly kind: 'app'; readonly appId: Secret; readonly installationId: Secret; readonly privateKey: Secret };

type Values = ValuesOf<typeof githubSettings>;
type Named = 'token' | 'appId' | 'installationId' | 'privateKey';

const APP: readonly Named[] = ['appId', 'installationId', 'privateKey'];

/** Whether the configuration names any credential, complete or not. */
export function namesCredential(written: SettingSources['written']): boolean {
  return (['token', ...APP] as const).some((name) => writtenAs(name, written).length > 0);
}

/** The credential; undefined when there is none or it has a problem. */
export function readGitHubCredential(values: Values, sources: SettingSources): GitHubCredential | undefined {
  const { written, problems } = sources;
  const [token] = writtenAs('token', written);
  const app = APP.flatMap((name) => writtenAs(name, written));
  if (token !== undefined && app[0] !== undefined) {
    problems.push({
      where: token.where,
      message: `is set and ${app[0].where} is set as well: expected either a token or an App`,
    });
    return undefined;
  }
  if (app.length === 0) {
    const read = readSecret('token', values, sources);
    return read === undefined ? undefined : { kind: 'token', token: read };
  }
  for (const name of APP) {
    if (writtenAs(name, written).length > 0) continue;
    const { env } = githubSettings[name];
    problems.push({ where: `${env} or ${env}_FILE`, message: `is required with ${app[0]?.where}` });
  }
  const appId = readSecret('appId', values, sources);
  const installationId = readSecret('installationId', values, sources);
  const privateKey = readSecret('privateKey', values, sources);
  if (appId === undefined || installationId === undefined || privateKey === undefined) return undefined;
  return { kind: 'app', appId, installationId, privateKey };
}

/** The parts of a credential that must not be logged; an App's numeric ids may. */
export function secretsOf(credential: GitHubCredential): readonly Secret[] {
  return [credential.kind === 'token' ? credential.token : credential.privateKey];
}

function writtenAs(name: Named, written: SettingSources['written']): readonly WrittenValue[] {
  return [`github.${name}`, `github.${name}File`].flatMap((path) => written.get(path) ?? []);
}

/** A value from a setting, or from the file that another setting names. */
function readSecret(name: Named, values: Values, sources: SettingSources): Secret | undefined {
  return readSecretSetting(
    { path: `github.${name}`, setting: githubSettings[name], value: values[name], file: values[`${name}File`] },
    sources,
  );
}
