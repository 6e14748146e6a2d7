import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { command, type EpisodeCommand } from '../../../../domain/quota-resize/decide/commands.ts';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import {
  approvalOf,
  emptyMemory,
  isUnmerged,
  type ResizeMemory,
} from '../../../../domain/quota-resize/model/memory.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import { HOUR, MINUTE, timings } from '../model/observations.ts';
import { Episode, World } from './resize-world.ts';

const RUNS = 2_000;

/** What may happen between two looks. */
interface Happening {
  readonly name: string;
  readonly happen: (world: World, episode: Episode) => void;
  /** The next act is cut off after so many of its steps. */
  readonly cutAfter?: number;
}

function always(name: string, happen: Happening['happen']): fc.Arbitrary<Happening> {
  return fc.constant({ name, happen });
}

function lastPull(world: World) {
  return world.pulls.findLast((pull) => pull.state === 'open');
}

function send(name: EpisodeCommand): fc.Arbitrary<Happening> {
  return always(name, (world, episode) => {
    const outcome = command(episode.memory, name, { by: 'ann', reason: '' }, world.now);
    if (outcome.kind === 'done') episode.memory = outcome.memory;
  });
}

function toggled(name: string, change: (world: World) => void): fc.Arbitrary<Happening> {
  return always(name, (world) => {
    change(world);
  });
}

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: always('rest', (_world, episode) => episode.rest()) },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: 3 * HOUR }).map((span) => ({
      name: `${span} ms pass`,
      happen: (world: World) => {
        world.now += span;
      },
    })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('1', '5', '8', '9', '10', '12').map((used) => ({
      name: `${used} used`,
      happen: (world: World) => {
        world.used = used;
      },
    })),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom('0', '1', '4', '9', '40'), fc.boolean()).map(([missing, byMessage]) => ({
      name: `${missing} missing${byMessage ? ' by message' : ''}`,
      happen: (world: World) => Object.assign(world, { missing, byMessage, lastDenied: world.now }),
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<Record<string, string>>(
        {},
        {},
        { mode: 'observe' },
        { enabled: 'false' },
        { 'auto-merge': 'false' },
        { 'max-step': '1' },
        { 'cooldown-minutes': '0' },
        { 'git-path': 'elsewhere' },
        { approval: 'before-merge', 'approval-timeout': '20m' },
        { approval: 'before-pull-request', 'approval-reminder': '30m' },
        { 'cpu-max': '10' },
      )
      .map((annotations) => ({
        name: `annotations ${JSON.stringify(annotations)}`,
        happen: (world: World) => {
          world.annotations = annotations;
        },
      })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('passed', 'pending', 'failing', 'none').map((checks) => ({
      name: `checks ${checks}`,
      happen: (world: World) => Object.assign(world, { checks }),
    })),
  },
  { weight: 2, arbitrary: send('approve') },
  send('reject'),
  send('reconcileNow'),
  send('skipCooldown'),
  always('a person closes', (world) => {
    const pull = lastPull(world);
    if (pull !== undefined) world.personCloses(pull);
  }),
  always('a person merges', (world) => {
    const pull = lastPull(world);
    if (pull !== undefined) world.merges(pull, 'ann');
  }),
  always('a foreign commit', (world) => {
    const pull = lastPull(world);
    if (pull !== undefined) Object.assign(pull, { ours: false, headSha: `${pull.headSha}-foreign` });
  }),
  toggled('the base moves', (world) => (world.commits += 1)),
  always('a conflict', (world) => {
    const pull = lastPull(world);
    if (pull !== undefined) pull.conflicts = true;
  }),
  toggled('global pause', (world) => (world.pause = world.pause === null ? PAUSED : null)),
  toggled('auto-merge flag', (world) => (world.autoMerge = !world.autoMerge)),
  toggled('the file is gone or back', (world) => (world.sourceIsMissing = !world.sourceIsMissing)),
  toggled('the file is busy or free', (world) => (world.fileIsBusy = !world.fileIsBusy)),
  toggled('merges meet a moved base or not', (world) => (world.mergesMove = !world.mergesMove)),
  toggled('GitHub refuses or not', (world) => (world.githubRefuses = !world.githubRefuses)),
  toggled('a freeze begins or ends', (world) => (world.frozen = !world.frozen)),
  toggled('the syncer stops or goes on', (world) => (world.syncs = !world.syncs)),
  toggled('the Lease is taken', (world) => (world.lease = { ...world.lease, holder: 'somebody' })),
  toggled('the Lease is unlocked', (world) => (world.lease = { ...world.lease, holder: null })),
  toggled('the quota is replaced', (world) => (world.uid = `${world.uid}'`)),
  toggled('the quota goes or comes', (world) => (world.quotaIsThere = !world.quotaIsThere)),
  {
    weight: 2,
    arbitrary: always('Terminate', (_world, episode) => {
      episode.memory = emptyMemory();
    }),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 })).map(([cutAfter, cause]) => ({
      name: `cut off after ${cutAfter} steps`,
      happen: (world: World) => {
        // Often with a reason to act, or the cut would mostly find a wait.
        if (cause === 1) world.commits += 1;
        if (cause === 2) world.used = '10';
        if (cause === 3) world.now += timings.updateInterval;
      },
      cutAfter,
    })),
  },
);

