import { describe, expect, it } from 'vitest';
import { evaluateOrphan, type Orphan } from '../../../../domain/quota-resize/decide/orphan.ts';
import {
  decision,
  HOUR,
  lease,
  mergedDecision,
  MINUTE,
  NOW,
  observation,
  openDecision,
  policy,
  quota,
} from '../model/observations.ts';

const lost: Orphan = { isOwn: true, reopened: null };
const reopened: Orphan = { isOwn: true, reopened: { by: 'alice', at: NOW - MINUTE } };
const pressed = { quota: quota({ used: { 'requests.cpu': '9' } }) };
const calm = { quota: quota({ used: { 'requests.cpu': '1' } }) };

/** A rejection of what the pressure asks for. */
function rejectedAt(at: number) {
  return { limits: { 'requests.cpu': '12' }, at, by: 'bob', reason: '' };
}

function evaluate(observed: Parameters<typeof observation>[0], orphan: Orphan = reopened) {
  return evaluateOrphan(observation(observed), orphan, NOW);
}

describe('an open pull request that no decision is about', () => {
  it('is taken over where its quota needs it, also one that a person reopened in spite of a rejection', () => {
    expect(evaluate(pressed)).toEqual({ kind: 'takeOver' });
    expect(evaluate({ ...pressed, lease: lease({ rejections: [rejectedAt(NOW - HOUR)] }) })).toEqual({
      kind: 'takeOver',
    });
    // In the same minute: two clocks are compared, and one has whole seconds.
    expect(evaluate({ ...pressed, lease: lease({ rejections: [rejectedAt(NOW - MINUTE / 2)] }) })).toEqual({
      kind: 'takeOver',
    });
    // The cooldown delays it, and is no reason to close it.
    expect(evaluate({ ...pressed, lease: lease({ lastModified: NOW - MINUTE }) })).toEqual({ kind: 'takeOver' });
  });

  it('is closed with who rejected it, where nobody has reopened it since', () => {
    const why =
      'bob rejected requests.cpu 10 → 12 at 2026-11-20T09:00:00Z, and Headroom does not ask for it before 2026-11-21T09:00:00Z';
    const before = { ...pressed, lease: lease({ rejections: [rejectedAt(NOW - HOUR)] }) };
    expect(evaluate(before, lost)).toEqual({ kind: 'close', why });
    const early: Orphan = { isOwn: true, reopened: { by: 'alice', at: NOW - 2 * HOUR } };
    expect(evaluate(before, early)).toEqual({ kind: 'close', why });
  });

  it('is closed with why nothing is raised', () => {
    expect(evaluate(calm)).toEqual({
      kind: 'close',
      why: 'every resource is below its threshold, and no workload needs more',
    });
    expect(evaluate({ ...pressed, policy: policy({ enabled: 'false' }) })).toMatchObject({
      why: 'the namespace opted out (resizer.io/enabled is "false")',
    });
    expect(evaluate({ ...pressed, quota: null })).toMatchObject({ why: 'the ResourceQuota is deleted' });
    expect(evaluate({ ...pressed, namespace: 'gone' })).toMatchObject({ why: 'the namespace is deleted' });
    expect(evaluate({ ...pressed, policy: policy({ 'cpu-max': '10' }) })).toMatchObject({
      kind: 'close',
      why: expect.stringContaining('resizer.io/cpu-max'),
    });
  });

  it('is closed beside the one that raises the quota, and after a merge', () => {
    const open = openDecision();
    const held = { holder: `headroom/${open.id}`, decision: open };
    expect(evaluate({ ...pressed, lease: lease(held) })).toEqual({
      kind: 'close',
      why: `pull request #${open.pullRequest.number} raises this quota`,
    });
    const merged = mergedDecision();
    expect(evaluate({ ...pressed, lease: lease({ decision: merged }) })).toEqual({
      kind: 'close',
      why: `decision ${merged.id} for this quota is merged, and the cluster has yet to follow`,
    });
  });

  it('is left to a decision that opens its own now, to another holder of the Lease, and while Headroom may not write', () => {
    const locked = decision();
    const pause = { scope: 'target', kept: 'a key', by: 'bob', reason: '', at: NOW } as const;
    for (const observed of [
      { lease: lease({ holder: `headroom/${locked.id}`, decision: locked }) },
      { lease: lease({ holder: 'somebody' }) },
      { pause },
      { policy: policy({ mode: 'observe' }) },
    ]) {
      for (const usage of [pressed, calm]) expect(evaluate({ ...usage, ...observed })).toMatchObject({ kind: 'leave' });
    }
  });

  it('is people’s where they committed to it, whether the quota needs it or not', () => {
    for (const usage of [pressed, calm]) {
      expect(evaluate(usage, { ...reopened, isOwn: false })).toMatchObject({ kind: 'leaveToPeople' });
    }
  });
});
