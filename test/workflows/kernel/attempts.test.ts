import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';
import { expect, it } from 'vitest';
import { Attempts } from '../../../workflows/kernel/attempts.ts';
import type { RunStatus, WaitOptions } from '../../../workflows/kernel/controller-run.ts';

const FIRST_MS = 10_000;
const LONGEST_MS = 35_000;

/** A run that waits for nothing, and keeps what it was to show and how long it was to wait. */
function given(isPaused = false) {
  const shown: RunStatus[] = [];
  const waits: number[] = [];
  const run = {
    interruptible: async <T>(act: () => Promise<T>): Promise<T | null> => await act(),
    pauses: { foundIn: () => isPaused },
    publish: (status: RunStatus) => void shown.push(status),
    wait: async ({ until }: WaitOptions): Promise<boolean> => {
      waits.push(Math.round(((until ?? 0) - Date.now()) / 1000) * 1000);
      return await Promise.resolve(false);
    },
  };
  const attempts = new Attempts<RunStatus, 'ReadFailed' | 'WriteFailed'>(
    run as unknown as ConstructorParameters<typeof Attempts<RunStatus, 'ReadFailed' | 'WriteFailed'>>[0],
    {
      firstRestMs: FIRST_MS,
      longestRestMs: LONGEST_MS,
      shown: (reason, detail) => ({ phase: 'Blocked', reason, detail }),
    },
  );
  return { attempts, shown, waits };
}

async function failing(): Promise<never> {
  const cause = ApplicationFailure.create({ message: 'the role has no right', type: 'Forbidden' });
  const { NON_RETRYABLE_FAILURE } = RetryState;
  return await Promise.reject(new ActivityFailure('failed', 'ensureAll', '1', NON_RETRYABLE_FAILURE, 'worker', cause));
}

const succeeding = async (): Promise<string> => await Promise.resolve('seen');

it('what failed is shown, and each further failure in a row doubles the wait up to the longest', async () => {
  const { attempts, shown, waits } = given();
  for (let times = 0; times < 4; times += 1) expect(await attempts.make('WriteFailed', failing)).toBeNull();
  expect(waits).toEqual([10_000, 20_000, 35_000, 35_000]);
  expect(shown).toHaveLength(4);
  expect(shown[0]).toEqual({ phase: 'Blocked', reason: 'WriteFailed', detail: 'the role has no right' });
});

it('a read that succeeds between two writes that fail makes the wait no shorter', async () => {
  const { attempts, waits } = given();
  for (let passes = 0; passes < 3; passes += 1) {
    expect(await attempts.make('ReadFailed', succeeding)).toBe('seen');
    await attempts.make('WriteFailed', failing);
  }
  expect(waits).toEqual([10_000, 20_000, 35_000]);
});

it('a success of the same kind begins anew', async () => {
  const { attempts, waits } = given();
  await attempts.make('WriteFailed', failing);
  await attempts.make('WriteFailed', succeeding);
  await attempts.make('WriteFailed', failing);
  expect(waits).toEqual([10_000, 10_000]);
});

it('a pause that the failure tells of is waited for elsewhere, and is no failure', async () => {
  const { attempts, shown, waits } = given(true);
  expect(await attempts.make('WriteFailed', failing)).toBeNull();
  expect([shown, waits]).toEqual([[], []]);
});

it('what is no failure of an activity is thrown', async () => {
  const { attempts } = given();
  await expect(attempts.make('ReadFailed', async () => await Promise.reject(new Error('a defect')))).rejects.toThrow(
    'a defect',
  );
});

it('an attempt that was interrupted makes the wait no shorter', async () => {
  const { attempts, waits } = given();
  await attempts.make('WriteFailed', failing);
  expect(await attempts.make('WriteFailed', async () => await Promise.resolve(null))).toBeNull();
  await attempts.make('WriteFailed', failing);
  expect(waits).toEqual([10_000, 20_000]);
});