const rests: Happening = { name: 'rest', happen: (_world, episode) => episode.rest() };

function annotated(annotations: Record<string, string>): Happening {
  return {
    name: `annotations ${JSON.stringify(annotations)}`,
    happen: (world) => Object.assign(world, { annotations }),
  };
}

/**
 * Beginnings that lead to what a story of chance comes to once in a thousand times: with some of them in every draw, what
 * has to be reached is reached by any seed.
 */
const beginnings: Readonly<Record<string, readonly Happening[]>> = {
  'nobody approves in time': [
    annotated({ approval: 'before-merge', 'approval-timeout': '20m' }),
    rests,
    rests,
    rests,
    rests,
    { name: 'half an hour passes', happen: (world) => (world.now += HOUR / 2) },
  ],
  'the mode becomes observe before the pull request': [
    { name: 'the file is busy', happen: (world) => (world.fileIsBusy = true) },
    rests,
    annotated({ mode: 'observe' }),
  ],
  'the run dies between a push and its record': [
    { name: 'auto-merge is off', happen: (world) => (world.autoMerge = false) },
    rests,
    rests,
    rests,
    { name: 'the base moves', happen: (world) => (world.commits += 1), cutAfter: 2 },
    { name: 'a minute passes', happen: (world) => (world.now += MINUTE) },
  ],
  'more is needed before anybody approves': [
    annotated({ approval: 'before-pull-request' }),
    rests,
    { name: '4 missing', happen: (world) => Object.assign(world, { missing: '4', lastDenied: world.now }) },
  ],
};

const stories = fc.oneof(
  { weight: 9, arbitrary: fc.array(happenings, { minLength: 5, maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...Object.values(beginnings)), fc.array(happenings, { maxLength: 55 }))
      .map(([beginning, more]) => [...beginning, ...more]),
  },
);

/** Millicores of a quantity as this world has them: whole cores, or so many `m`. */
function millicores(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+)(m?)$/.exec(text) ?? [];
  if (amount === '') throw new Error(`this world has no quantity such as ${text}`);
  return Number(amount) * (unit === 'm' ? 1 : 1_000);
}

/** The only resource of this world, as a decision raises it. */
function raiseOf({ changes }: Decision): { readonly from: number; readonly to: number; readonly text: string } {
  const [change] = changes;
  if (change === undefined || changes.length > 1) throw new Error('a decision of this world raises one limit');
  return { from: millicores(change.from), to: millicores(change.to), text: change.to };
}

/** The approval that a raise needs by the annotations, told without the machine's own rules. */
function approvalAskedFor({ annotations }: World, decision: Decision): 'none' | 'before-pull-request' | 'before-merge' {
  const { from, to } = raiseOf(decision);
  const isAsked = annotations['approval'] !== undefined;
  const isLarge = to > from * Number(annotations['max-step'] ?? '2');
  if (!isAsked && !isLarge && !decision.demandByMessage) return 'none';
  return annotations['approval'] === 'before-pull-request' ? 'before-pull-request' : 'before-merge';
}

