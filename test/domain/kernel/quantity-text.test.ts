import { describe, expect, it } from 'vitest';
import { amountsText, quantityText, shareText } from '../../../domain/kernel/quantity-text.ts';

describe('an amount that people read', () => {
  for (const [resource, quantity, text] of [
    ['requests.cpu', '3600m', '3.6 CPU'],
    ['limits.cpu', '2', '2 CPU'],
    ['cpu', '50m', '0.05 CPU'],
    ['cpu', '-250m', '-0.25 CPU'],
    ['cpu', '2k', '2000 CPU'],
    ['requests.memory', '4Gi', '4Gi memory'],
    ['limits.memory', '4294967296', '4Gi memory'],
    ['memory', '1536Mi', '1536Mi memory'],
    ['memory', '8G', '8G memory'],
    ['memory', '0', '0 memory'],
    ['memory', '1288490189', 'about 1.2Gi memory'],
    ['requests.memory', '1234567Ki', 'about 1.18Gi memory'],
    ['requests.ephemeral-storage', '10Gi', '10Gi ephemeral storage'],
    ['requests.storage', '5Ti', '5Ti storage'],
    ['fast.storageclass.storage.k8s.io/requests.storage', '5Gi', '5Gi storage'],
    ['fast.storageclass.storage.k8s.io/persistentvolumeclaims', '2', '2 PersistentVolumeClaims'],
    ['hugepages-2Mi', '64Mi', '64Mi hugepages-2Mi'],
    ['pods', '1', '1 pod'],
    ['pods', '12', '12 pods'],
    ['count/pods', '3', '3 pods'],
    ['services.loadbalancers', '1', '1 Service of type LoadBalancer'],
    ['count/deployments.apps', '1', '1 deployments.apps object'],
    ['count/deployments.apps', '4', '4 deployments.apps objects'],
    ['requests.nvidia.com/gpu', '8', '8 nvidia.com/gpu'],
  ] as const) {
    it(`${quantity} of ${resource} is ${text}`, () => {
      expect(quantityText(resource, quantity)).toBe(text);
    });
  }

  it('has its unit once where it is a share', () => {
    expect(shareText('requests.cpu', '1800m', '2')).toBe('1.8 of 2 CPU');
    expect(shareText('pods', '0', '1')).toBe('0 of 1 pod');
    expect(shareText('limits.memory', '3Gi', '4Gi')).toBe('3Gi of 4Gi memory');
  });

  it('names the resource beside others where the unit does not tell it', () => {
    expect(amountsText({ pods: '2', 'requests.cpu': '1', 'limits.cpu': '2' })).toBe(
      '2 CPU (limits.cpu), 2 pods and 1 CPU (requests.cpu)',
    );
    expect(amountsText({ pods: '1' })).toBe('1 pod');
    expect(amountsText({ cpu: '1', memory: '1Gi' })).toBe('1 CPU (cpu) and 1Gi memory');
  });
});
