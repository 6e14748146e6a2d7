import { expect, it } from 'vitest';
import type { PauseConfigMaps } from '../../../domain/kernel/stored-pause.ts';
import { pauseKey, storePause } from '../../../domain/kernel/stored-pause.ts';
import { pauseOverview } from '../../../starter/overview/pauses.ts';
import { NOW } from './quotas.ts';

const pause = storePause({ by: 'alice', reason: 'a freeze', at: NOW });
const maps: PauseConfigMaps = {
  everything: { data: { by: 'bob' }, createdAt: NOW - 1_000 },
  pauses: {
    'namespace_team-a': pause,
    'controller_lights-out': pause,
    'target_quota-resize_team-b_compute': pause,
    'target_node-group_pool-1': pause,
    misspelled: pause,
  },
};

function lines(of: PauseConfigMaps, namespace: string | null = null) {
  return pauseOverview('headroom-system', () => of)({ namespace, now: NOW }).waiting;
}

it('shows what is paused, by whom and since when, with the command that ends it', () => {
  expect(lines(maps).map(({ what, command }) => [what, command])).toEqual([
    ['everything in this cluster', 'kubectl -n headroom-system delete configmap headroom-pause'],
    ['namespace team-a', 'kubectl headroom resume --namespace team-a'],
    ['controller lights-out', 'kubectl headroom resume --controller lights-out'],
    ['quota-resize of team-b/compute', 'kubectl headroom resume team-b/compute --controller quota-resize'],
    ['node-group of pool-1', 'kubectl headroom resume pool-1 --controller node-group'],
  ]);
  expect(lines(maps)[1]).toMatchObject({
    whom: 'a person',
    isForPeople: true,
    since: NOW,
    why: 'Paused by alice: a freeze, until somebody resumes it.',
  });
});

it('shows of another namespace what holds there', () => {
  expect(lines(maps, 'team-b').map(({ what }) => what)).toEqual([
    'everything in this cluster',
    'controller lights-out',
    'quota-resize of team-b/compute',
    'node-group of pool-1',
  ]);
});

it('shows nothing where nothing is paused, or the ConfigMap of everything says that it is over', () => {
  expect(lines({ everything: null, pauses: null })).toEqual([]);
  expect(lines({ everything: { data: { paused: 'false' }, createdAt: null }, pauses: {} })).toEqual([]);
});

it('has no command for a name whose end is not in the key, as another would be meant', () => {
  const name = `team-b/${'a'.repeat(250)}`;
  const key = pauseKey({ kind: 'target', controller: 'quota-resize', name }, () => '0123456789abcdef');
  const [line] = lines({ everything: null, pauses: { [key]: pause } });
  expect(line?.what).toMatch(/^quota-resize of team-b\/a+…$/);
  expect(line?.command).toBeNull();
});