/** Whether a person approved these very values. */
function isApproved(memory: ResizeMemory, decision: Decision): boolean {
  const approval = approvalOf(memory);
  const approved = Object.entries(approval?.limits ?? {});
  return approved.length === 1 && millicores(approved[0]?.[1] ?? '') === raiseOf(decision).to;
}

/** Whether the quota is used to 80 %, or something that it denied is still missing. */
function isNeeded({ used, hard, missing }: World): boolean {
  return missing !== '0' || millicores(used) * 100 >= millicores(hard) * 80;
}
const PAUSED = { scope: 'everything', kept: 'a ConfigMap', by: 'ann', reason: '', at: null } as const;

/** What must be so at every verdict, whatever happened before. */
function check(world: World, memory: ResizeMemory, verdict: Verdict): void {
  const { observation: observed } = world.observe(memory);
  const { annotations } = world;
  const isObserved = annotations['mode'] === 'observe';
  const acts = verdict.kind !== 'hold' && verdict.kind !== 'end';
  const paused = observed.pause !== null;
  if (paused) expect(acts, 'an act while paused').toBe(false);
  if (['open', 'propose', 'merge', 'rebuild'].includes(verdict.kind)) {
    expect(isObserved || annotations['enabled'] === 'false', `${verdict.kind} while opted out or observing`).toBe(
      false,
    );
    expect(observed.quota, `${verdict.kind} without a quota`).not.toBeNull();
  }
  if (isObserved && observed.quota !== null) {
    expect(verdict.kind, 'a write to GitHub while observing').not.toBe('close');
    if (verdict.kind === 'mergedByPerson' || verdict.kind === 'closedByPerson') {
      expect(verdict.deletesBranch).toBe(false);
    }
  }
  if (verdict.kind === 'hold') checkWait(world, memory, verdict);
  if (verdict.kind === 'open' && approvalAskedFor(world, verdict.decision) === 'before-pull-request') {
    const opened = world.pullOf(verdict.decision) !== undefined;
    expect(opened || isApproved(memory, verdict.decision), 'a pull request before its approval').toBe(true);
  }
  const open = world.pulls.filter((pull) => pull.state === 'open' && !pull.left);
  expect(open.length, 'pull requests open at the same time').toBeLessThanOrEqual(1);
}

