import { describe, expect, it } from 'vitest';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { gateOfDecision } from '../../../../domain/quota-resize/decide/approval-requirement.ts';
import type { Companion } from '../../../../domain/quota-resize/model/decision.ts';
import type { ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import type { QuotaObservation, SiblingQuota } from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  change,
  decideOpenAt,
  demand,
  HEAD,
  HOUR,
  lease,
  memory,
  mergedDecision,
  MINUTE,
  NOW,
  observation,
  policy,
  quota,
  ref,
  type Remembered,
} from '../model/observations.ts';

const web = demand({ 'requests.cpu': '2', pods: '4' });

/** `uid-1` misses cpu for the same workload whose pods the sibling counts. */
function sibling(changed: Partial<SiblingQuota> = {}): SiblingQuota {
  return {
    name: 'objects',
    quota: { uid: 'uid-2', hard: { pods: '10' }, used: { pods: '10' } },
    policy: policy(),
    demand: [demand({ pods: '4' })],
    contradictions: [],
    hints: [],
    lease: lease({ name: 'state-team-a-objects' }),
    ...changed,
  };
}

function look(changed: Partial<QuotaObservation> = {}): QuotaObservation {
  return observation({ demand: [web], siblings: [sibling()], ...changed });
}

/** The verdict once the need has stood still. */
function settled(quota: QuotaObservation, remembered: Remembered = {}, now = NOW): readonly [ResizeMemory, Verdict] {
  const [first] = decide({ quota, pullRequest: null }, memory(remembered), now - MINUTE);
  return decide({ quota, pullRequest: null }, first, now);
}

const companions = (verdict: Verdict) =>
  verdict.kind === 'propose' ? verdict.companions.map((companion) => companion.quota) : verdict.kind;

describe('quotas that miss room for the same workloads', () => {
  it('are raised by one decision, that of the smallest UID', () => {
    const [, verdict] = settled(look());
    expect(companions(verdict)).toEqual(['objects']);
    expect(verdict.detail).toContain('; quota objects: pods 10 →');
  });

  it('leave the first word to it, and have their own when nothing comes of it', () => {
    const other = sibling({ quota: { uid: 'uid-0', hard: { pods: '10' }, used: { pods: '10' } } });
    const [waiting, verdict] = settled(look({ siblings: [other] }));
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'SiblingFirst' });
    const [, later] = settled(look({ siblings: [other] }), waiting, NOW + HOUR);
    expect(companions(later)).toEqual([]);
  });

  it('leave the first word to nobody where a threshold alone is the cause', () => {
    const other = sibling({ quota: { uid: 'uid-0', hard: { pods: '10' }, used: { pods: '10' } } });
    expect(companions(settled(look({ demand: [], siblings: [other] }))[1])).toEqual([]);
  });

  it('are raised together again as soon as the cooldown of the other one is over', () => {
    const changedAt = (lastModified: number) => look({ siblings: [sibling({ lease: lease({ lastModified }) })] });
    expect(companions(settled(changedAt(NOW - HOUR + 1))[1])).toEqual([]);
    expect(companions(settled(changedAt(NOW - HOUR))[1])).toEqual(['objects']);
  });

  it('that another one carries wait for its pull request and say whose it is', () => {
    const carried = lease({ holder: 'headroom/0a1b2c3d', carriedBy: 'compute' });
    const [, verdict] = settled(look({ lease: carried, siblings: [] }));
    expect(verdict).toMatchObject({ kind: 'hold', phase: 'AwaitingMerge', reason: 'CarriedBySibling' });
    expect(verdict.detail).toContain('quota compute');
  });

  it.each<[string, Partial<SiblingQuota>]>([
    ['is opted out', { policy: policy({ enabled: 'false' }) }],
    ['only observes', { policy: policy({ mode: 'observe' }) }],
    ['is not merged by Headroom', { policy: policy({ 'auto-merge': 'false' }) }],
    ['needs an approval', { policy: policy({ approval: 'before-merge' }) }],
    ['is locked', { lease: lease({ holder: 'somebody' }) }],
    ['awaits the sync of its merge', { lease: lease({ decision: mergedDecision() }) }],
    ['cools down', { lease: lease({ lastModified: NOW - MINUTE }) }],
    [
      'was refused',
      { lease: lease({ refusals: [{ limits: { pods: '100' }, at: NOW - MINUTE, by: 'ann', reason: '' }] }) },
    ],
    ['has room enough', { demand: [] }],
  ])('go separate ways where one of them %s', (_, changed) => {
    expect(companions(settled(look({ siblings: [sibling(changed)] }))[1])).toEqual([]);
  });

  it('go together to the same approval, whichever of them needs one', () => {
    const theirs = settled(look({ siblings: [sibling({ policy: policy({ 'max-step': '1' }) })] }))[1];
    if (theirs.kind !== 'propose') throw new Error(theirs.kind);
    const gate = gateOfDecision(policy(), { changes: theirs.proposal.changes, companions: theirs.companions });
    expect(gate).toMatchObject({ reason: 'MaxStepExceeded', message: expect.stringContaining('quota objects: pods') });
    const ours = settled(look({ policy: policy({ 'max-step': '1' }) }))[1];
    expect(companions(ours)).toEqual(['objects']);
  });

  it('go separate ways where a threshold alone is the cause', () => {
    expect(companions(settled(look({ demand: [] }))[1])).toEqual([]);
  });
});

