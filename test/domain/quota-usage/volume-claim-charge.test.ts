import { describe, expect, it } from 'vitest';
import { claimCharge } from '../../../domain/quota-usage/volume-claim-charge.ts';

const storage = (amount: string) => ({ resources: { requests: { storage: amount } } });

describe('the charge of a claim', () => {
  it('is counted for all classes and for its own', () => {
    expect(claimCharge({ spec: { ...storage('10Gi'), storageClassName: 'gold' } })).toEqual({
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'requests.storage': '10Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'gold.storageclass.storage.k8s.io/requests.storage': '10Gi',
    });
  });

  it('is that of the class annotation where there is one', () => {
    const charge = claimCharge({
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
      spec: { ...storage('1Gi'), storageClassName: 'gold' },
    });
    expect(Object.keys(charge).filter((key) => key.includes('storageclass'))).toEqual([
      'old.storageclass.storage.k8s.io/persistentvolumeclaims',
      'old.storageclass.storage.k8s.io/requests.storage',
    ]);
  });

  it('is in whole bytes, and what an expansion has been given where that is more', () => {
    expect(claimCharge({ spec: storage('1001m') })['requests.storage']).toBe('2');
    const expanded = (given: string) =>
      claimCharge({ spec: storage('10G'), status: { allocatedResources: { storage: given } } })['requests.storage'];
    expect(expanded('15G')).toBe('15G');
    expect(expanded('5G')).toBe('10G');
  });
});