function checkWait(world: World, memory: ResizeMemory, { wait, reason }: Extract<Verdict, { kind: 'hold' }>): void {
  if (wait.until !== undefined) expect(wait.until).toBeGreaterThan(world.now);
  if (wait.until === undefined) expect(['Paused', 'GloballyPaused']).toContain(reason);
  if (wait.watch === 'pullRequest') {
    expect(wait.until ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(world.now + timings.needGone);
    expect(wait.quietUntil ?? 0).toBeLessThanOrEqual(world.now + MINUTE);
  }
  if (isUnmerged(memory.state) && wait.until !== undefined) {
    expect(wait.until).toBeLessThanOrEqual(world.now + timings.needGone);
  }
}

/** What must be so before a merge, as the world is and not as the machine says it is. */
function checkMerge(world: World, memory: ResizeMemory, verdict: Verdict): void {
  if (verdict.kind !== 'merge') return;
  const { decision } = verdict;
  const { observation: observed } = world.observe(memory);
  const pull = world.pullOf(decision);
  // A merge that has just taken place is checked before it.
  if (pull === undefined || pull.state === 'closed') return;
  const shown = world.show(pull);
  expect(shown).toMatchObject({ state: 'open', headIsOurs: true, mergeability: 'clean' });
  expect(shown.headSha).toBe(decision.pullRequest.headSha);
  expect(raiseOf(decision).text, 'the head has other values than were decided').toBe(pull.limit);
  if (shown.checks.total === 0) expect(world.now).toBeGreaterThanOrEqual(pull.pushedAt + timings.settle);
  expect(world.autoMerge && world.annotations['auto-merge'] !== 'false', 'a merge where it is not allowed').toBe(true);
  expect(world.frozen, 'a merge in a freeze').toBe(false);
  expect(observed.lease.holder).toBe(`headroom/${decision.id}`);
  const approval = approvalAskedFor(world, decision);
  if (approval !== 'none') expect(isApproved(memory, decision), 'a merge without its approval').toBe(true);
  if (approval === 'before-merge') expect(approvalOf(memory)?.headSha).toBe(shown.headSha);
  expect(isNeeded(world), 'a merge that nothing needs').toBe(true);
}

function checkAll(world: World, memory: ResizeMemory, verdict: Verdict): void {
  check(world, memory, verdict);
  checkMerge(world, memory, verdict);
}

/** Everything that stood in the way is taken away, and nothing is needed any more. */
function calm(world: World): void {
  Object.assign(world, {
    used: '0',
    missing: '0',
    pause: null,
    sourceIsMissing: false,
    fileIsBusy: false,
    githubRefuses: false,
    mergesMove: false,
    frozen: false,
    syncs: true,
    checks: 'passed',
  });
  if (world.lease.holder === 'somebody') world.lease = { ...world.lease, holder: null };
}

describe('whatever happens', () => {
  it('the machine never acts where it must not, never loops, and ends when nothing is needed any more', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(stories, (story) => {
        const world = new World();
        world.used = '9';
        const episode = new Episode(world, (at, memory, verdict) => {
          seen.add(`${verdict.kind} ${verdict.reason}`);
          checkAll(at, memory, verdict);
        });
        episode.run();
        for (const { happen, cutAfter } of story) {
          happen(world, episode);
          episode.run(cutAfter);
        }

        calm(world);
        const calmSince = world.now;
        for (let passes = 0; episode.run().kind !== 'end'; passes += 1) {
          if (passes > 400) throw new Error(`no end: ${episode.last?.reason}, ${episode.last?.detail}`);
          episode.rest();
          // People look after what was left to them within a day.
          const pull = lastPull(world);
          if (pull !== undefined && world.now > calmSince + 24 * HOUR) world.personCloses(pull);
        }
        expect(world.lease.holder, 'the lock after the end').toBeNull();
      }),
      { numRuns: RUNS },
    );
    // The stories reach every part of the machine, or the properties above would prove little.
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'propose ThresholdReached',
        'propose UnmetDemand',
        'recommend ThresholdReached',
        'open Adopted',
        'rebuild DemandGrew',
        'rebuild HeadMoved',
        'rebuild Behind',
        'rebuild Conflict',
        'merge ReadyToMerge',
        'mergedByPerson MergedByHuman',
        'closedByPerson ClosedByHuman',
        'synced Synced',
        'close Rejected',
        'close ApprovalTimedOut',
        'revise DemandGrew',
        'notify ApprovalRequired',
        'notify Approved',
        'notify Frozen',
        'hold Frozen',
        'hold ApprovalRequired',
        'hold AtMaximum',
        'close DemandGone',
        'close OptedOut',
        'close QuotaGone',
        'close QuotaReplaced',
        'release ObserverMode',
        'warnSync SyncOverdue',
        'hold ForgeRejected',
        'hold LeaseHeld',
        'hold MaxStepExceeded',
        'hold ForeignCommit',
        'hold UpdateDue',
        'hold PreviouslyRejected',
      ]),
    );
  });

  it.each([
    ['nobody approves in time', 'close ApprovalTimedOut'],
    ['the mode becomes observe before the pull request', 'release ObserverMode'],
    ['the run dies between a push and its record', 'rebuild HeadMoved'],
    ['more is needed before anybody approves', 'revise DemandGrew'],
  ])('where %s, it comes to %s', (beginning, reached) => {
    const seen = new Set<string>();
    const world = new World();
    world.used = '9';
    const episode = new Episode(world, (_world, _memory, verdict) => seen.add(`${verdict.kind} ${verdict.reason}`));
    episode.run();
    for (const { happen, cutAfter } of beginnings[beginning] ?? []) {
      happen(world, episode);
      episode.run(cutAfter);
    }
    expect([...seen]).toContain(reached);
  });

  it('use that swings above the threshold for 20 of 60 minutes opens no pull request in the cooldown after one that was closed', () => {
    const world = new World();
    world.checks = 'pending';
    let episode = new Episode(world, checkAll);
    let closedAt = 0;
    let opened = 0;
    const begin = world.now;
    const day = begin + 24 * HOUR;
    for (let minute = 0; world.now < day; minute += 1) {
      world.used = (world.now - begin) % HOUR < 20 * MINUTE ? '9' : '5';
      // Every new episode knows the quota's Lease alone.
      if (episode.last?.kind === 'end') episode = new Episode(world, checkAll);
      const before = world.pulls.length;
      const wasOpen = world.pulls.some(({ state }) => state === 'open');
      episode.run();
      if (world.pulls.length > before) {
        opened += 1;
        expect(world.now - closedAt).toBeGreaterThanOrEqual(HOUR);
      }
      if (wasOpen && world.pulls.every(({ state }) => state === 'closed')) closedAt = world.now;
      world.now = begin + (minute + 1) * MINUTE;
    }
    expect(opened).toBe(12);
  });

  it('a quota under pressure that nobody disturbs is raised, and the episode ends after the cooldown', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('8', '9', '10'),
        fc.constantFrom('0', '1', '4', '9'),
        fc.array(fc.nat({ max: 4 }), { maxLength: 6 }),
        (used, missing, cuts) => {
          const world = new World();
          Object.assign(world, { used, missing });
          const episode = new Episode(world, checkAll);
          const isMerged = () => world.pulls.some((pull) => pull.merge !== null);
          for (const steps of cuts) {
            if (isMerged()) break;
            episode.run(steps);
            // Every other time the run is terminated as well.
            if (steps % 2 === 0) episode.memory = emptyMemory();
            episode.rest();
          }
          for (let passes = 0; !isMerged(); passes += 1) {
            if (passes > 50) throw new Error(`no merge: ${episode.last?.reason}, ${episode.last?.detail}`);
            // Twice the limit is the most without an approval.
            if (episode.run().reason === 'MaxStepExceeded') {
              const outcome = command(episode.memory, 'approve', { by: 'ann', reason: '' }, world.now);
              if (outcome.kind === 'done') episode.memory = outcome.memory;
            }
            episode.rest();
          }
          expect(world.pulls).toHaveLength(1);
          world.used = '1';
          world.missing = '0';
          for (let passes = 0; episode.run().kind !== 'end'; passes += 1) {
            if (passes > 50) throw new Error(`no end: ${episode.last?.reason}`);
            episode.rest();
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('a demand that grows every ten minutes postpones a merge by Headroom only so long, however slow the checks are', () => {
    fc.assert(
      fc.property(fc.nat({ max: 300 }), fc.constantFrom('0', '5', '60', '240'), (checksTake, cooldown) => {
        const world = new World();
        world.annotations = { 'cooldown-minutes': cooldown, 'max-step': '1000', burst: 'fill' };
        Object.assign(world, { used: '10', missing: '1', checksTake: checksTake * MINUTE });
        const episode = new Episode(world, checkAll);
        const begin = world.now;
        const included = Math.max(Number(cooldown) * MINUTE, timings.updateInterval);
        const latest = 2 * Math.max(included, world.checksTake) + world.checksTake + 3 * timings.updateInterval;
        while (world.pulls.every(({ merge }) => merge === null)) {
          episode.run();
          if (world.now - begin > latest)
            throw new Error(`not merged: ${episode.last?.reason}, ${episode.last?.detail}`);
          world.now += MINUTE;
          world.missing = String(1 + Math.floor((world.now - begin) / timings.updateInterval));
        }
        // What came meanwhile is in it, but for what came too late.
        const grown = Math.floor(Math.min(world.now - begin, included) / timings.updateInterval) - 1;
        const [pull] = world.pulls;
        expect(millicores(pull?.limit ?? '0')).toBeGreaterThanOrEqual(11_000 + grown * 1_000);
      }),
      { numRuns: 50 },
    );
  });

  it('a demand that grows while people are to merge grows in the pull request, whatever its age', () => {
    for (const annotations of [{ 'auto-merge': 'false' }, { approval: 'before-merge' }]) {
      const world = new World();
      world.annotations = { 'max-step': '1000', burst: 'fill', ...annotations };
      Object.assign(world, { used: '10', missing: '1' });
      const episode = new Episode(world, checkAll);
      const begin = world.now;
      while (world.now - begin < 24 * HOUR) {
        episode.run();
        world.now += MINUTE;
        world.missing = String(1 + Math.floor((world.now - begin) / timings.updateInterval));
      }
      expect(millicores(world.pulls[0]?.limit ?? '0')).toBeGreaterThanOrEqual(150_000);
    }
  });
});
