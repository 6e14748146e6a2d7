import { appCredentials } from '../forge/github/app.ts';
import { type GitHubCredentials, tokenCredentials } from '../forge/github/credentials.ts';
import type { GitHubCredential } from '../../domain/quota-resize/settings/github-credential.ts';

/** The credential as the client of GitHub uses it. Every repository of the process shares one. */
export function createGitHubCredentials(
  credential: GitHubCredential,
  { apiUrl, requestTimeoutMs }: { readonly apiUrl: string; readonly requestTimeoutMs: number },
): GitHubCredentials {
  if (credential.kind === 'token') return tokenCredentials({ apiUrl, token: () => credential.token.reveal() });
  return appCredentials({
    apiUrl,
    requestTimeoutMs,
    appId: () => credential.appId.reveal(),
    installationId: () => credential.installationId.reveal(),
    privateKey: () => credential.privateKey.reveal(),
  });
}
