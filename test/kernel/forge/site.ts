import { Apps } from './apps/apps.ts';
import type { ForgeContext } from './context.ts';
import { RateLimits } from './http/rate-limits.ts';
import type { OpenApiValidation } from './openapi-validation.ts';
import type { ForgeOptions } from './options.ts';
import type { SiteUrls } from './represent/urls.ts';
import { Deliverer } from './webhooks/deliverer.ts';
import { Dispatcher } from './webhooks/dispatcher.ts';

// GitHub waits this long for a webhook's answer.
const WEBHOOK_TIMEOUT_MS = 10_000;

/** A forge as a whole: its address, its repositories, and what they share. */
export class Site {
  readonly urls: SiteUrls;
  readonly limits: RateLimits;
  readonly deliverer: Deliverer;
  readonly webhooks: Dispatcher;
  readonly treeLimit: { readonly entries: number; readonly bytes: number };
  readonly apps = new Apps();
  readonly #repositories: ForgeContext[] = [];

  constructor(urls: SiteUrls, options: ForgeOptions, validation: OpenApiValidation | undefined) {
    this.urls = urls;
    this.limits = new RateLimits(
      options.rateLimit?.limit ?? 5000,
      options.rateLimit?.windowSeconds ?? 3600,
      options.secondaryLimits ?? {},
    );
    this.treeLimit = {
      entries: options.treeLimit?.entries ?? 100_000,
      // GitHub says 7 MB.
      bytes: options.treeLimit?.bytes ?? 7 * 1024 * 1024,
    };
    this.deliverer = new Deliverer(options.webhookTimeoutMs ?? WEBHOOK_TIMEOUT_MS);
    this.webhooks = new Dispatcher({
      deliverer: this.deliverer,
      apps: (repository) => this.apps.targets(repository),
      inspect: async (message) => validation?.checkWebhook(message),
      ...(options.enterprise ? { enterpriseHost: new URL(urls.root).host } : {}),
      failed: (reason) => validation?.violations.push(reason),
    });
  }

  /** Every repository, the first one first. */
  get repositories(): readonly ForgeContext[] {
    return this.#repositories;
  }

  /** The repository that the forge's own methods are about. */
  get first(): ForgeContext {
    const [first] = this.#repositories;
    if (!first) throw new Error('the forge has no repository yet');
    return first;
  }

  /** @throws Error when there is one of that name */
  add(repository: ForgeContext): void {
    const { owner, repo } = repository;
    if (this.find(owner, repo)) throw new Error(`the forge has a repository ${owner}/${repo} already`);
    this.#repositories.push(repository);
  }

  /** GitHub takes no notice of the case of either name. */
  find(owner: string, repo: string): ForgeContext | undefined {
    const same = (first: string, second: string): boolean => first.toLowerCase() === second.toLowerCase();
    return this.#repositories.find((repository) => same(repository.owner, owner) && same(repository.repo, repo));
  }
}
