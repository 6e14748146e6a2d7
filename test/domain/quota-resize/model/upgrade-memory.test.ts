import { describe, expect, it } from 'vitest';
import { emptyMemory, type ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import { upgradeMemory } from '../../../../domain/quota-resize/model/upgrade-memory.ts';

/** A memory as the release before the states wrote it, with a decision that has no pull request yet. */
const VERSION_1 = `{
  "version": 1,
  "quotaUid": "uid-1",
  "decision": {
    "id": "0a1b2c3d", "quotaUid": "uid-1", "decidedAt": 1763625600000,
    "changes": [{ "resource": "requests.cpu", "from": "10", "to": "12", "used": "9", "demand": "0", "reason": "full" }],
    "evidence": [], "demandByMessage": false, "gate": null,
    "source": { "repository": "acme/gitops", "base": "main", "how": "in acme/gitops, by its name" },
    "approvedBy": "ann", "pullRequest": null, "merge": null
  },
  "finished": "ffff0000",
  "approval": { "by": "ann", "at": 1763625601000, "reason": "", "limits": { "requests.cpu": "12" }, "headSha": "" },
  "rejection": { "by": "bob", "at": 1763625602000, "reason": "no budget" },
  "paused": { "by": "ann", "at": 1763625603000, "reason": "a freeze" },
  "need": { "digest": "requests.cpu=12", "since": 1763625600000, "firstSeen": 1763625599000 },
  "needGoneSince": 1763625604000,
  "updates": 2,
  "closing": { "reason": "NeedGone", "detail": "gone" },
  "mode": "propose",
  "tried": { "key": "open", "count": 3, "at": 1763625605000 },
  "blocked": null,
  "lastRecommendation": { "limits": { "requests.cpu": "12" }, "at": 1763625598000 },
  "refusals": [{ "limits": { "pods": "20" }, "at": 1763625500000, "by": "jane", "reason": "too much" }],
  "lastChange": 1763600000000,
  "cooldownSkippedAt": 1763600001000,
  "syncWarnedAt": null,
  "syncCheckedAt": null,
  "awaiting": { "key": "x", "since": 1763625601000, "remindedAt": 1763625601000 },
  "told": ["approval|x"],
  "yieldedSince": 1763625600500
}`;

const PULL_REQUEST = {
  number: 7,
  url: 'https://git.example/acme/gitops/pull/7',
  repository: 'acme/gitops',
  branch: 'headroom/prod/team-a/compute/0a1b2c3d',
  base: 'main',
  path: 'quota.yaml',
  headSha: 'f'.repeat(40),
  openedAt: 1_763_625_606_000,
  pushedAt: 1_763_625_606_000,
};
const MERGE = { sha: 'f00', at: 1_763_625_700_000, by: 'ann', limits: { 'requests.cpu': '12' } };

type Version1 = { version: 1; decision: object } & Record<string, unknown>;

/** The literal with some fields of it, or of its decision, as they were in another situation. */
function version1(changed: object = {}, ofDecision: object = {}): Version1 {
  const memory = JSON.parse(VERSION_1) as Version1;
  return { ...memory, decision: { ...memory.decision, ...ofDecision }, ...changed };
}

const { gate, ...DECIDED } = version1().decision as { gate: null };
const DECISION = { ...DECIDED, approvalRequirement: gate };
const review = {
  approval: { by: 'ann', at: 1_763_625_601_000, reason: '', limits: { 'requests.cpu': '12' }, headSha: '' },
  rejection: { by: 'bob', at: 1_763_625_602_000, reason: 'no budget' },
  awaiting: { key: 'x', since: 1_763_625_601_000, remindedAt: 1_763_625_601_000 },
  demandGoneSince: 1_763_625_604_000,
  closing: { reason: 'DemandGone', detail: 'gone' },
};

describe('a carried memory', () => {
  it('is empty at first, and of this release survives JSON', () => {
    expect(upgradeMemory(undefined)).toEqual(emptyMemory());
    const existing = upgradeMemory(version1());
    expect(upgradeMemory(JSON.parse(JSON.stringify(existing)) as ResizeMemory)).toEqual(existing);
  });

  it('of this release before a field was added gets that field', () => {
    const { emitted: _, ...older } = upgradeMemory(version1());
    expect(upgradeMemory(older)).toEqual({ ...older, emitted: [] });
  });

  it('of a newer release is not guessed at', () => {
    expect(() => upgradeMemory({ version: 4 })).toThrow(
      'the carried memory has version 4, this worker knows up to 3: run a worker of the newer release',
    );
  });
});

describe('a carried memory of version 2', () => {
  it('has its decision and its reasons under the names of today', () => {
    const today = upgradeMemory(version1());
    const written = { ...version1().decision, companions: [] };
    const closing = { reason: 'NeedGone', detail: 'gone' };
    const state = { kind: 'Locked', decision: written, ...review, closing };
    const decision = { ...DECISION, batchedQuotas: [] };
    expect(upgradeMemory({ ...today, version: 2, state } as unknown as { version: number })).toEqual({
      ...today,
      state: { ...today.state, decision },
    });
    const idle = { kind: 'Idle', demand: null, yieldedSince: null };
    expect(upgradeMemory({ ...today, version: 2, state: idle } as unknown as { version: number }).state).toEqual(idle);
  });
});

describe('a carried memory of version 1', () => {
  it('with a decision that has no pull request is Locked, and nothing is lost but a pause, which is kept outside of the run', () => {
    expect(upgradeMemory(version1())).toEqual({
      version: 3,
      state: { kind: 'Locked', decision: DECISION, ...review },
      attempt: { kind: 'tried', key: 'open', count: 3, at: 1_763_625_605_000 },
      quotaUid: 'uid-1',
      mode: 'propose',
      finished: 'ffff0000',
      lastRecommendation: { limits: { 'requests.cpu': '12' }, at: 1_763_625_598_000 },
      rejections: [{ limits: { pods: '20' }, at: 1_763_625_500_000, by: 'jane', reason: 'too much' }],
      lastChange: 1_763_600_000_000,
      lastWithdrawal: null,
      cooldownSkippedAt: 1_763_600_001_000,
      emitted: ['approval|x'],
      notified: [],
    });
  });

  it('with a pull request is Open', () => {
    expect(upgradeMemory(version1({}, { pullRequest: PULL_REQUEST })).state).toEqual({
      kind: 'Open',
      decision: { ...DECISION, pullRequest: PULL_REQUEST },
      ...review,
    });
  });

  it('with a merge is Merged, with the warning of a sync that is overdue', () => {
    const merged = { pullRequest: PULL_REQUEST, merge: MERGE };
    const decision = { ...DECISION, ...merged };
    expect(upgradeMemory(version1({}, merged)).state).toEqual({ kind: 'Merged', decision, overdue: null });
    const warned = { syncWarnedAt: 1_763_630_000_000, syncCheckedAt: 1_763_630_300_000 };
    expect(upgradeMemory(version1(warned, merged)).state).toEqual({
      kind: 'Merged',
      decision,
      overdue: { warnedAt: 1_763_630_000_000, checkedAt: 1_763_630_300_000 },
    });
  });

  it('without a decision is Idle, with the demand and whom it yielded to since when', () => {
    expect(upgradeMemory(version1({ decision: null })).state).toEqual({
      kind: 'Idle',
      demand: { digest: 'requests.cpu=12', since: 1_763_625_600_000, firstSeen: 1_763_625_599_000 },
      yieldedSince: 1_763_625_600_500,
    });
  });

  it('that was blocked is blocked still', () => {
    const blocked = { reason: 'FileBusy', message: 'busy', at: 1_763_625_605_000, key: 'propose' };
    expect(upgradeMemory(version1({ tried: null, blocked })).attempt).toEqual({ kind: 'blocked', ...blocked });
  });

  it('of a run before a field was added has what an empty one has there', () => {
    expect(upgradeMemory({ version: 1 })).toEqual(emptyMemory());
  });
});
