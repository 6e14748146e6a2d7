import { expect, it } from 'vitest';
import { readMemcached } from '../../../../domain/memcached/api/read-memcached.ts';
import { listText, rowOf } from '../../../../starter/cli/memcached/list.ts';

const terminal = { width: 100, colours: false };

const objectOf = (name: string, spec: object, status: object) =>
  readMemcached({ metadata: { name, namespace: 'team-a', uid: 'u', generation: 1 }, spec, status });

it('the list says of each Memcached how many pods are wanted and ready, where clients connect, and what is wrong', () => {
  const ready = {
    conditions: [{ type: 'Ready', status: 'True' }],
    readyReplicas: 3,
    serverList: ['a.team-a:11211'],
    servers: [{ slot: 2, address: '10.0.0.7:11211' }],
  };
  const degraded = {
    conditions: [{ type: 'Degraded', status: 'True', message: 'Only 0/2 replicas are ready' }],
    notes: ['n'],
  };
  const autoscaling = { enabled: true, minReplicas: 2, maxReplicas: 9 };
  const rows = [
    objectOf('a', { replicas: 3 }, ready),
    objectOf('b', { autoscaling, resources: { requests: { cpu: '1' } } }, degraded),
    objectOf('c', { autoscaling: { enabled: true } }, {}),
  ].map(rowOf);
  expect(
    listText('prod', rows, terminal)
      .trimEnd()
      .split('\n')
      .map((line) => line.trimEnd()),
  ).toEqual([
    'MEMCACHED  REPLICAS  READY  SERVERS         DEGRADED',
    'team-a/a          3      3  a.team-a:11211  -',
    'team-a/b        2-9      0  -               Only 0/2 replicas are ready',
    'team-a/c          -      0  -               -',
    '',
    'team-a/b: N.',
  ]);
  expect(rows[0]).toMatchObject({ isReady: true, degraded: null, notes: [] });
  expect(rows.map(({ servers }) => servers)).toEqual([[{ name: 'a-2', address: '10.0.0.7:11211' }], [], []]);
  expect(listText('prod', [], terminal)).toBe('prod has no Memcached.\n');
});
