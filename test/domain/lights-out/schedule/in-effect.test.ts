import { describe, expect, it } from 'vitest';
import { type InEffect, inEffectNow } from '../../../../domain/lights-out/schedule/in-effect.ts';
import { HOUR, NOON } from '../observations.ts';

const now = (before: InEffect | null, observeInput: Partial<Parameters<typeof inEffectNow>[1]> = {}) =>
  inEffectNow(before, {
    period: { state: 'Down', since: NOON - 10 * HOUR },
    now: NOON,
    generation: 1,
    isActive: true,
    createdAt: NOON - 100 * HOUR,
    status: {},
    ...observeInput,
  });

describe('the moment from which a state holds for workloads', () => {
  it('is that of its transition, and of the creation of a schedule that is younger', () => {
    expect(now(null).from).toBe(NOON - 10 * HOUR);
    expect(now(null, { createdAt: NOON - HOUR }).from).toBe(NOON - HOUR);
    expect(now(null, { period: { state: 'Up', since: null } }).from).toBe(NOON - 100 * HOUR);
  });

  it('is what the status says of a run that was terminated', () => {
    expect(now(null, { status: { state: 'Down', stateSince: '2026-11-20T09:00:00Z' } }).from).toBe(NOON - 3 * HOUR);
    expect(now(null, { status: { state: 'Up', stateSince: '2026-11-20T09:00:00Z' } }).from).toBe(NOON - 10 * HOUR);
    expect(now(null, { status: { state: 'Down', stateSince: '2027-01-01T00:00:00Z' } }).from).toBe(NOON - 10 * HOUR);
  });

  it('stays while the state does, whatever else is edited', () => {
    const before = now(null);
    expect(now(before, { now: NOON + HOUR }).from).toBe(before.from);
    const edited = now(before, { generation: 2, period: { state: 'Down', since: NOON - 2 * HOUR } });
    expect(edited).toMatchObject({ from: before.from, generation: 2, since: NOON - 2 * HOUR });
  });

  it('is that of a transition, also when it is noticed late or a whole day was missed', () => {
    const before = now(null);
    expect(now(before, { period: { state: 'Up', since: NOON - HOUR } }).from).toBe(NOON - HOUR);
    expect(now(before, { period: { state: 'Down', since: NOON - HOUR } }).from).toBe(NOON - HOUR);
  });

  it('is that of the observation at an edit that changes the state', () => {
    expect(now(now(null), { generation: 2, period: { state: 'Up', since: NOON - 90 * HOUR } }).from).toBe(NOON);
  });

  it('is that of the observation also where a calendar changes the state, and not the beginning of the day', () => {
    const before = now(null, { calendars: 'a', period: { state: 'Up', since: NOON - 5 * HOUR } });
    const holiday = { state: 'Down', since: NOON - 12 * HOUR } as const;
    expect(now(before, { calendars: 'b', period: holiday }).from).toBe(NOON);
    expect(now(before, { period: holiday }).from).toBe(NOON);
    const night = now(null, { calendars: 'a' });
    expect(now(night, { now: NOON + HOUR, calendars: 'b', period: holiday })).toMatchObject({
      from: night.from,
      calendars: 'b',
    });
  });

  it('is that of the observation at which a suspended, dry or unapproved schedule begins to act', () => {
    const idle = now(null, { isActive: false });
    expect(now(idle, { now: NOON + HOUR }).from).toBe(NOON + HOUR);
    expect(now(now(idle), { now: NOON + 2 * HOUR }).from).toBe(NOON);
  });
});
