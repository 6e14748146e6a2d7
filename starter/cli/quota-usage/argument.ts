/** What `headroom usage` is asked about, and what is wrong with that. */
import { InvalidArgumentError } from 'commander';

/** A namespace, or one quota of it. */
export interface UsageArgument {
  readonly namespace: string;
  readonly quota: string | null;
}

export function usageArgument(text: string): UsageArgument {
  const [namespace, quota, ...rest] = text.split('/');
  if (!namespace || quota === '' || rest.length > 0) {
    throw new InvalidArgumentError(`"${text}" is neither <namespace> nor <namespace>/<quota>, such as team-a/compute`);
  }
  return { namespace, quota: quota ?? null };
}
