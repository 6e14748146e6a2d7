import { describe, expect, it } from 'vitest';
import type { LiveObject } from '../../../../domain/memcached/plan/live.ts';
import { rememberedSlots, serverListBody } from '../../../../domain/memcached/servers/server-list.ts';

const cache = { name: 'cache', namespace: 'team-a', uid: 'owner' };
const slots = [
  { slot: 0, address: '10.0.0.7:11211', pod: 'cache-a' },
  { slot: 2, address: '[fd00::2]:11211', pod: 'cache-b' },
];
const written = {
  ...serverListBody(cache, slots),
  metadata: { ...serverListBody(cache, slots).metadata, uid: 'list' },
};
const json = written.data?.['servers.json'] ?? '';
const withData = (data: object) => ({ ...written, data: { ...written.data, ...data } });
const remembered = (live: LiveObject | null, servers?: unknown) =>
  rememberedSlots({ ...cache, status: servers === undefined ? {} : { servers } }, live);

describe('the list of servers', () => {
  it('names each by its slot, as JSON and as lines', () => {
    expect(JSON.parse(json)).toEqual({
      servers: [
        { name: 'cache-0', slot: 0, address: '10.0.0.7:11211', pod: 'cache-a' },
        { name: 'cache-2', slot: 2, address: '[fd00::2]:11211', pod: 'cache-b' },
      ],
    });
    expect(written.data?.['servers.txt']).toBe('cache-0 10.0.0.7:11211\ncache-2 [fd00::2]:11211\n');
    expect(written.metadata).toMatchObject({
      name: 'cache-servers',
      labels: { 'app.kubernetes.io/instance': 'cache' },
    });
  });

  it('is what is remembered, for as long as nobody changes it', () => {
    expect(remembered(written)).toEqual(slots);
    const noted = { ...written, metadata: { ...written.metadata, labels: { ...written.metadata.labels, team: 'a' } } };
    expect(remembered(noted)).toEqual(slots);
    expect(remembered(withData({ theirs: 'yes' }))).toEqual(slots);
  });

  const inStatus = [{ slot: 4, address: '10.0.0.9:11211' }];
  it.each<[string, LiveObject | null]>([
    ['somebody deleted it', null],
    ['somebody changed it', withData({ 'servers.json': json.replaceAll('10.0.0.7', '10.0.0.8') })],
    ['somebody changed the lines', withData({ 'servers.txt': '' })],
    ['it cannot be read', withData({ 'servers.json': '{' })],
    ['it belongs to somebody else', { ...written, metadata: { ...written.metadata, ownerReferences: [] } }],
  ])('is taken from the status where %s', (_, live) => {
    expect(remembered(live, inStatus)).toEqual([{ ...inStatus[0], pod: null }]);
    expect(remembered(live)).toEqual([]);
    expect(remembered(live, [...inStatus, ...inStatus])).toEqual([]);
    expect(remembered(live, 'none')).toEqual([]);
  });
});
