import type { Registry } from 'prom-client';
import { parseQuantity, scaledValue } from '../../domain/kernel/quantity.ts';
import { quotaResizeMetrics as metrics } from '../../domain/quota-resize/metrics.ts';
import { collectGauge, collectNumber } from '../kernel/metrics.ts';
import type { QuotaBacklog } from './backlog.ts';

/** A quantity is exact to nanos, and a sample has 15 digits: thousandths are what quotas count in. */
const MILLI = -3;

/** What of the quotas is not done yet, read from the caches at each scrape, so that the series of what is gone go with it. */
export function registerBacklogMetrics(
  register: Registry,
  backlog: Pick<QuotaBacklog, 'pullRequests' | 'unserved'>,
): void {
  const secondsSince = (at: number): number => Math.max(0, (Date.now() - at) / 1000);
  collectNumber(register, metrics.pullRequests, () => {
    const open = backlog.pullRequests().map(({ pullRequest: { repository, number } }) => `${repository}#${number}`);
    return new Set(open).size;
  });
  collectGauge(register, metrics.pullRequestAge, () =>
    backlog
      .pullRequests()
      .map(({ namespace, quota, pullRequest }) => [{ namespace, quota }, secondsSince(pullRequest.openedAt)]),
  );
  collectGauge(register, metrics.unserved, () =>
    backlog.unserved().map(({ namespace, quota, since }) => [{ namespace, quota }, secondsSince(since)]),
  );
  collectGauge(register, metrics.unmet, () =>
    backlog
      .unserved()
      .flatMap(({ namespace, quota, missing }) =>
        Object.entries(missing).map(
          ([resource, amount]) =>
            [{ namespace, quota, resource }, Number(scaledValue(parseQuantity(amount), MILLI)) / 1000] as const,
        ),
      ),
  );
}
