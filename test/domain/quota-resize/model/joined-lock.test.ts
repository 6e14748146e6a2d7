import { describe, expect, it } from 'vitest';
import {
  askForFile,
  type FileLock,
  joinFile,
  type LockRequest,
  NO_LOCK,
  readFileLock,
  withoutHolder,
  writeFileLock,
} from '../../../../domain/quota-resize/model/file-lock.ts';

const now = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const timings = { renewWithin: 11 * MINUTE, longestWait: DAY, refreshAfter: 5 * MINUTE };
const OWNER = 'headroom/owner';

function request(namespace: string, more: Partial<LockRequest> = {}): LockRequest {
  const holder = `headroom/${namespace}`;
  return { namespace, quota: 'compute', holder, denied: false, share: 90, take: 'inQueue', ...more };
}

/** Held by the owner, with these quotas waiting, a minute after each other. */
function waiting(...namespaces: readonly string[]): FileLock {
  return ['owner', ...namespaces].reduce<FileLock>(
    (lock, namespace, n) => askForFile(lock, request(namespace), now + n * MINUTE, timings).lock,
    NO_LOCK,
  );
}

function joined(lock: FileLock, namespace: string): FileLock {
  const answer = joinFile(lock, request(namespace), OWNER, now + 10 * MINUTE);
  if (answer === null) throw new Error(`${namespace} cannot join`);
  return answer.lock;
}

describe('a decision that joins the pull request of a file’s holder', () => {
  it('leaves the queue, and keeps since when it has waited', () => {
    const lock = joined(waiting('first', 'second'), 'second');
    expect(lock.queue).toMatchObject([{ namespace: 'first' }]);
    expect(lock.holders).toMatchObject([
      { holder: OWNER },
      { holder: 'headroom/second', joins: OWNER, at: now + 2 * MINUTE },
    ]);
  });

  it('is told whose pull request it is, and keeps its place when that is open', () => {
    const lock = joined(waiting('first'), 'first');
    expect(askForFile(lock, request('first'), now + DAY / 2, timings)).toMatchObject({
      kind: 'joined',
      owner: { namespace: 'owner' },
      lock,
    });
    const open = request('first', { take: 'always' });
    expect(askForFile(lock, open, now + 2 * DAY, timings)).toEqual({ kind: 'taken', wasHeld: true, lock });
  });

  it('may do so twice, and says whether it waited for the file', () => {
    const lock = joined(waiting('first'), 'first');
    expect(joinFile(lock, request('first'), OWNER, now)).toEqual({ lock, wasAsking: true });
    expect(joinFile(waiting(), request('first'), OWNER, now)).toMatchObject({ wasAsking: false });
  });

  it('does not where the file is somebody else’s, or its own', () => {
    expect(joinFile(NO_LOCK, request('first'), OWNER, now)).toBeNull();
    expect(joinFile(waiting('first'), request('first'), 'headroom/another', now)).toBeNull();
    const own = askForFile(waiting('first'), request('first', { take: 'always' }), now, timings).lock;
    expect(joinFile(own, request('first'), OWNER, now)).toBeNull();
    expect(joinFile(own, request('second'), OWNER, now)).toBeNull();
    const earlier = joined(waiting('first'), 'first');
    expect(joinFile(earlier, request('first', { holder: 'headroom/later' }), OWNER, now)).toBeNull();
  });

  it('holds the file no longer than the owner does', () => {
    const lock = joined(joined(waiting('first', 'second', 'third'), 'first'), 'second');
    const left = withoutHolder(lock, request('owner'), now);
    expect(left?.holders).toEqual([]);
    expect(left?.queue).toMatchObject([{ namespace: 'third' }]);
    // A Lease from which only the owner is gone, whoever wrote that.
    const stale = { ...lock, holders: lock.holders.slice(1) };
    expect(askForFile(stale, request('second'), now, timings)).toMatchObject({
      kind: 'taken',
      wasHeld: false,
      lock: { holders: [{ holder: 'headroom/second' }] },
    });
  });

  it('gets one of its own after a day in which it was not written into that one', () => {
    const lock = joined(waiting('first'), 'first');
    const answer = askForFile(lock, request('first'), now + MINUTE + DAY, timings);
    expect(answer).toMatchObject({
      kind: 'taken',
      wasHeld: false,
      lock: { holders: [{ holder: OWNER }, { holder: 'headroom/first' }] },
    });
    expect(answer.lock.holders[1]?.joins).toBeUndefined();
  });

  it('does not hand the file to a later decision of its quota', () => {
    const lock = joined(waiting('first'), 'first');
    expect(askForFile(lock, request('first', { holder: 'headroom/later' }), now, timings)).toMatchObject({
      kind: 'waits',
      lock: { holders: [{ holder: OWNER }], queue: [{ namespace: 'first' }] },
    });
  });

  it('is found again in the Lease', () => {
    const lock = joined(waiting('first'), 'first');
    const { others, queue } = writeFileLock(lock);
    const [owner] = lock.holders;
    expect(readFileLock(owner ?? null, { others: others ?? undefined, queue: queue ?? undefined })).toEqual(lock);
  });
});
