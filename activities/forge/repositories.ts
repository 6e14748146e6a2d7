/**
 * The GitOps repositories that Headroom may change. All use one credential on one host, so they share its rate limits,
 * its pace and the cached git objects.
 */
import { failure } from '../kernel/failure.ts';
import type { Forge } from './forge.ts';

export interface RepositoryAddress {
  /** In lower case, without a port. */
  readonly host: string;
  /** `owner/name`, without `.git`. */
  readonly repository: string;
}

export interface Repositories {
  /** The host of the repositories: `github.com`. */
  readonly host: string;
  /** Reads an `https://`, `ssh://` or scp address; null for any other text, or one that names no repository. */
  addressOf(url: string): RepositoryAddress | null;
  /** `owner/name`, in the order of the configuration. */
  readonly names: readonly string[];
  /**
   * A repository by its name; the case is ignored, as by forges.
   *
   * @throws {ApplicationFailure} InvalidInput, with the configured names, for a name that is not on the list.
   */
  of(repository: string): Forge;
  /** The first repository; null when none is configured. */
  default(): Forge | null;
  /** The configured name of a repository; null for one that is not on the list. */
  nameOf(repository: string): string | null;
}

/** Without configuration, which is sufficient for observing. */
export const noRepositories: Repositories = {
  host: '',
  addressOf: () => null,
  names: [],
  of: (repository) => {
    throw notOnTheList(repository, []);
  },
  default: () => null,
  nameOf: () => null,
};

export function notOnTheList(repository: string, names: readonly string[]): Error {
  const configured =
    names.length === 0
      ? 'no GitOps repository is configured in this worker; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN'
      : `this worker is configured for ${names.join(', ')}; add it to GITHUB_REPOSITORIES, or finish there by hand and then unlock the Lease`;
  return failure({ type: 'InvalidInput', message: `${repository}: ${configured}`, nonRetryable: true });
}
