/** ResourceQuotas as arguments, for the controllers whose workflows are about one. */
import { InvalidArgumentError } from 'commander';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { TargetForm } from './controller.ts';
import { isNamespaceName, isObjectName } from './names.ts';
import { CommandFailed } from './shared.ts';

export interface QuotaArgument {
  readonly namespace: string;
  readonly quota: string;
}

const EXPECTED = '<namespace>/<quota>, such as team-a/compute';

export function quotaArgument(text: string): QuotaArgument {
  const quota = readQuota(text);
  if (quota === null) throw new InvalidArgumentError(`"${text}" is not ${EXPECTED}`);
  return quota;
}

/** @param workflowId of the controller's workflow for a quota. */
export function quotaTargetForm(workflowId: (target: QuotaTarget) => string): TargetForm {
  return {
    argument: 'namespace/quota',
    description: 'the ResourceQuota',
    isTarget: (text) => readQuota(text) !== null,
    expected: EXPECTED,
    workflowId: (cluster, text) => workflowId({ cluster, ...quotaArgument(text) }),
    whyNothingRuns: ({ config: { kubernetes } }, text) =>
      new CommandFailed(
        `Nothing runs for ${text} in ${kubernetes.clusterName}. Either the quota needs nothing, or the names are wrong: headroom list shows what runs.`,
      ),
    // The client of Kubernetes takes its time to load, which the other commands need not wait for.
    assertExists: async (loaded, text) => await (await import('./quotas.ts')).assertExists(loaded, quotaArgument(text)),
  };
}

function readQuota(text: string): QuotaArgument | null {
  const [namespace = '', quota = '', ...rest] = text.split('/');
  return isNamespaceName(namespace) && isObjectName(quota) && rest.length === 0 ? { namespace, quota } : null;
}
