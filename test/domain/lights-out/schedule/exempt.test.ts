import { describe, expect, it } from 'vitest';
import { exemption } from '../../../../domain/lights-out/schedule/exempt.ts';
import { specOf, workloadOf } from '../planned.ts';

const controller = (group: string, kind: string) => ({ controller: { group, kind, name: 'main' } });

describe('a workload that another controller owns', () => {
  it('is left alone, unless the schedule says otherwise', () => {
    const owned = workloadOf(controller('postgresql.cnpg.io', 'Cluster'));
    expect(exemption(owned, specOf())).toMatchObject({ reason: 'ControllerOwned' });
    expect(exemption(owned, specOf({ controllerOwned: 'scale' }))).toBeNull();
  });

  it('sleeps where the controller is one of Headroom that leaves its replicas alone meanwhile', () => {
    expect(exemption(workloadOf(controller('memcached.c5c3.io', 'Memcached')), specOf())).toBeNull();
    expect(exemption(workloadOf(controller('example.com', 'Memcached')), specOf())).not.toBeNull();
  });
});

describe('a part of the cluster itself', () => {
  it('is left alone also where workloads of controllers sleep', () => {
    const labels = { 'app.kubernetes.io/name': 'cert-manager' };
    expect(exemption(workloadOf({ labels }), specOf({ controllerOwned: 'scale' }))).toMatchObject({
      reason: 'Protected',
    });
  });

  it.each([
    ['app', 'web'],
    ['app.kubernetes.io/name', 'cert-manager-ui'],
    ['app.kubernetes.io/component', 'keda'],
    ['app', 'basics'],
    ['team', 'kyverno'],
  ])('is nothing with the label %s=%s', (label, value) => {
    expect(exemption(workloadOf({ labels: { [label]: value } }), specOf())).toBeNull();
  });

  it.each(['csi-snapshotter', 'secrets-store-csi-driver', 'ebs-csi', 'csi'])('is storage with the name %s', (app) => {
    expect(exemption(workloadOf({ labels: { app } }), specOf())?.detail).toContain('the storage of the cluster');
  });
});
