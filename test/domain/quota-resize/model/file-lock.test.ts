import { describe, expect, it } from 'vitest';
import {
  askForFile,
  busyDetail,
  type FileLock,
  type LockAnswer,
  type LockRequest,
  NO_LOCK,
  queueDetail,
  readFileLock,
  urgencyOf,
  withoutHolder,
  writeFileLock,
} from '../../../../domain/quota-resize/model/file-lock.ts';
import { change } from './observations.ts';

const now = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
const timings = { renewWithin: 11 * MINUTE, longestWait: 24 * 60 * MINUTE, refreshAfter: 5 * MINUTE };

function request(namespace: string, more: Partial<LockRequest> = {}): LockRequest {
  return {
    namespace,
    quota: 'compute',
    holder: `headroom/${namespace}`,
    denied: false,
    share: 90,
    take: 'inQueue',
    ...more,
  };
}

/** The answers to requests that follow each other, each a minute after the one before. */
function asked(lock: FileLock, ...requests: readonly LockRequest[]): readonly LockAnswer[] {
  let current = lock;
  return requests.map((next, n) => {
    const answer = askForFile(current, next, now + n * MINUTE, timings);
    current = answer.lock;
    return answer;
  });
}

function last(lock: FileLock, ...requests: readonly LockRequest[]): LockAnswer {
  const answer = asked(lock, ...requests).at(-1);
  if (answer === undefined) throw new Error('nobody asked');
  return answer;
}

function holdersOf({ lock }: LockAnswer): readonly string[] {
  return lock.holders.map(({ holder }) => holder);
}

/** Held by team-a, and then free while these wait. */
function freed(...waiting: readonly LockRequest[]): FileLock {
  const { lock } = last(NO_LOCK, request('team-a'), ...waiting);
  const free = withoutHolder(lock, request('team-a'), now);
  if (free === null) throw new Error('nobody waits');
  return free;
}

describe('a file', () => {
  it('is taken by the first decision that asks, which keeps it', () => {
    const [first, again] = asked(NO_LOCK, request('team-a'), request('team-a'));
    expect(first).toMatchObject({ kind: 'taken', wasHeld: false });
    expect(again).toMatchObject({ kind: 'taken', wasHeld: true });
    expect(again?.lock, 'nothing is written').toEqual(first?.lock);
    // An opening that begins anew later is as young as its latest attempt.
    const later = now + timings.refreshAfter;
    expect(askForFile(first?.lock ?? NO_LOCK, request('team-a'), later, timings).lock.holders).toMatchObject([
      { holder: 'headroom/team-a', at: later },
    ]);
  });

  it('that an earlier decision of the same quota has is taken over', () => {
    const answer = last(NO_LOCK, request('team-a'), request('team-a', { holder: 'headroom/later' }));
    expect(answer).toMatchObject({ kind: 'taken', wasHeld: false });
    expect(holdersOf(answer)).toEqual(['headroom/later']);
  });

  it('in other hands is waited for, and the place in the queue is kept', () => {
    const [, waits, again] = asked(NO_LOCK, request('team-a'), request('team-b'), request('team-b'));
    for (const answer of [waits, again]) {
      expect(answer).toMatchObject({ kind: 'waits', place: { since: now + MINUTE, number: 1, of: 1, ahead: [] } });
    }
    expect(again?.lock.queue).toMatchObject([{ namespace: 'team-b', since: now + MINUTE, until: now + 13 * MINUTE }]);
  });

  it('in other hands is not waited for by what goes on without it', () => {
    expect(last(NO_LOCK, request('team-a'), request('team-b', { take: 'ifFree' }))).toMatchObject({
      kind: 'waits',
      lock: { queue: [] },
    });
  });

  it('is shared at once by a pull request that changes it already', () => {
    const answer = last(NO_LOCK, request('team-a'), request('team-b', { take: 'always' }));
    expect(answer).toMatchObject({ kind: 'taken', wasHeld: false });
    expect(holdersOf(answer)).toEqual(['headroom/team-a', 'headroom/team-b']);
  });
});

