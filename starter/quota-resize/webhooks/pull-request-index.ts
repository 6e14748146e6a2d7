/** Maps open pull requests to quotas, to find the quotas that a webhook concerns. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import { backlogOfLease } from '../../../domain/quota-resize/backlog.ts';
import type { PullRequestRef } from '../../../domain/quota-resize/model/decision.ts';
import type { QuotaLease } from '../../../domain/quota-resize/model/lease.ts';
import type { RepositoryEvent } from './delivery.ts';

/** The fields of a pull request by which it is found. */
type PullRequestLocation = Pick<PullRequestRef, 'repository' | 'number' | 'branch' | 'base' | 'headSha' | 'path'>;

/** A quota whose pull request an event is about. */
export interface ConcernedQuota {
  readonly target: QuotaTarget;
  /** Whether the base has another version of the file that the pull request changes. */
  readonly isFileChanged: boolean;
}

export class PullRequestIndex {
  readonly #cluster: string;
  readonly #keysOfLease = new Map<string, readonly string[]>();
  readonly #targets = new Map<string, Map<string, QuotaTarget>>();

  /** @param cluster whose Leases these are. */
  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  /** How many pull requests are known. */
  get size(): number {
    return this.#keysOfLease.size;
  }

  /** Adds or updates a Lease. One without a decision with an open pull request is removed. */
  put(name: string, lease: QuotaLease): void {
    this.remove(name);
    const { namespace, quota, pullRequest } = backlogOfLease(lease);
    if (pullRequest === null) return;
    const keys = keysOfLocation(pullRequest);
    this.#keysOfLease.set(name, keys);
    for (const key of keys) {
      const targets = this.#targets.get(key) ?? new Map<string, QuotaTarget>();
      this.#targets.set(key, targets.set(name, { cluster: this.#cluster, namespace, quota }));
    }
  }

  /** Forgets the Lease with this name. */
  remove(name: string): void {
    for (const key of this.#keysOfLease.get(name) ?? []) {
      const targets = this.#targets.get(key);
      targets?.delete(name);
      if (targets?.size === 0) this.#targets.delete(key);
    }
    this.#keysOfLease.delete(name);
  }

  /** The quotas whose pull requests the event is about, each once. */
  find(event: RepositoryEvent): readonly ConcernedQuota[] {
    const found = new Map<string, QuotaTarget>();
    for (const key of keysOfEvent(event)) {
      for (const [name, target] of this.#targets.get(key) ?? []) found.set(name, target);
    }
    const changed = new Set(keysOfFiles(event).flatMap((key) => [...(this.#targets.get(key)?.keys() ?? [])]));
    return [...found].map(([name, target]) => ({ target, isFileChanged: changed.has(name) }));
  }
}

// GitHub ignores the case of repository names, but not of branches.
const keyOf = (kind: string, repository: string, what: string | number): string =>
  `${kind} ${repository.toLowerCase()} ${what}`;

function keysOfLocation({ repository, number, branch, base, headSha, path }: PullRequestLocation): readonly string[] {
  return [
    keyOf('number', repository, number),
    keyOf('branch', repository, branch),
    keyOf('base', repository, base),
    keyOf('head', repository, headSha),
    keyOf('file', repository, `${base} ${path}`),
  ];
}

function keysOfFiles({ repository, base, files }: RepositoryEvent): readonly string[] {
  return base === null ? [] : files.map((path) => keyOf('file', repository, `${base} ${path}`));
}

function keysOfEvent({ repository, numbers, branches, heads, base }: RepositoryEvent): readonly string[] {
  return [
    ...numbers.map((number) => keyOf('number', repository, number)),
    ...branches.map((branch) => keyOf('branch', repository, branch)),
    ...heads.map((head) => keyOf('head', repository, head)),
    ...(base === null ? [] : [keyOf('base', repository, base)]),
  ];
}
