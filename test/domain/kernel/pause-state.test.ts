import { describe, expect, it } from 'vitest';
import {
  afterKeeping,
  afterReading,
  pauseCommand,
  pauseInForce,
  type PauseState,
} from '../../../domain/kernel/pause-state.ts';

const NOW = Date.parse('2026-11-22T17:00:00Z');
const alice = { by: 'alice', reason: 'a freeze', at: NOW };
const bob = { by: 'bob', reason: '' };
const ofAlice = { ...alice, scope: 'target', kept: 'a key' } as const;
const unread: PauseState = { kind: 'Unread' };
const knownState = (pause: typeof ofAlice | null, at = NOW): PauseState => ({ kind: 'Known', pause, at });

const target = { controller: 'quota-resize', namespace: 'team-a', name: 'team-a/compute' } as const;

function command(name: 'pause' | 'resume', state: PauseState, input = bob) {
  return pauseCommand(name, { state, target }, input, NOW);
}

/** The state after a command, which has to be accepted. */
function applied(name: 'pause' | 'resume', state: PauseState, input = bob): Extract<PauseState, { kind: 'Unkept' }> {
  const answer = command(name, state, input);
  if (answer.kind === 'rejected' || answer.state.kind !== 'Unkept') throw new Error(answer.message);
  return answer.state;
}

describe('a command about a pause', () => {
  it('is rejected where it would change nothing', () => {
    expect(command('pause', knownState(ofAlice))).toEqual({
      kind: 'rejected',
      message: 'already paused by alice since 2026-11-22T17:00:00Z: a freeze (a key)',
    });
    expect(command('resume', knownState(null)).kind).toBe('rejected');
    expect(command('pause', applied('pause', unread)).kind).toBe('rejected');
    expect(command('resume', applied('resume', unread)).kind).toBe('rejected');
  });

  it('to pause holds at once', () => {
    expect(pauseInForce(applied('pause', knownState(null)))).toMatchObject({ by: 'bob', scope: 'target' });
  });

  it('to resume holds when it is kept', () => {
    const resumed = applied('resume', knownState(ofAlice));
    expect(pauseInForce(resumed)).toMatchObject({ by: 'alice' });
    expect(pauseInForce(afterKeeping(resumed, NOW))).toBeNull();
  });

  it('to pause is taken while a resume is being kept', () => {
    const again = applied('pause', applied('resume', knownState(ofAlice)));
    expect(pauseInForce(again)).toMatchObject({ by: 'bob' });
  });

  it('to resume is taken before anything was read, because a run that was terminated may have been paused', () => {
    expect(applied('resume', unread).pause).toBeNull();
  });

  it('to one target does not resume its namespace, and may pause it as well', () => {
    const namespace = { kind: 'Known', pause: { ...ofAlice, scope: 'namespace' }, at: NOW } as const;
    expect(command('resume', namespace)).toEqual({
      kind: 'rejected',
      message:
        'the namespace is paused by alice since 2026-11-22T17:00:00Z: a freeze (a key), which resume of one target does not end. Resume with: headroom resume --namespace team-a',
    });
    expect(applied('pause', namespace).pause).toMatchObject({ by: 'bob' });
  });
});

describe('a reading', () => {
  it('changes nothing of what an operator said and is not kept yet', () => {
    const paused = applied('pause', knownState(null));
    expect(afterReading(paused, null, { askedAt: Number.POSITIVE_INFINITY, now: NOW })).toBe(paused);
    const resumed = applied('resume', knownState(ofAlice));
    expect(afterReading(resumed, ofAlice, { askedAt: NOW, now: NOW })).toBe(resumed);
  });

  it.each([
    ['was kept', afterKeeping(applied('pause', knownState(null)), NOW)],
    ['was read', knownState(ofAlice)],
  ])('that may be of before a pause that %s does not end it', (_, state) => {
    const reading = (askedAt: number) => pauseInForce(afterReading(state, null, { askedAt, now: askedAt }));
    expect(reading(NOW)).not.toBeNull();
    expect(reading(NOW + 29_999)).not.toBeNull();
    expect(reading(NOW + 30_000)).toBeNull();
    expect(reading(Number.POSITIVE_INFINITY)).toBeNull();
  });

  it('of a pause is always believed', () => {
    const resumed = afterKeeping(applied('resume', knownState(ofAlice)), NOW);
    expect(pauseInForce(afterReading(resumed, ofAlice, { askedAt: NOW, now: NOW }))).toEqual(ofAlice);
  });
});