describe('a file that is free again', () => {
  const denied = { denied: true, share: 120 };

  it('goes to denied workloads before a threshold, whoever asks first', () => {
    const free = freed(request('threshold', { share: 100 }), request('denied', denied));
    expect(askForFile(free, request('threshold', { share: 100 }), now + 3 * MINUTE, timings)).toMatchObject({
      kind: 'waits',
      place: { number: 2, of: 2, ahead: [{ namespace: 'denied' }] },
    });
    expect(askForFile(free, request('denied', denied), now + 3 * MINUTE, timings)).toMatchObject({ kind: 'taken' });
    expect(askForFile(free, request('new'), now + 3 * MINUTE, timings), 'who comes later').toMatchObject({
      kind: 'waits',
    });
  });

  it('goes to the greater share of a limit, and then to whoever has waited for longer', () => {
    const free = freed(request('first'), request('second'), request('fuller', { share: 91 }));
    const places = ['first', 'second', 'fuller'].map((namespace) =>
      askForFile(free, request(namespace, namespace === 'fuller' ? { share: 91 } : {}), now + 4 * MINUTE, timings),
    );
    expect(places).toMatchObject([
      { kind: 'waits', place: { number: 2 } },
      { kind: 'waits', place: { number: 3 } },
      { kind: 'taken' },
    ]);
  });

  it('goes to others when the more urgent quota has stopped asking', () => {
    const free = freed(request('threshold'), request('denied', denied));
    const gone = now + 2 * MINUTE + timings.renewWithin;
    expect(askForFile(free, request('threshold'), gone - 1, timings).kind).toBe('waits');
    const answer = askForFile(free, request('threshold'), gone, timings);
    expect(answer.kind).toBe('taken');
    // It may be back: it was paused, and its wait goes on from its beginning.
    expect(askForFile(answer.lock, request('denied', denied), gone + 60 * MINUTE, timings)).toMatchObject({
      kind: 'waits',
      place: { since: now + 2 * MINUTE },
    });
  });

  it('is forgotten when nobody has it and nobody waits', () => {
    const { lock } = last(NO_LOCK, request('team-a'));
    expect(withoutHolder(lock, request('team-a'), now)).toBeNull();
    const waiting = freed(request('team-b'));
    expect(withoutHolder(waiting, request('team-b'), now)).toBeNull();
    expect(withoutHolder(waiting, request('nobody'), now + 60 * MINUTE), 'who waited is gone').toBeNull();
    expect(withoutHolder(waiting, request('nobody'), now)).toEqual(waiting);
  });
});

describe('a quota that has waited for a day', () => {
  it('gets the file beside the others, and keeps it when they are done', () => {
    const { lock } = last(NO_LOCK, request('team-a'), request('team-b'));
    const due = now + MINUTE + timings.longestWait;
    expect(askForFile(lock, request('team-b'), due - 1, timings).kind).toBe('waits');
    const answer = askForFile(lock, request('team-b'), due, timings);
    expect(answer).toMatchObject({ kind: 'taken', wasHeld: false, lock: { queue: [] } });
    expect(holdersOf(answer)).toEqual(['headroom/team-a', 'headroom/team-b']);
    expect(withoutHolder(answer.lock, request('team-a'), due)).toMatchObject({
      holders: [{ holder: 'headroom/team-b' }],
    });
    expect(askForFile(answer.lock, request('team-c'), due, timings).kind, 'others wait for both').toBe('waits');
  });

  it('does not wait for more urgent ones any longer', () => {
    const free = freed(request('threshold'), request('denied', { denied: true }));
    const due = now + MINUTE + timings.longestWait;
    const renewed = askForFile(free, request('threshold'), due - 1, timings).lock;
    expect(askForFile(renewed, request('threshold'), due, timings).kind).toBe('taken');
  });
});

