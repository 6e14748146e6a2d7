import { describe, expect, it } from 'vitest';
import { parseQuantity } from '../../../../domain/kernel/quantity.ts';
import { BUILT_IN_GUARDRAIL, inForce } from '../../../../domain/quota-resize/policy/guardrail.ts';
import { type RecordedRaise, withRaise } from '../../../../domain/quota-resize/policy/recorded-raise.ts';
import { growthLimits } from '../../../../domain/quota-resize/policy/unattended-limit.ts';
import { computeRequirement } from '../../../../domain/quota-resize/sizing/requirement.ts';
import { cpu, demand, HOUR, NOW, observation, policy } from '../model/observations.ts';

const DAY = 24 * HOUR;
const rules = { guardrail: inForce(BUILT_IN_GUARDRAIL), maxStep: '1000' };

function raise(from: string, to: string, at: number, id = `d-${at}`): RecordedRaise {
  return { decision: id, at, from: { 'requests.cpu': from }, to: { 'requests.cpu': to } };
}

function limitOf(hard: string, raises: readonly RecordedRaise[], now = NOW): string | undefined {
  return growthLimits(rules, { 'requests.cpu': hard }, raises, now)[0]?.limit;
}

/** The limit after so many hours, in each of which the quota is full; with auto-merge, and no person. */
function afterHours(hours: number, missing: string, annotations: Readonly<Record<string, string>> = {}): string {
  let hard = '10';
  let raises: readonly RecordedRaise[] = [];
  for (let hour = 0; hour < hours; hour += 1) {
    const now = NOW + hour * HOUR;
    const needed = computeRequirement(
      observation({
        policy: {
          ...policy(annotations),
          unattended: growthLimits(policy(annotations), { 'requests.cpu': hard }, raises, now),
        },
        quota: cpu(hard, hard),
        demand: missing === '0' ? [] : [demand({ 'requests.cpu': missing }, { lastSeen: now })],
      }),
      null,
    );
    if (needed === null || needed.approvalRequirement !== null) continue;
    const to = needed.changes[0]?.to ?? hard;
    raises = withRaise(raises, raise(hard, to, now), now);
    hard = to;
  }
  return hard;
}

describe('growth without a person', () => {
  it.each([
    ['by the threshold', '0', {}],
    ['by demand without end', '1000000', { 'max-step': '1000' }],
    ['by a minimum', '0', { 'cpu-min': '40000', 'max-step': '1000' }],
  ])('in a day stays within four times, however often it grows %s', (_, missing, annotations) => {
    const hard = Number(afterHours(20, missing, annotations).replace(/m$/, 'e-3'));
    expect(hard).toBeLessThanOrEqual(40);
  });

  it('in a week stays within sixteen times', () => {
    let hard = 10;
    let raises: readonly RecordedRaise[] = [];
    for (let hour = 0; hour < 7 * 24; hour += 1) {
      const now = NOW + hour * HOUR;
      const to = hard * 2;
      const limit = limitOf(String(hard), raises, now);
      if (limit !== undefined && to > Number(limit)) continue;
      raises = withRaise(raises, raise(String(hard), String(to), now), now);
      hard = to;
    }
    expect(hard).toBe(160);
  });

  it('begins anew when the day is over', () => {
    const raises = [raise('10', '20', NOW), raise('20', '40', NOW + HOUR)];
    expect(limitOf('40', raises, NOW + 2 * HOUR)).toBe('40');
    expect(limitOf('40', raises, NOW + DAY)).toBe('80');
    expect(limitOf('40', raises, NOW + DAY + HOUR)).toBe('160');
  });

  it('counts from today’s limit where nothing is remembered, as after a lost Lease', () => {
    expect(limitOf('100', [])).toBe('400');
  });

  it('does not count what people raised in between', () => {
    // Headroom doubled 10 to 20, a person then 20 to 50, which is the same as if it had been 25 at first.
    expect(limitOf('50', [raise('10', '20', NOW - HOUR)])).toBe('100');
    expect(limitOf('100', [raise('10', '20', NOW - 2 * HOUR), raise('50', '100', NOW - HOUR)])).toBe('100');
  });

  it('counts from a limit that people lowered', () => {
    expect(limitOf('5', [raise('10', '40', NOW - HOUR)])).toBe('20');
    expect(limitOf('10', [raise('10', '40', NOW - HOUR)])).toBe('40');
  });

  it('does not count what a person approved, and counts what the forge has not answered yet', () => {
    const one = raise('10', '20', NOW - HOUR);
    expect(limitOf('20', [{ ...one, isApproved: true }])).toBe('80');
    expect(limitOf('20', [{ ...one, isPending: true }])).toBe('40');
  });

  it('says which guardrail it is, in words', () => {
    const [limit] = growthLimits(
      { ...rules, maxStep: '3' },
      { 'requests.cpu': '20' },
      [raise('10', '20', NOW - HOUR)],
      NOW,
    );
    expect(limit).toEqual({
      resource: 'requests.cpu',
      limit: '40',
      why: 'the most that guardrail built-in allows in 24 hours without a person (4 × 10 CPU)',
    });
  });

  it('is bounded for each resource by itself, and not where max-step is stricter', () => {
    const hard = { 'requests.cpu': '40', pods: '10', 'limits.cpu': '0' };
    expect(growthLimits({ ...rules, maxStep: '2' }, hard, [raise('10', '40', NOW - HOUR)], NOW)).toMatchObject([
      { resource: 'requests.cpu', limit: '40' },
    ]);
  });
});

describe('settle', () => {
  const missing = (amount: string, changed: Parameters<typeof policy>[0] = {}) =>
    computeRequirement(
      observation({ policy: policy(changed), quota: cpu('10'), demand: [demand({ 'requests.cpu': amount })] }),
      null,
    );

  it('never makes a raise that fits below max-step wait for a person', () => {
    const needed = missing('6');
    expect(needed?.changes[0]).toMatchObject({ to: '20' });
    expect(needed?.changes[0]?.reason).toContain('A larger raise would wait for a person');
    expect(needed?.approvalRequirement).toBeNull();
  });

  it('is not cut where what is missing needs a person anyway', () => {
    const needed = missing('12');
    expect(needed?.approvalRequirement?.reason).toBe('MaxStepExceeded');
    expect(parseQuantity(needed?.changes[0]?.to ?? '0').nano).toBeGreaterThan(parseQuantity('22').nano);
  });

  it('is cut to whole steps', () => {
    expect(missing('6', { steps: 'cpu=3' })?.changes[0]?.to).toBe('18');
  });

  it('waits where no whole step is in between', () => {
    expect(missing('6', { steps: 'cpu=15' })).toMatchObject({
      changes: [{ to: '30' }],
      approvalRequirement: { reason: 'MaxStepExceeded' },
    });
  });
});
