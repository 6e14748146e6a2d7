import { describe, expect, it } from 'vitest';
import type { Rejection } from '../../../../domain/quota-resize/model/decision.ts';
import { keptRejections, NOBODY } from '../../../../domain/quota-resize/model/rejections.ts';

function rejection(at: number, by: string, limits: Rejection['limits']): Rejection {
  return { at, by, limits, reason: '' };
}

/** So many that nobody answered, each of another resource. */
function unanswered(count: number, from: number): readonly Rejection[] {
  return Array.from({ length: count }, (_, n) => rejection(from + n, NOBODY, { [`count/x${n}`]: '1' }));
}

describe('the rejections that are remembered', () => {
  it('of people stay, however many nobody has answered since', () => {
    const ofAnn = rejection(1, 'ann', { 'requests.cpu': '12' });
    const kept = keptRejections([ofAnn, ...unanswered(30, 10)]);
    expect(kept).toHaveLength(20);
    expect(kept[0]).toEqual(ofAnn);
    expect(kept.at(-1)?.at).toBe(39);
  });

  it('are not pushed out by greater ones of the same resource', () => {
    const memory = rejection(1, 'ann', { 'requests.memory': '4Gi' });
    const cpu = Array.from({ length: 30 }, (_, n) => rejection(10 + n, 'ann', { 'requests.cpu': String(10 + n) }));
    expect(keptRejections([memory, ...cpu])).toEqual([memory, cpu.at(-1)]);
  });

  it('of a person are not covered by one that nobody answered', () => {
    const ofAnn = rejection(1, 'ann', { 'requests.cpu': '12' });
    const later = rejection(2, NOBODY, { 'requests.cpu': '13' });
    expect(keptRejections([ofAnn, later, ...unanswered(20, 10)])).toContainEqual(ofAnn);
  });

  it('and that the forge tells of stay, however many were given in a claimed name since', () => {
    const closed: Rejection = { ...rejection(1, 'ann', { 'requests.cpu': '12' }), verified: 'forge' };
    const claimed = Array.from({ length: 30 }, (_, n) => rejection(10 + n, `eve-${n}`, { [`count/x${n}`]: '1' }));
    const greater = rejection(50, 'eve', { 'requests.cpu': '13' });
    expect(keptRejections([closed, ...claimed, greater])).toContainEqual(closed);
  });

  it('are all of them while they are few, the oldest first', () => {
    const few = [rejection(2, 'ann', { pods: '9' }), rejection(1, NOBODY, { pods: '8' })];
    expect(keptRejections(few).map(({ at }) => at)).toEqual([1, 2]);
  });
});
