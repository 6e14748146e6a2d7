import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pauseSentence, type PauseScope, writesNothingSentence } from '../../../domain/kernel/pause.ts';
import {
  isShortenedPauseKey,
  type PauseConfigMaps,
  pauseKey,
  pauseOf,
  scopeOfPauseKey,
  storePause,
  upgradePause,
} from '../../../domain/kernel/stored-pause.ts';

const NOW = Date.parse('2026-11-22T17:00:00Z');
const alice = { by: 'alice', reason: 'a freeze', at: NOW };
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const subject = { controller: 'quota-resize', namespace: 'team-a', name: 'team-a/compute' } as const;

function found(maps: Partial<PauseConfigMaps>, of: Parameters<typeof pauseOf>[1] = subject) {
  return pauseOf({ everything: null, pauses: null, ...maps }, of, digest);
}

describe('a pause', () => {
  it.each([
    ['its target', 'target_quota-resize_team-a_compute', 'target'],
    ['its namespace', 'namespace_team-a', 'namespace'],
    ['its controller', 'controller_quota-resize', 'controller'],
  ])('of %s holds', (_, key, scope) => {
    expect(found({ pauses: { [key]: storePause(alice) } })).toMatchObject({ ...alice, scope });
  });

  it.each([
    'target_quota-usage_team-a_compute',
    'target_quota-resize_team-a_other',
    'namespace_team',
    'controller_lights-out',
  ])('of something else does not hold: %s', (key) =>
    expect(found({ pauses: { [key]: storePause(alice) } })).toBeNull(),
  );

  it('of everything holds while its ConfigMap exists, even an empty one, and not when it says "false"', () => {
    expect(found({ everything: { data: {}, createdAt: NOW } })).toMatchObject({ scope: 'everything', at: NOW });
    expect(found({ everything: { data: { paused: ' False ' }, createdAt: NOW } })).toBeNull();
  });

  it.each(['', 'yes', '[]', '{"by": 7, "at": "soon"}', 'null'])('holds whatever its value says: %j', (value) => {
    expect(found({ pauses: { 'namespace_team-a': value } })).toMatchObject({ by: 'unknown', at: null });
  });

  it('is read as it was stored', () => {
    expect(upgradePause(storePause(alice))).toEqual(alice);
  });

  it('says who, since when, why and where that is kept', () => {
    expect(pauseSentence({ ...alice, scope: 'namespace', kept: 'ConfigMap c' })).toBe(
      'the namespace is paused by alice since 2026-11-22T17:00:00Z: a freeze (ConfigMap c)',
    );
  });
});

describe('the key of a pause', () => {
  it('is one that Kubernetes takes, also for the longest names, and another one for another target', () => {
    const target = (quota: string) =>
      pauseKey({ kind: 'target', controller: 'quota-resize', name: `${'n'.repeat(63)}/${quota}` }, digest);
    const keys = ['compute', 'a.b-c', 'q'.repeat(253), 'q'.repeat(252)].map(target);
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^[-._a-zA-Z0-9]{1,253}$/);
  });
});

describe('what a key stops', () => {
  it.each([
    { kind: 'target', controller: 'quota-resize', name: 'team-a/compute' },
    { kind: 'target', controller: 'lights-out', name: 'dev-nights' },
    { kind: 'namespace', namespace: 'team-a' },
    { kind: 'controller', controller: 'quota-usage' },
  ] as const)('is what it was made for: %j', (scope) => {
    expect(scopeOfPauseKey(pauseKey(scope, digest))).toEqual(scope);
  });

  it.each([
    'controller_quotaresize',
    'controller_quota-resize_team-a',
    'namespace-team-a',
    'namespace_team_a',
    'namespace_Team-A',
    'target_quotaresize_team-a_compute',
    'target_quota-resize',
    'team-a/compute',
    '',
  ])('is nothing where nobody reads it: %j', (key) => {
    expect(scopeOfPauseKey(key)).toBeNull();
  });

  it('is known of a name that is too long only as far as it goes', () => {
    const scope = { kind: 'target', controller: 'quota-resize', name: `team-a/${'q'.repeat(253)}` } as const;
    expect(isShortenedPauseKey(pauseKey(scope, digest))).toBe(true);
    expect(isShortenedPauseKey('target_quota-resize_team-a_compute')).toBe(false);
  });
});

describe('the sender of a command to a paused target', () => {
  const cluster = { controller: 'lights-out', name: 'nights' } as const;
  const sentence = (scope: PauseScope['kind'], target: Parameters<typeof writesNothingSentence>[1] = subject) =>
    writesNothingSentence({ ...alice, scope, kept: 'a key' }, target);

  it('reads by whom it is paused and since when', () => {
    expect(sentence('target')).toMatch(
      /^Nothing is written for now: paused by alice since 2026-11-22T17:00:00Z: a freeze \(a key\)\. /,
    );
  });

  it.each([
    ['target', 'Resume with: headroom resume team-a/compute --controller quota-resize'],
    ['namespace', 'Resume with: headroom resume --namespace team-a'],
    ['controller', 'Resume with: headroom resume --controller quota-resize'],
    ['everything', 'Delete the ConfigMap headroom-pause to resume'],
  ] as const)('reads how to resume where the scope is the %s', (scope, resume) => {
    expect(sentence(scope).endsWith(`. ${resume}`)).toBe(true);
  });

  it('reads the name of a target of the whole cluster', () => {
    expect(sentence('target', cluster)).toContain('headroom resume nights --controller lights-out');
  });
});
