import { describe, expect, it } from 'vitest';
import { lackOf } from '../../../activities/lights-out/readiness.ts';

function object(replicas: number, status: object, generation = 2) {
  return { metadata: { generation }, spec: { replicas }, status: { observedGeneration: 2, ...status } };
}

describe('what a workload lacks', () => {
  it.each([
    ['nothing when as many are ready as it was given back', 'Up', 3, object(3, { readyReplicas: 3 }), null],
    ['ready pods while there are fewer', 'Up', 3, object(3, { readyReplicas: 2 }), '2 of 3 ready'],
    [
      'its controller, which has not seen the change',
      'Up',
      3,
      object(3, { readyReplicas: 3 }, 3),
      'not observed by its controller yet',
    ],
    ['nothing more than a person asks for by now', 'Up', 3, object(1, { readyReplicas: 1 }), null],
    ['nothing of what a person asks for beyond', 'Up', 3, object(9, { readyReplicas: 3 }), null],
    ['nothing when no pods are left', 'Down', 0, object(0, {}), null],
    ['that pods end', 'Down', 1, object(1, { replicas: 2 }), '2 pods, 1 wanted'],
    ['nothing when a person woke it again', 'Down', 0, object(2, { replicas: 2 }), null],
  ] as const)('is %s', (_, direction, to, found, expected) => {
    expect(lackOf(found, { to }, direction)).toBe(expected);
  });

  it('is the number that its operator has not given it yet, where its owner has it', () => {
    const item = { to: 3, owner: 'widgets.example.com/web' };
    expect(lackOf(object(0, {}), item, 'Up')).toBe('0 of 3 ready');
    expect(lackOf(object(3, { replicas: 3 }), { ...item, to: 0 }, 'Down')).toBe('3 pods, 0 wanted');
  });
});
