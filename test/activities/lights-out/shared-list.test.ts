import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { requestCancellation } from '../../../activities/kernel/cancellation.ts';
import { SharedList } from '../../../activities/lights-out/shared-list.ts';

/** Lists that end when the test says so. */
class Lists {
  readonly ends: PromiseWithResolvers<string>[] = [];
  readonly shared = new SharedList(async () => {
    const end = Promise.withResolvers<string>();
    this.ends.push(end);
    return await end.promise;
  });

  async end(index: number, found: string | Error): Promise<void> {
    const end = this.ends[index];
    if (found instanceof Error) end?.reject(found);
    else end?.resolve(found);
    // What hangs on it has its turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a list that many ask for', () => {
  it('is made once for all who ask while an earlier one is under way, and after they asked', async () => {
    const lists = new Lists();
    const first = lists.shared.read();
    const others = Array.from({ length: 100 }, async () => await lists.shared.read());
    expect(lists.ends).toHaveLength(1);
    await lists.end(0, 'before');
    expect(await first).toBe('before');
    expect(lists.ends).toHaveLength(2);
    const late = lists.shared.read();
    await lists.end(1, 'after');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['after']));
    await lists.end(2, 'later');
    expect(await late).toBe('later');
  });

  it('is made anew for whoever asks when none is under way', async () => {
    const lists = new Lists();
    for (const found of ['a', 'b']) {
      const read = lists.shared.read();
      await lists.end(lists.ends.length - 1, found);
      expect(await read).toBe(found);
    }
  });

  it('that fails does so for those who waited for it, and the next is made', async () => {
    const lists = new Lists();
    const first = lists.shared.read();
    const second = lists.shared.read();
    const failed = Promise.allSettled([first]);
    await lists.end(0, new Error('away'));
    expect(await failed).toMatchObject([{ status: 'rejected', reason: { message: 'away' } }]);
    await lists.end(1, 'there');
    expect(await second).toBe('there');
  });

  it('is not ended with the activity that asked first, nor waited for by one that is cancelled', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const found = Promise.withResolvers<string>();
    const shared = new SharedList(async () => {
      signals.push(requestCancellation('GET'));
      return await found.promise;
    });
    const reader = (activity = new MockActivityEnvironment()) => ({
      activity,
      read: activity.run(async () => await shared.read()),
    });
    const [first, second, third] = [reader(), reader(), reader()];
    const cancelled = Promise.allSettled([first.read, second.read]);
    first.activity.cancel('CANCELLED');
    second.activity.cancel('TIMED_OUT');
    expect(await cancelled).toMatchObject([
      { status: 'rejected', reason: { message: 'CANCELLED' } },
      { status: 'rejected', reason: { message: 'TIMED_OUT' } },
    ]);
    found.resolve('there');
    expect(await third.read).toBe('there');
    expect(signals).toEqual([undefined, undefined]);
    const late = reader(first.activity);
    await expect(late.read).rejects.toThrow('CANCELLED');
    expect(signals).toHaveLength(2);
  });
});
