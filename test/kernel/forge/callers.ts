import { ApiError } from './api-error.ts';
import { type App, type Apps, covers, type InstallationToken } from './apps/apps.ts';
import { looksLikeJwt } from './apps/jwt.ts';
import { has } from './apps/permissions.ts';
import type { ForgeContext } from './context.ts';
import type { ForgeOptions } from './options.ts';

/** Who asks. */
export interface Caller {
  /** The login that things are done by: a person's, or an app's bot. */
  readonly user: string;
  /** What the limits are counted for: the login, and for an app its installation. */
  readonly credential: string;
  /** The app, when it asks with an assertion. */
  readonly app?: App;
  /** The token, when an app asks for one of its installations. */
  readonly installation?: InstallationToken;
}

/** The tokens of people and apps, and whom they speak for. */
export class Callers {
  readonly #apps: Apps;
  readonly #login: string;
  /** undefined lets everybody in. */
  readonly #tokens: Map<string, string> | undefined;

  constructor({ token, tokens, login = 'headroom-bot' }: ForgeOptions, apps: Apps) {
    this.#apps = apps;
    this.#login = login;
    if (token === undefined && tokens === undefined) return;
    this.#tokens = new Map([
      ...(token === undefined ? [] : [[token, login] as const]),
      ...Object.entries(tokens ?? {}),
    ]);
  }

  /** Takes a token of a person back; what it speaks for is refused from now on. */
  revoke(token: string): void {
    this.#tokens?.delete(token);
  }

  /** Whose the Authorization header of an API request is. @throws ApiError 401, 403, 404 */
  ofApi(authorization: string | undefined): Caller {
    const token = authorization === undefined ? undefined : tokenIn(authorization);
    if (token !== undefined && this.#apps.any) {
      if (looksLikeJwt(token)) {
        const app = this.#apps.ofAssertion(token);
        return { user: `${app.slug}[bot]`, credential: `app ${app.slug}`, app };
      }
      if (token.startsWith('ghs_')) return this.#ofInstallation(this.#apps.ofToken(token));
    }
    if (!this.#tokens) return { user: this.#login, credential: this.#login };
    if (token === undefined) throw new ApiError(401, 'Requires authentication');
    const user = this.#tokens.get(token);
    if (user === undefined) throw new ApiError(401, 'Bad credentials');
    return { user, credential: user };
  }

  /** Who speaks git with a repository: undefined for a wrong password, and for nobody where a token is asked for. */
  ofGit(authorization: string | undefined, { owner, repo }: ForgeContext): string | undefined {
    const [, credentials = ''] = (authorization ?? '').split(' ');
    const [user = '', password = ''] = Buffer.from(credentials, 'base64').toString().split(':');
    if (password.startsWith('ghs_') && this.#apps.any) {
      try {
        const token = this.#apps.ofToken(password);
        const own =
          token.installation.account.toLowerCase() === owner.toLowerCase() && covers(token.repositories, repo);
        return own && has(token.permissions, 'contents', 'write') ? `${token.installation.app.slug}[bot]` : undefined;
      } catch {
        return undefined;
      }
    }
    if (!this.#tokens) return this.#login;
    return this.#tokens.get(password) ?? this.#tokens.get(user);
  }

  #ofInstallation(installation: InstallationToken): Caller {
    const { app, id } = installation.installation;
    return { user: `${app.slug}[bot]`, credential: `${app.slug}[bot] installation ${id}`, installation };
  }
}

/** Whether a caller sees a repository. What an app is not installed on is not there for it, as a private one is not. */
export function sees({ installation: token }: Caller, { owner, repo }: ForgeContext): boolean {
  if (!token) return true;
  return token.installation.account.toLowerCase() === owner.toLowerCase() && covers(token.repositories, repo);
}

/** The token of an Authorization header, whichever of the schemes that GitHub takes it has. */
function tokenIn(authorization: string): string {
  const [scheme = '', credentials = ''] = authorization.split(' ');
  if (scheme.toLowerCase() !== 'basic') return credentials;
  return Buffer.from(credentials, 'base64').toString().split(':')[1] ?? '';
}
