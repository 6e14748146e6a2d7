import { describe, expect, it } from 'vitest';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { CHARGE_GRACE_MS } from '../../../domain/quota-usage/recent-charges.ts';
import { QuotaCharges } from '../../../starter/quota-usage/quota-charges.ts';

const PODS = { group: '', resource: 'pods' };

function quota(resourceVersion: string, pods: string): CachedQuota {
  const hard = { pods: '9' };
  const name = { namespace: 'team-a', name: 'compute', uid: 'uid-1', resourceVersion };
  return { ...name, spec: { hard }, status: { hard, used: { pods } } };
}

/** Charges of a quota that says at version 10 that five pods are used, all of which are there. */
function charging(currentAsOf = () => Number.NEGATIVE_INFINITY): QuotaCharges {
  const charges = new QuotaCharges({
    checks: { currentAsOf, isOutdated: () => false, check: () => null },
    countedFrom: () => [PODS],
  });
  charges.onQuota(quota('10', '5'), null, 'watched');
  for (let pod = 0; pod < 5; pod += 1) charges.onObject(PODS, String(pod), quota('10', '5'), { pods: '1' });
  return charges;
}

describe('a quota that is listed anew', () => {
  it('is charged with all that its status says, because what was lowered and charged meanwhile is not seen', () => {
    const charges = charging();
    // The owner has written 4 at version 11, and its answer was lost, or it was another owner; then something was charged.
    charges.onQuota(quota('12', '5'), quota('10', '5'), 'listed');
    expect(charges.unsettled(quota('12', '5'))).toEqual({ pods: '5' });
  });

  it('until a list of its namespace confirms it', () => {
    let asOf = Number.NEGATIVE_INFINITY;
    const charges = charging(() => asOf);
    charges.onQuota(quota('12', '5'), quota('10', '5'), 'listed');
    asOf = performance.now() + 2 * CHARGE_GRACE_MS;
    expect(charges.unsettled(quota('12', '5'))).toEqual({});
  });
});

describe('a quota whose versions are all seen', () => {
  it('is charged with what its status rises by, and with nothing where this process has written that', () => {
    const charges = charging();
    charges.onQuota(quota('11', '4'), quota('10', '5'), 'written');
    charges.onQuota(quota('12', '5'), quota('11', '4'), 'watched');
    charges.onQuota(quota('13', '8'), quota('12', '5'), 'written');
    expect(charges.unsettled(quota('13', '8'))).toEqual({ pods: '1' });
  });
});
