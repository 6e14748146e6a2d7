import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { ApiError } from '../api-error.ts';
import type { ForgeContext } from '../context.ts';
import { isoSeconds } from '../git/objects.ts';
import { type HookOptions, newHook } from '../hooks.ts';
import type { Hook } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId } from '../represent/urls.ts';
import type { AppTarget } from '../webhooks/dispatcher.ts';
import { issuerOf } from './jwt.ts';
import { has, type Permissions } from './permissions.ts';

/** A GitHub App as it is registered. */
export interface AppOptions {
  /** Its bot is called `<slug>[bot]`. */
  slug: string;
  /** Default: one made from the slug. */
  id?: number;
  /** Default: one made from the slug. */
  clientId?: string;
  /** Whose app it is. Default: `headroom`. */
  owner?: string;
  /** The public half of its key, in PEM. */
  publicKey: string;
  /** What it asks for. Default: what Headroom needs. */
  permissions?: Permissions;
  /** Its own webhook, which hears of every repository that it is installed on. */
  webhook?: HookOptions;
  /** How long its installations' tokens are valid, in seconds. Default: GitHub's 3,600. */
  tokenLifetimeSeconds?: number;
}

export interface InstallOptions {
  /** The organisation. */
  account: string;
  /** Names of repositories without the owner. Default: all of the account. */
  repositories?: readonly string[];
  /** Default: those of the app. */
  permissions?: Permissions;
}

/** What Headroom does with a repository asks for these. */
const DEFAULT_PERMISSIONS: Permissions = {
  metadata: 'read',
  contents: 'write',
  pull_requests: 'write',
  checks: 'read',
  statuses: 'read',
};

export interface App {
  readonly id: number;
  readonly clientId: string;
  readonly slug: string;
  readonly owner: string;
  readonly permissions: Permissions;
  readonly hook: Hook | undefined;
  readonly createdAt: string;
  keys: readonly KeyObject[];
  tokenLifetimeSeconds: number;
}

export interface Installation {
  readonly id: number;
  readonly app: App;
  readonly account: string;
  /** undefined: all of the account. */
  readonly repositories: readonly string[] | undefined;
  readonly permissions: Permissions;
  readonly createdAt: string;
  suspended: boolean;
}

/** A token of an installation, which may be for less than the installation is. */
export interface InstallationToken {
  readonly token: string;
  readonly installation: Installation;
  readonly permissions: Permissions;
  /** Names without the owner; undefined: all that the installation has. */
  readonly repositories: readonly string[] | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The GitHub Apps that a forge knows, their installations, and the tokens that these have. */
export class Apps {
  readonly #apps: App[] = [];
  readonly #installations: Installation[] = [];
  readonly #tokens = new Map<string, InstallationToken>();

  get any(): boolean {
    return this.#apps.length > 0;
  }

  register(options: AppOptions): App {
    const id = options.id ?? idOf(`app ${options.slug}`);
    const app: App = {
      id,
      clientId: options.clientId ?? `Iv1.${id.toString(16).padStart(16, '0')}`,
      slug: options.slug,
      owner: options.owner ?? 'headroom',
      permissions: options.permissions ?? DEFAULT_PERMISSIONS,
      hook: options.webhook && newHook(id, options.webhook),
      createdAt: isoSeconds(new Date()),
      keys: [createPublicKey(options.publicKey)],
      tokenLifetimeSeconds: options.tokenLifetimeSeconds ?? 3600,
    };
    this.#apps.push(app);
    return app;
  }

  install(app: App, { account, repositories, permissions }: InstallOptions): Installation {
    const installation: Installation = {
      id: idOf(`installation ${app.slug} ${account} ${this.#installations.length}`),
      app,
      account,
      repositories,
      permissions: permissions ?? app.permissions,
      createdAt: isoSeconds(new Date()),
      suspended: false,
    };
    this.#installations.push(installation);
    return installation;
  }

  uninstall(installation: Installation): void {
    this.#installations.splice(this.#installations.indexOf(installation), 1);
    this.revoke(installation);
  }

  /** The app that an assertion comes from. @throws ApiError 401 or 404 */
  ofAssertion(jwt: string): App {
    return issuerOf(jwt, this.#apps, Date.now());
  }

  /** What a token is for. @throws ApiError 401 for one that is unknown, revoked or expired, 403 when suspended */
  ofToken(token: string): InstallationToken {
    const found = this.#tokens.get(token);
    if (!found || found.expiresAt <= Date.now()) throw new ApiError(401, 'Bad credentials');
    if (found.installation.suspended) throw suspended();
    return found;
  }

  installationsOf(app: App): readonly Installation[] {
    return this.#installations.filter((installation) => installation.app === app);
  }

  /** The installation of an app that covers an account, or one repository of it. */
  find(app: App, account: string, repository?: string): Installation | undefined {
    return this.installationsOf(app).find(
      (installation) =>
        same(installation.account, account) &&
        (repository === undefined || covers(installation.repositories, repository)),
    );
  }

  /** Makes a token. @throws ApiError 403 when suspended, 422 when it asks for more than the installation has */
  issue(
    installation: Installation,
    { permissions, repositories }: { permissions?: Permissions; repositories?: readonly string[] } = {},
  ): InstallationToken {
    if (installation.suspended) throw suspended();
    const greedy = Object.entries(permissions ?? {}).some(
      ([name, access]) => !has(installation.permissions, name, access),
    );
    if (greedy) throw new ApiError(422, 'The permissions requested are not granted to this installation.');
    if (repositories?.some((name) => !covers(installation.repositories, name))) {
      throw new ApiError(
        422,
        'There is at least one repository that does not exist or is not accessible to the parent installation.',
      );
    }
    const made: InstallationToken = {
      token: `ghs_${randomBytes(27).toString('base64url').replace(/[-_]/g, '0')}`,
      installation,
      permissions: permissions ?? installation.permissions,
      repositories: repositories ?? installation.repositories,
      expiresAt: Date.now() + installation.app.tokenLifetimeSeconds * 1000,
    };
    this.#tokens.set(made.token, made);
    return made;
  }

  /** Takes back one token, or all of an installation. */
  revoke(what: string | Installation): void {
    for (const [token, { installation }] of this.#tokens) {
      if (token === what || installation === what) this.#tokens.delete(token);
    }
  }

  /** The hooks of the apps that are installed on a repository. */
  targets({ owner, repo }: ForgeContext): AppTarget[] {
    return this.#apps.flatMap((app) => {
      const installation = this.find(app, owner, repo);
      if (!app.hook || !installation || installation.suspended) return [];
      return [
        {
          key: appKey(app),
          hook: app.hook,
          origin: { targetType: 'integration' as const, targetId: app.id },
          installation: { id: installation.id, node_id: nodeId('Integration', installation.id) },
        },
      ];
    });
  }
}

/** The name of an app's queue of deliveries. */
export function appKey({ slug }: App): string {
  return `app ${slug}`;
}

/** Whether a list of repositories, which may be all, has one. */
export function covers(repositories: readonly string[] | undefined, name: string): boolean {
  return repositories?.some((repository) => same(repository, name)) ?? true;
}

function same(first: string, second: string): boolean {
  return first.toLowerCase() === second.toLowerCase();
}

function suspended(): ApiError {
  return new ApiError(403, 'This installation has been suspended');
}
