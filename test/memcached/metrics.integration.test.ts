/** What worker and starter tell Prometheus of Memcacheds, under the names of the first implementation. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { metricsOf } from '../kernel/stack/metrics-of.ts';
import { MemcachedCluster, startMemcachedPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let worker: SupervisedProcess;
let starter: SupervisedProcess;
beforeAll(async () => {
  plane = await startMemcachedPlane();
  cluster = new MemcachedCluster(plane);
  [worker, starter] = await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

type Labels = Readonly<Record<string, string>>;

/** The values of the series with these labels, whatever others they have. */
function valuesIn(text: string, metric: string, labels: Labels): readonly number[] {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text.split('\n').flatMap((line) => {
    const [, name, written = '', value] = /^(\w+)\{(.*)\} (\S+)/.exec(line) ?? [];
    const has = written.split(',');
    return name === metric && wanted.every((label) => has.includes(label)) ? [Number(value)] : [];
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('the metrics of a Memcached', () => {
  it('count its reconciles and writes, say how many pods it has, and are gone with it', async () => {
    const name = 'metered';
    const labels = { name, namespace: name };
    await cluster.create(name, { replicas: 2, image: 'memcached:1.6.18' });
    await cluster.reaches(name, 'RollingOut', 'RolloutInProgress');
    const instance = async (metric: string) =>
      valuesIn(await metricsOf(starter), `memcached_operator_instance_${metric}`, labels);
    expect([await instance('replicas_desired'), await instance('replicas_ready')]).toEqual([[2], [0]]);
    await cluster.settled(name, 2);
    await eventually('both pods count as ready', async () => (await instance('replicas_ready'))[0] === 2);
    expect(
      valuesIn(await metricsOf(starter), 'memcached_operator_instance_info', { ...labels, image: 'memcached:1.6.18' }),
    ).toEqual([1]);

    const text = await metricsOf(worker);
    const written = (resourceKind: string, result: string) =>
      valuesIn(text, 'memcached_operator_reconcile_resource_total', { resource_kind: resourceKind, result });
    expect([written('Deployment', 'created'), written('Deployment', 'updated')]).toEqual([[1], [1]]);
    expect(written('Service', 'created')).toEqual([1]);
    const total = 'memcached_operator_reconcile_total';
    expect(sum(valuesIn(text, total, { ...labels, result: 'success' }))).toBeGreaterThanOrEqual(2);
    const duration = 'memcached_operator_reconcile_duration_seconds';
    expect(valuesIn(text, `${duration}_count`, labels)).toEqual([sum(valuesIn(text, total, labels))]);
    expect(valuesIn(text, `${duration}_bucket`, { ...labels, le: '2.5' })).toHaveLength(1);

    await cluster.delete(name);
    await eventually('its series are gone', async () => (await instance('replicas_desired')).length === 0);
    expect([await instance('replicas_ready'), await instance('info')]).toEqual([[], []]);
  });

  it('count a write that the API server refuses as an error, and the reconcile with it', async () => {
    const name = 'metered-error';
    const noServices = { metadata: { name: 'no-services' }, spec: { hard: { services: '0' } } };
    await cluster.core.createNamespace({ body: { metadata: { name } } });
    await cluster.core.createNamespacedResourceQuota({ namespace: name, body: noServices });
    await cluster.createIn(name, { replicas: 0 });
    await eventually('both are counted', async () => {
      const text = await metricsOf(worker);
      const resource = { resource_kind: 'Service', result: 'error' };
      return (
        sum(valuesIn(text, 'memcached_operator_reconcile_resource_total', resource)) >= 1 &&
        sum(valuesIn(text, 'memcached_operator_reconcile_total', { name, namespace: name, result: 'error' })) >= 1
      );
    });
    await cluster.core.deleteNamespacedResourceQuota({ namespace: name, name: 'no-services' });
    await cluster.edit(name, { service: { annotations: { again: 'now' } } });
    await eventually('the Service is there', async () =>
      cluster.core.readNamespacedService({ namespace: name, name }).then(() => true),
    );
  });
});
