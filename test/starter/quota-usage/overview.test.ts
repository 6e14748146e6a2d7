import { expect, it } from 'vitest';
import { usageOverview } from '../../../starter/quota-usage/overview.ts';
import { NOW } from '../overview/quotas.ts';

it('shows the quotas whose status is not what is counted, of the namespace that is chosen', () => {
  const wrong = [
    { namespace: 'team-a', quota: 'compute', resources: 1 },
    { namespace: 'team-b', quota: 'compute', resources: 3 },
  ];
  const overview = usageOverview('c1', () => wrong);
  expect(overview({ namespace: null, now: NOW }).waiting).toMatchObject([
    {
      what: 'status of quota team-a/compute',
      whom: 'the quota controller',
      why: 'The status is what is counted; 1 resource differs.',
      workflow: 'quota-usage/c1/team-a/compute',
      command: 'kubectl headroom usage team-a/compute',
    },
    { why: 'The status is what is counted; 3 resources differ.' },
  ]);
  expect(overview({ namespace: 'team-b', now: NOW }).waiting).toHaveLength(1);
});
