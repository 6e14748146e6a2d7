import { describe, expect, it } from 'vitest';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import type { QuotaObservation, WorkloadDemand } from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import { cpu, demand, memory, NOW, observation, SECOND } from '../model/observations.ts';

/** A ReplicaSet of its own that misses two pods of 500m. */
function refused(name: string, changed: Partial<WorkloadDemand> = {}): WorkloadDemand {
  return demand({ 'requests.cpu': '1' }, { workload: { kind: 'ReplicaSet', name, uid: `uid-${name}` }, ...changed });
}

const working = { kind: 'ReplicaSet', name: 'web-5d9', uid: 'uid-web-5d9' };

/** What each of these observations decides, made as soon as the one before asks for it and never before `at`. */
function passes(
  seen: readonly (Partial<QuotaObservation> & { readonly at?: number })[],
): readonly { readonly after: number; readonly verdict: Verdict }[] {
  let remembered = memory();
  let now = NOW;
  return seen.map(({ at = 0, ...changed }) => {
    now = Math.max(now, NOW + at);
    const after = now - NOW;
    const [next, verdict] = decide(
      { observation: observation({ quota: cpu('10'), ...changed }), pullRequest: null },
      remembered,
      now,
    );
    remembered = next;
    if (verdict.kind === 'hold') now = verdict.wait.until ?? now;
    return { after, verdict };
  });
}

/** The milliseconds after which something is proposed; null while it is not. */
function proposedAfter(seen: Parameters<typeof passes>[0]): number | null {
  return passes(seen).find(({ verdict }) => verdict.kind === 'propose')?.after ?? null;
}

const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);

describe('a demand settles by evidence', () => {
  it('of a workload whose owner is done, 400 ms after it was seen', () => {
    expect(proposedAfter(times(3, { demand: [refused('web')] }))).toBe(400);
  });

  it('counted from when it was read, and never by one observation, however long that took', () => {
    const web = { demand: [refused('web')] };
    expect(proposedAfter([{ ...web, demandAge: 150 }, ...times(2, web)])).toBe(250);
    const late = { ...web, demandAge: 5_000 };
    expect(passes([late, late]).map(({ verdict }) => verdict.kind)).toEqual(['hold', 'propose']);
    expect(passes([late])[0]?.verdict).toMatchObject({ wait: { until: NOW } });
  });

  it('of an owner that still creates pods, once it is done, and by the longest settling if it never is', () => {
    const busy = { demand: [refused('web')], unsettled: [working] };
    expect(proposedAfter([busy, busy, { demand: [refused('web')] }])).toBe(800);
    expect(proposedAfter(times(20, busy))).toBe(2_000);
    const [first] = passes([busy]);
    expect(first?.verdict.detail).toContain('waits until ReplicaSet web-5d9 has created what it can');
  });

  it('anew when more of it is missing, although the limit is the same', () => {
    const more = { demand: [refused('web', { missing: 3 })] };
    expect(proposedAfter([{ demand: [refused('web')] }, more, more])).toBe(800);
  });

  it('of a rollout of ten Deployments in three seconds as a whole, however unevenly they come', () => {
    for (const gaps of [times(9, 333), [390, 250, 700, 200, 100, 390, 600, 300, 70]]) {
      const createdAt = [0, ...gaps.map((_, index) => gaps.slice(0, index + 1).reduce((a, b) => a + b))];
      // A refusal is seen by each observation from then on.
      const names = (at: number): readonly string[] =>
        createdAt.flatMap((created, index) => (created <= at ? [`web-${index}`] : []));
      let remembered = memory();
      let at = 0;
      let verdict: Verdict | null = null;
      while (verdict === null || verdict.kind === 'hold') {
        [remembered, verdict] = decide(
          {
            observation: observation({ quota: cpu('10'), demand: names(at).map((name) => refused(name)) }),
            pullRequest: null,
          },
          remembered,
          NOW + at,
        );
        if (verdict.kind === 'hold') at = (verdict.wait.until ?? 0) - NOW;
      }
      expect(verdict).toMatchObject({ kind: 'propose', proposal: { changes: [{ demand: '10' }] } });
      expect(at).toBeLessThan(3_000 + 2 * SECOND);
    }
  });

  it('by the clock where the refused object has no owner that could be asked, or none was refused', () => {
    expect(proposedAfter(times(3, { demand: [refused('web', { basis: 'message' })] }))).toBe(2_000);
    expect(proposedAfter(times(3, { quota: cpu('9') }))).toBe(2_000);
  });

  it('and a refusal while a threshold is waited for is seen at once', () => {
    const [first] = passes([{ quota: cpu('9') }]);
    expect(first?.verdict).toMatchObject({ wait: { until: NOW + 2_000, quietUntil: NOW + 400 } });
  });

  it('and its place in Git is looked up meanwhile, with the limits that will be proposed', () => {
    const [first, second] = passes(times(2, { demand: [refused('web')] }));
    if (second?.verdict.kind !== 'propose') throw new Error('nothing is proposed');
    const limits = Object.fromEntries(second.verdict.proposal.changes.map(({ resource, to }) => [resource, to]));
    expect(first?.verdict).toMatchObject({ reason: 'DemandDebouncing', wait: { placing: limits } });
  });
});
