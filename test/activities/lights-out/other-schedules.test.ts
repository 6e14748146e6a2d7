import { expect, it } from 'vitest';
import { OtherSchedules } from '../../../activities/lights-out/other-schedules.ts';

function listed(name: string, { uid = name, resourceVersion = '1', suspend = false } = {}): object {
  return {
    metadata: { name, uid, resourceVersion, creationTimestamp: '2020-01-01T00:00:00Z' },
    spec: { upscale: '0 6 * * 1-5', downscale: '0 20 * * 1-5', namespaces: ['team-a'], suspend },
  };
}

it('reads a schedule again when it changed or was made anew, and not otherwise', () => {
  const existing = new OtherSchedules();
  const [a, b] = existing.read('own', [listed('a'), listed('own'), listed('b')]);
  const changed = listed('b', { resourceVersion: '2', suspend: true });
  const again = existing.read('own', [listed('a'), listed('own'), changed]);
  expect([a, b]).toEqual([
    expect.objectContaining({ name: 'a', isIdle: false }),
    expect.objectContaining({ name: 'b', isIdle: false }),
  ]);
  expect(again).toEqual([a, expect.objectContaining({ name: 'b', isIdle: true })]);
  expect(again[0]).toBe(a);
  const [anew] = existing.read('own', [listed('a', { uid: 'another', suspend: true })]);
  expect(anew?.isIdle).toBe(true);
});

it('keeps what it read while another schedule is observed, and forgets what is not listed any more', () => {
  const existing = new OtherSchedules();
  const all = [listed('a'), listed('b')];
  const [b] = existing.read('a', all);
  const [a] = existing.read('b', all);
  expect(existing.read('a', all)[0]).toBe(b);
  expect(existing.read('b', [listed('a')])[0]).toBe(a);
  expect(existing.read('a', all)[0]).not.toBe(b);
  expect(() => existing.read('a', [{}])).toThrow(/metadata/);
});
