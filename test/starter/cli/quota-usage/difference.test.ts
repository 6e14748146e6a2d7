import { describe, expect, it } from 'vitest';
import {
  type CountSnapshot,
  differencesOf,
  patience,
  confirm,
} from '../../../../starter/cli/quota-usage/difference.ts';

/** A quota of pods whose status says one thing and whose objects are another. */
function observationWith(shown: string, counted: string, quota = 'compute'): CountSnapshot {
  const hard = { pods: '10' };
  return {
    namespace: 'team-a',
    quota,
    uid: quota,
    hard,
    status: { hard, used: { pods: shown } },
    counted: { pods: counted },
    unmeasured: [],
  };
}

/** A clock that moves only when somebody sleeps. */
function clock(): { now(): number; sleep(ms: number): Promise<void> } {
  let time = 0;
  return {
    now: () => time,
    sleep: async (ms) => {
      time += ms;
      await Promise.resolve();
    },
  };
}

describe('a difference of a status', () => {
  it('is told without a number where one of both cannot be read', () => {
    expect(differencesOf(observationWith('1e1002', '3'))).toEqual([
      { field: 'used', resource: 'pods', shown: '1e1002', counted: '3', difference: null },
    ]);
    expect(differencesOf(observationWith('1e1002', '1e1002'))).toEqual([]);
  });

  it('is by value, of each number that was counted', () => {
    const observation = {
      ...observationWith('3', '3'),
      hard: { 'requests.cpu': '2', pods: '10', secrets: '5', 'count/unknown.example.com': '1' },
      status: {
        hard: { 'requests.cpu': '2000m', pods: '20', configmaps: '1' },
        used: { 'requests.cpu': '1', pods: '3' },
      },
      counted: { 'requests.cpu': '1500m', pods: '3', secrets: '0' },
    };
    expect(differencesOf(observation)).toEqual([
      { field: 'hard', resource: 'configmaps', shown: '1', counted: null, difference: null },
      { field: 'hard', resource: 'count/unknown.example.com', shown: null, counted: '1', difference: null },
      { field: 'hard', resource: 'pods', shown: '20', counted: '10', difference: '10' },
      { field: 'hard', resource: 'secrets', shown: null, counted: '5', difference: null },
      { field: 'used', resource: 'requests.cpu', shown: '1', counted: '1500m', difference: '-500m' },
      { field: 'used', resource: 'secrets', shown: null, counted: '0', difference: null },
    ]);
  });

  it('is reported once it stood still', async () => {
    let snapshots = 0;
    const { wrong, restless } = await confirm(
      [observationWith('3', '2')],
      async () => {
        snapshots += 1;
        return [observationWith('3', '2')];
      },
      patience,
      clock(),
    );
    expect(wrong).toMatchObject([{ quota: 'compute', differences: [{ shown: '3', counted: '2', difference: '1' }] }]);
    expect({ restless, snapshots }).toEqual({ restless: [], snapshots: 4 });
  });

  it('is not reported when it was only late, or its quota is gone', async () => {
    const later = [[observationWith('3', '2'), observationWith('5', '4', 'gone')], [observationWith('2', '2')]];
    const found = await confirm(
      [observationWith('3', '2'), observationWith('5', '4', 'gone')],
      async () => later.shift() ?? [],
      patience,
      clock(),
    );
    expect(found).toEqual({ wrong: [], restless: [] });
  });

  it('is given up on when it never stands still, and the others are reported all the same', async () => {
    let pods = 10;
    const found = await confirm(
      [observationWith('3', '2'), observationWith('10', '9', 'busy')],
      async () => {
        pods += 1;
        return [observationWith('3', '2'), observationWith(`${pods}`, `${pods - 1}`, 'busy')];
      },
      patience,
      clock(),
    );
    expect(found.wrong.map(({ quota }) => quota)).toEqual(['compute']);
    expect(found.restless.map(({ quota }) => quota)).toEqual(['busy']);
  });
});
