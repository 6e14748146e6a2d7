import { expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { memcachedOverview, type SeenMemcached } from '../../../starter/memcached/overview.ts';
import { NOW } from '../overview/quotas.ts';

function seen(name: string, status: object, spec: object = { replicas: 3 }): SeenMemcached {
  const read = readMemcached({ metadata: { name, namespace: 'team-a', uid: name, generation: 1 }, spec, status });
  return { read, instance: { name, namespace: 'team-a', image: 'memcached:1.6', desired: 3, ready: 2 } };
}

const condition = (type: string, status: string, message: string) => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
  lastTransitionTime: '2026-11-28T11:00:00Z',
});

const fine = seen('fine', {
  conditions: [condition('Degraded', 'False', ''), condition('Ready', 'True', '')],
  notes: ['it is small'],
});
const degraded = seen('tired', { conditions: [condition('Degraded', 'True', 'Only 2/3 replicas are ready')] });
const starting = seen('young', { conditions: [condition('Ready', 'False', 'no replica is ready')] });
const invalid = seen('wrong', {}, { replicas: -1 });

function ask(...memcacheds: readonly SeenMemcached[]) {
  const { waiting, tables } = memcachedOverview('c1', () => memcacheds)({ namespace: null, now: NOW });
  const [table] = tables;
  return { waiting, summary: table?.summary, rows: table?.rows(0, table.total) ?? [] };
}

it('shows first the caches that are not as specified, each with what its pods are', () => {
  const { rows, summary } = ask(fine, starting, degraded);
  expect(rows.map(({ cells }) => cells.map(({ text }) => text))).toEqual([
    ['team-a/tired', '2 of 3', 'memcached:1.6', 'DegradedReason'],
    ['team-a/young', '2 of 3', 'memcached:1.6', 'ReadyReason'],
    ['team-a/fine', '2 of 3', 'memcached:1.6', 'as specified'],
  ]);
  expect(rows[2]).toMatchObject({ workflow: null, command: 'kubectl headroom memcached status team-a/fine' });
  expect(rows[2]?.cells[3]?.detail).toBe('It is small.');
  expect(rows[0]?.workflow).toBe('memcached/c1/team-a/tired');
  expect(summary).toBe('2 of 3 are not as specified.');
});

it('says of each of them since when it waits for its pods, or for a person where its spec is invalid', () => {
  expect(ask(fine, degraded, invalid).waiting).toMatchObject([
    {
      what: 'cache team-a/tired',
      whom: 'its pods',
      isForPeople: false,
      since: NOW - 3_600_000,
      why: 'Only 2/3 replicas are ready.',
    },
    { what: 'cache team-a/wrong', whom: 'a person', isForPeople: true, since: null },
  ]);
});
