import { createPublicKey } from 'node:crypto';
import type { Site } from '../site.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import { type App, appKey, type Installation, type InstallOptions } from './apps.ts';

/** A registered app, as a test holds it. */
export interface ForgeApp {
  readonly id: number;
  readonly clientId: string;
  /** The login of what it does: `<slug>[bot]`. */
  readonly bot: string;
  /** Installs it on an organisation. */
  install(options: InstallOptions): ForgeInstallation;
  /** Takes these public keys for its assertions from now on, and no others. */
  setKeys(...publicKeys: readonly string[]): void;
  /** How long tokens that are made from now on are valid. */
  setTokenLifetime(seconds: number): void;
  /** What was delivered to its own webhook, the oldest first. */
  deliveries(): readonly Delivery[];
}

export interface ForgeInstallation {
  readonly id: number;
  /** Makes a token as the API would. */
  token(): string;
  /** Takes back all of its tokens: who comes with one is refused with 401. */
  revokeTokens(): void;
  /** While it is suspended everything is refused with 403. */
  suspend(suspended: boolean): void;
  uninstall(): void;
}

export function registeredApp(site: Site, app: App): ForgeApp {
  return {
    id: app.id,
    clientId: app.clientId,
    bot: `${app.slug}[bot]`,
    install: (options) => installed(site, site.apps.install(app, options)),
    setKeys(...publicKeys) {
      app.keys = publicKeys.map((key) => createPublicKey(key));
    },
    setTokenLifetime(seconds) {
      app.tokenLifetimeSeconds = seconds;
    },
    deliveries: () => site.deliverer.deliveries(appKey(app)),
  };
}

function installed({ apps }: Site, installation: Installation): ForgeInstallation {
  return {
    id: installation.id,
    token: () => apps.issue(installation).token,
    revokeTokens: () => apps.revoke(installation),
    suspend(suspended) {
      installation.suspended = suspended;
    },
    uninstall: () => apps.uninstall(installation),
  };
}
