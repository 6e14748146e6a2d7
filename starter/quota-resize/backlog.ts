import {
  backlogOfLease,
  type LeaseBacklog,
  type SeenQuota,
  type UnservedQuota,
  unservedQuota,
} from '../../domain/quota-resize/backlog.ts';
import type { PullRequestRef } from '../../domain/quota-resize/model/decision.ts';
import type { QuotaLease } from '../../domain/quota-resize/model/lease.ts';

/** The pull request that raises a quota. */
interface OpenPullRequest {
  readonly namespace: string;
  readonly quota: string;
  readonly pullRequest: PullRequestRef;
}

/** What of the quotas is not done yet, by their Leases. */
export class QuotaBacklog {
  readonly #seen: () => readonly SeenQuota[];
  readonly #ofLease = new Map<string, LeaseBacklog>();

  constructor(seen: () => readonly SeenQuota[]) {
    this.#seen = seen;
  }

  put(name: string, lease: QuotaLease): void {
    this.#ofLease.set(name, backlogOfLease(lease));
  }

  remove(name: string): void {
    this.#ofLease.delete(name);
  }

  /** One for each quota: several may share a pull request. Of a quota that is gone none. */
  pullRequests(): readonly OpenPullRequest[] {
    const existing = new Set(this.#seen().map(keyOf));
    return [...this.#ofLease.values()].flatMap((backlog) => {
      const { namespace, quota, pullRequest } = backlog;
      return pullRequest !== null && existing.has(keyOf(backlog)) ? [{ namespace, quota, pullRequest }] : [];
    });
  }

  /** The quotas that need more than their limits in the cluster are. */
  unserved(): readonly UnservedQuota[] {
    const wanted = new Map([...this.#ofLease.values()].map((backlog) => [keyOf(backlog), backlog.wanted]));
    return this.#seen().flatMap((quota) => unservedQuota(quota, wanted.get(keyOf(quota)) ?? null) ?? []);
  }
}

function keyOf({ namespace, quota }: { readonly namespace: string; readonly quota: string }): string {
  return `${namespace}/${quota}`;
}
