import { describe, expect, it, vi } from 'vitest';
import { PauseView } from '../../../activities/kernel/pause-view.ts';

/** A view over ConfigMaps that a test changes, with a clock that it moves. */
function given() {
  const world = { now: 0, reads: 0, pauses: {} as Record<string, string>, isAway: false };
  const view = new PauseView(
    async () => {
      world.reads += 1;
      if (world.isAway) throw new Error('away');
      return { everything: null, pauses: world.pauses };
    },
    () => world.now,
  );
  return { world, view };
}

describe('the view of pauses', () => {
  it('is read once while it is watched, and again after 30 s', async () => {
    const { world, view } = given();
    view.watched(true);
    await view.read();
    world.now = 29_999;
    await view.read();
    expect(world.reads).toBe(1);
    world.now = 30_000;
    await view.read();
    expect(world.reads).toBe(2);
  });

  it('is read again before an answer that has to be younger', async () => {
    const { world, view } = given();
    view.watched(true);
    await view.read();
    world.now = 1_000;
    await view.read(1_000);
    expect(world.reads).toBe(2);
  });

  it('goes by a clock that nobody sets back', async () => {
    let reads = 0;
    const view = new PauseView(async () => ({ everything: null, pauses: { reads: String((reads += 1)) } }));
    view.watched(true);
    const performanceNow = vi.spyOn(performance, 'now').mockReturnValue(0);
    vi.spyOn(Date, 'now').mockReturnValue(0);
    await view.read();
    performanceNow.mockReturnValue(30_000);
    await view.read();
    vi.restoreAllMocks();
    expect(reads).toBe(2);
  });

  it('is read before every write while nothing is watched', async () => {
    const { world, view } = given();
    await view.read();
    await view.read();
    view.watched(true);
    await view.read();
    view.watched(false);
    await view.read();
    expect(world.reads).toBe(4);
  });

  it('is read again after a change, also one that came while it was being read', async () => {
    const { world, view } = given();
    view.watched(true);
    const reading = view.read();
    world.pauses = { 'namespace_team-a': '{}' };
    view.changed();
    await reading;
    expect((await view.read()).pauses).toEqual(world.pauses);
  });

  it('that cannot be read is an error, and never "no pause"', async () => {
    const { world, view } = given();
    view.watched(true);
    await view.read();
    world.isAway = true;
    world.now = 30_000;
    await expect(view.read()).rejects.toThrow('away');
  });
});