describe('the queue of a file', () => {
  it('knows of the most urgent how urgent they are, and of everybody since when they wait', () => {
    const many = Array.from({ length: 150 }, (_, n) => request(`team-${n}`, { share: 100 + n }));
    let { lock } = askForFile(NO_LOCK, request('team-a'), now, timings);
    for (const one of many) ({ lock } = askForFile(lock, one, now, timings));
    expect(lock.queue).toHaveLength(150);
    expect(lock.queue.slice(0, 100).map(({ share }) => share)).toEqual(Array.from({ length: 100 }, (_, n) => 249 - n));
    expect(new Set(lock.queue.slice(100).map(({ share }) => share))).toEqual(new Set([0]));

    for (let at = 360 * MINUTE; at <= timings.longestWait; at += 360 * MINUTE) {
      for (const one of many) ({ lock } = askForFile(lock, { ...one, take: 'inQueue' }, now + at - 1, timings));
    }
    const late = askForFile(lock, request('team-0', { share: 100 }), now + timings.longestWait, timings);
    expect(late.kind, 'the least urgent gets its own pull request after a day').toBe('taken');
  });

  it('fits into the annotations of a Lease, and those stay in it who have waited for the longest', () => {
    let { lock } = askForFile(NO_LOCK, request('team-a'), now, timings);
    const long = 'x'.repeat(240);
    for (let n = 0; n < 600; n += 1) {
      // Each is more urgent than the one before.
      ({ lock } = askForFile(lock, request(`${long}-${n}`, { share: 100 + n }), now + n, timings));
    }
    const { queue } = writeFileLock(lock);
    expect(queue?.length).toBeLessThanOrEqual(128 * 1024);
    expect(queue?.length).toBeGreaterThan(120 * 1024);
    expect(new Set(lock.queue.map(({ since }) => since))).toEqual(
      new Set(Array.from({ length: lock.queue.length }, (_, n) => now + n)),
    );
  });

  it('survives in annotations, with the other holders', () => {
    const { lock } = last(
      NO_LOCK,
      request('team-a'),
      request('team-b', { take: 'always' }),
      request('team-c', { denied: true }),
    );
    const { others, queue } = writeFileLock(lock);
    const [first = null] = lock.holders;
    expect(readFileLock(first, { others: others ?? undefined, queue: queue ?? undefined })).toEqual(lock);
    expect(readFileLock(null, { others: '[', queue: '{"a":1}' })).toEqual(NO_LOCK);
    expect(writeFileLock(NO_LOCK)).toEqual({ others: null, queue: null });
  });

  it('is explained: who has the file, since when one waits, and until when', () => {
    const place = { since: now, number: 2, of: 3, ahead: [], ownAt: now + timings.longestWait };
    expect(busyDetail('all.yaml', place, 'the pull request of team-a/compute')).toBe(
      'all.yaml is being changed by the pull request of team-a/compute',
    );
    const urgent = { ...request('team-c', { denied: true, share: 150 }), since: now, until: now };
    expect(busyDetail('all.yaml', { ...place, ahead: [urgent] }, null)).toBe(
      'all.yaml is free, and team-c/compute (denied workloads, 150 % of a limit) goes first',
    );
    expect(queueDetail(place)).toBe(
      'This quota has waited for the file since 2026-11-20T12:00:00Z, as number 2 of 3; from 2026-11-21T12:00:00Z on it gets a pull request of its own.',
    );
    expect(queueDetail({ ...place, number: 1, of: 1 })).toContain('Z, alone; from');
  });
});

describe('the urgency of a decision', () => {
  it('is that of its most urgent limit, used and denied together', () => {
    expect(urgencyOf({ changes: [change({ from: '10', used: '9', demand: '0' })] })).toEqual({
      denied: false,
      share: 90,
    });
    const changes = [
      change({ from: '10', used: '9', demand: '0' }),
      change({ resource: 'pods', from: '4', used: '4', demand: '2' }),
    ];
    expect(urgencyOf({ changes })).toEqual({ denied: true, share: 150 });
    expect(urgencyOf({ changes: [change({ from: '0', used: '0', demand: '1' })] })).toEqual({
      denied: true,
      share: 100_000,
    });
  });
});