describe('the companions of an open pull request', () => {
  const companion = (changed: Partial<Companion> = {}): Companion => ({
    quota: 'objects',
    quotaUid: 'uid-2',
    changes: [change({ resource: 'pods', from: '10', to: '18' })],
    gate: null,
    hints: [],
    ...changed,
  });
  const open = (siblings: readonly SiblingQuota[], held: readonly Companion[] = [companion()]) =>
    decideOpenAt(NOW, {
      decision: { changes: [change({ to: '14' })], companions: held, pullRequest: ref({ pushedAt: NOW - HOUR }) },
      look: { demand: [web], quota: quota({ used: { 'requests.cpu': '9' } }), siblings },
    })[1];
  const carried = { lease: lease({ holder: 'headroom/0a1b2c3d', carriedBy: 'compute' }) };

  it('are merged with it while they still need it', () => {
    expect(open([sibling(carried)])).toMatchObject({ kind: 'merge', decision: { companions: [{ quota: 'objects' }] } });
  });

  it('stay as they are where nothing of theirs is missing by now', () => {
    expect(open([sibling({ ...carried, demand: [] })])).toMatchObject({
      kind: 'merge',
      decision: { companions: [{ quota: 'objects', changes: [{ to: '18' }] }] },
    });
  });

  it('grow with the demand, and what was approved for less is approved no more', () => {
    const more = sibling({ ...carried, demand: [demand({ pods: '14' })] });
    const grown = open([more]);
    expect(grown).toMatchObject({ kind: 'rebuild', reason: 'NeedGrew' });
    if (grown.kind !== 'rebuild') throw new Error(grown.kind);
    expect(grown.decision.companions?.[0]?.changes[0]?.to).toBe('31');
    expect(grown.decision.approvedBy).toBeUndefined();
  });

  it.each<[string, readonly SiblingQuota[]]>([
    ['needs nothing any more', []],
    ['opted out', [sibling({ ...carried, policy: policy({ enabled: 'false' }) })]],
    ['only observes now', [sibling({ ...carried, policy: policy({ mode: 'observe' }) })]],
    ['has a freeze of its own', [sibling({ ...carried, policy: policy({ 'freeze-until': '2030-01-01' }) })]],
    ['is another quota of that name', [sibling({ ...carried, quota: { ...sibling().quota, uid: 'uid-9' } })]],
  ])('are taken out before a merge where one of them %s', (_, siblings) => {
    expect(open(siblings)).toMatchObject({ kind: 'rebuild', reason: 'CompanionLeft', released: ['objects'] });
  });

  it('that stay are approved no more where another one left after the approval', () => {
    const held = [companion(), companion({ quota: 'claims', quotaUid: 'uid-3' })];
    const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '14' }, headSha: HEAD };
    const [, verdict] = decideOpenAt(NOW, {
      decision: { changes: [change({ to: '14' })], companions: held, approvedBy: 'ann' },
      look: { demand: [web], siblings: [sibling(carried)] },
      memory: { approval },
    });
    if (verdict.kind !== 'rebuild') throw new Error(verdict.kind);
    expect(verdict.released).toEqual(['claims']);
    expect(verdict.decision.companions).toMatchObject([{ quota: 'objects' }]);
    expect(verdict.decision.approvedBy).toBeUndefined();
  });
});
