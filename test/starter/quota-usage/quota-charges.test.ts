import { describe, expect, it } from 'vitest';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { QuotaCharges } from '../../../starter/quota-usage/quota-charges.ts';

const PODS = { group: '', resource: 'pods' };

function quota(resourceVersion: string, pods: string): CachedQuota {
  const hard = { pods: '9' };
  const name = { namespace: 'team-a', name: 'compute', uid: 'uid-1', resourceVersion };
  return { ...name, spec: { hard }, status: { hard, used: { pods } } };
}

/** Charges of a quota that says at version 10 that five pods are used, all of which are there. */
function charging(): QuotaCharges {
  const charges = new QuotaCharges({
    checks: { currentAsOf: () => Number.NEGATIVE_INFINITY, isOutdated: () => false, check: () => null },
    countedFrom: () => [PODS],
  });
  charges.onQuota(quota('10', '5'), null, false);
  for (let pod = 0; pod < 5; pod += 1) charges.onObject(PODS, String(pod), quota('10', '5'), { pods: '1' });
  return charges;
}

describe('a charge after a status that this process has written', () => {
  it('stands although the status is as high as before, where the watch has reported neither', () => {
    const charges = charging();
    charges.onWritten(quota('10', '5'), { version: '11', used: { pods: '4' } });
    charges.onQuota(quota('12', '5'), quota('10', '5'), false);
    expect(charges.unsettled(quota('12', '5'))).toEqual({ pods: '1' });
  });

  it('is what the status rises by where the watch reports one after the other, and none where it is the last', () => {
    const charges = charging();
    charges.onWritten(quota('10', '5'), { version: '11', used: { pods: '4' } });
    charges.onQuota(quota('11', '4'), quota('10', '5'), true);
    charges.onQuota(quota('12', '5'), quota('11', '4'), false);
    charges.onWritten(quota('12', '5'), { version: '13', used: { pods: '8' } });
    charges.onQuota(quota('13', '8'), quota('12', '5'), true);
    expect(charges.unsettled(quota('13', '8'))).toEqual({ pods: '1' });
  });
});
