import { describe, expect, it } from 'vitest';
import { applyCommand, type CommandName } from '../../../../domain/lights-out/decide/commands.ts';
import { freshMemory, type LightsOutMemory } from '../../../../domain/lights-out/decide/memory.ts';
import { HOUR, observationOf, NOON, scheduleOf, specOf, planOf } from '../observations.ts';

const answerTo = (name: CommandName, raw: unknown, memory: LightsOutMemory = freshMemory, seen = observationOf()) =>
  applyCommand(name, raw, { memory, seen, now: NOON });

describe('wake and sleep', () => {
  it('hold for as long as they say', () => {
    const { memory, message } = answerTo('wake', { by: 'alice', for: '3h', reason: 'release' });
    expect(memory?.overrides).toEqual([
      { kind: 'wake', namespace: null, since: NOON, until: NOON + 3 * HOUR, by: 'alice', reason: 'release' },
    ]);
    expect(message).toBe('awake until 2026-11-20T15:00:00Z (by alice: release)');
  });

  it('hold until a moment in any zone', () => {
    expect(answerTo('sleep', { until: '2026-11-20T20:00:00+01:00' }).memory?.overrides[0]?.until).toBe(NOON + 7 * HOUR);
  });

  it('replace an earlier command for the same namespace, and for no other', () => {
    const first = answerTo('wake', { for: '1h', namespace: 'team-a' }).memory ?? freshMemory;
    const second = answerTo('wake', { for: '2h' }, first).memory ?? freshMemory;
    const third = answerTo('sleep', { for: '3h', namespace: 'team-a' }, second).memory;
    expect(third?.overrides.map(({ kind, namespace }) => [kind, namespace])).toEqual([
      ['wake', null],
      ['sleep', 'team-a'],
    ]);
  });

  it.each([
    ['no time at all', {}, 'either "for"'],
    ['both times', { for: '1h', until: '2026-11-20T20:00:00Z' }, 'either "for"'],
    ['no duration', { for: '3 hours' }, '"3 hours": expected a duration'],
    ['a moment without a zone', { until: '2026-11-20T20:00:00' }, 'expected a moment with its zone'],
    ['the past', { until: '2026-11-20T11:00:00Z' }, 'is in the past'],
    ['more than a month', { for: '32d' }, 'longer than 31 d'],
    ['a foreign namespace', { for: '1h', namespace: 'kube-system' }, 'not in the scope'],
    ['what is no object', 7, 'either "for"'],
  ])('refuse %s', (_, raw, message) => {
    const answer = answerTo('wake', raw);
    expect(answer.memory).toBeNull();
    expect(answer.message).toContain(message);
  });

  it.each([
    [
      'suspended',
      observationOf({ schedule: scheduleOf({ spec: specOf({ suspend: true }) }) }),
      freshMemory,
      'spec.suspend is true',
    ],
    [
      'a dry run',
      observationOf({ schedule: scheduleOf({ spec: specOf({ dryRun: true }) }) }),
      freshMemory,
      'spec.dryRun is true',
    ],
    ['invalid', observationOf({ schedule: scheduleOf({ spec: null }) }), freshMemory, 'the schedule is invalid'],
  ])('say why nothing happens for now where the schedule is %s', (_, seen, memory, why) => {
    const answer = answerTo('wake', { for: '1h' }, memory, seen);
    expect(answer.memory?.overrides).toHaveLength(1);
    expect(answer.message).toContain(`. Nothing happens for now, because ${why}`);
  });

  it('are ended by cancel, everywhere or in one namespace', () => {
    const both = answerTo(
      'wake',
      { for: '2h' },
      answerTo('sleep', { for: '1h', namespace: 'team-a' }).memory ?? freshMemory,
    );
    const memory = both.memory ?? freshMemory;
    expect(answerTo('cancel', { namespace: 'team-a' }, memory).memory?.overrides).toMatchObject([{ namespace: null }]);
    // The wake is over from now on, and the sleep as if it had not been.
    expect(answerTo('cancel', {}, memory).memory?.overrides).toMatchObject([{ kind: 'wake', until: NOON }]);
    expect(answerTo('cancel', { namespace: 'team-b' }, memory)).toMatchObject({ memory: null });
    expect(answerTo('cancel', {})).toMatchObject({ memory: null });
  });
});

describe('the other commands', () => {
  it('approve what is in scope where an approval is asked for, once for each set of workloads', () => {
    const schedule = scheduleOf({ spec: specOf({ requireApproval: true }) });
    const scope = { digest: '0123456789abcdef', workloads: 12 };
    const seen = observationOf({ schedule, plan: planOf([], { scope }) });
    const { memory } = answerTo('approve', { by: 'alice' }, freshMemory, seen);
    expect(memory).toMatchObject({ approved: null, approving: { by: 'alice', at: NOON, digest: null } });
    const kept = { ...freshMemory, approved: { by: 'alice', at: NOON, ...scope } };
    expect(answerTo('approve', { by: 'bob' }, kept, seen)).toEqual({
      memory: null,
      message: 'already approved by alice, and nothing has joined since',
    });
    const joined = observationOf({ schedule, plan: planOf([], { scope, leftAlone: { NotApproved: 1 } }) });
    expect(answerTo('approve', { by: 'bob' }, kept, joined).memory?.approving).toMatchObject({ by: 'bob' });
    // An approval of an earlier release is of whatever is selected, until it is given for a set.
    const earlier = { ...freshMemory, approved: { by: 'alice', at: NOON } };
    expect(answerTo('approve', { by: 'bob' }, earlier, seen).memory?.approving).toMatchObject({ by: 'bob' });
    expect(answerTo('approve', { by: 'bob' })).toEqual({ memory: null, message: 'the schedule asks for no approval' });
  });

  it('approve only the workloads that were seen, where a digest is given', () => {
    const schedule = scheduleOf({ spec: specOf({ requireApproval: true }) });
    const seen = observationOf({ schedule, plan: planOf([], { scope: { digest: 'aaaaaaaaaaaaaaaa', workloads: 3 } }) });
    const digest = 'bbbbbbbbbbbbbbbb';
    expect(answerTo('approve', { by: 'alice', digest }, freshMemory, seen)).toEqual({
      memory: null,
      message:
        'the digest of the 3 workloads in scope is aaaaaaaaaaaaaaaa by now, and not bbbbbbbbbbbbbbbb: look at them again',
    });
    const { memory } = answerTo('approve', { by: 'alice', digest: 'aaaaaaaaaaaaaaaa' }, freshMemory, seen);
    expect(memory?.approving).toEqual({ by: 'alice', at: NOON, digest: 'aaaaaaaaaaaaaaaa' });
  });

  it('try at once what failed or was contested', () => {
    const memory: LightsOutMemory = {
      ...freshMemory,
      retry: { times: 4, at: NOON + HOUR, isMany: false },
      contested: { 'Deployment a/b': { times: 3, until: NOON + HOUR } },
    };
    expect(answerTo('reconcileNow', {}, memory).memory).toMatchObject({ retry: null, contested: {} });
  });
});
