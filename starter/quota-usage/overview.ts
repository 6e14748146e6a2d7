/** What the overview shows of usage: quotas whose status is not what is used. The quotas themselves are shown by whoever raises them. */
import { targetName } from '../../domain/kernel/target.ts';
import { quotaUsageId } from '../../domain/quota-usage/target.ts';
import type { Overview, Waiting } from '../overview/part.ts';
import type { WrongQuota } from './audit-registry.ts';

export function usageOverview(cluster: string, wrong: () => readonly WrongQuota[]): Overview {
  return ({ namespace: asked }) => ({
    waiting: wrong()
      .filter(({ namespace }) => asked === null || namespace === asked)
      .map(({ namespace, quota, resources }): Waiting => {
        const name = targetName({ namespace, quota });
        return {
          what: `status of quota ${name}`,
          whom: 'the quota controller',
          isForPeople: false,
          since: null,
          why: `The status is what is counted; ${resources === 1 ? '1 resource differs' : `${resources} resources differ`}.`,
          links: [],
          workflow: quotaUsageId({ cluster, namespace, quota }),
          command: `kubectl headroom usage ${name}`,
        };
      }),
    tables: [],
  });
}
