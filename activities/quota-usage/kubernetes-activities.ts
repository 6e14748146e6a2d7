import type { Logger } from 'pino';
import { createQuotaPauseGuard, type PauseOptions } from '../kernel/pause.ts';
import { ensureQuotaEvent } from '../kernel/quota-event.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { withKubernetesFailures } from '../kubernetes/failure.ts';
import type { QuotaUsageActivities } from './interface.ts';

export interface QuotaUsageOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly log: Pick<Logger, 'info'>;
}

export function createQuotaUsageActivities(options: QuotaUsageOptions): QuotaUsageActivities {
  const guard = createQuotaPauseGuard(options, 'quota-usage');
  return {
    ensureUsageEvent: withKubernetesFailures(async (event) => {
      await guard(event.target);
      await ensureQuotaEvent(options, event);
    }),
  };
}
