/** Cases of Memcached that the sample has not: what others do to its objects, and every state of its autoscaler. */
import { describe, expect, it } from 'vitest';
import { type Adapter, NotApplicable } from './adapter.ts';
import { memcachedSuites } from './memcached/suites.ts';

const kinds: Readonly<Record<string, Adapter>> = memcachedSuites[0]?.kinds ?? {};

function agrees(kind: string, input: unknown, expected: unknown): boolean | undefined {
  return kinds[kind]?.({ kind, input, expected }).agrees;
}

describe('the forms of cases of Memcached', () => {
  it.each([
    [{ exists: false }, { result: 'created', event: 'Normal Created Created Service test' }],
    [{ exists: true }, { result: 'unchanged', event: null }],
    [{ exists: true, drift: false }, { result: 'unchanged' }],
    [
      { exists: true, drift: true },
      { result: 'updated', event: 'Normal Updated Updated Service test' },
    ],
    [{ exists: true, drift: 'ports' }, { result: 'updated' }],
    [{ exists: true, drift: 'labels' }, { result: 'updated' }],
    [{ exists: true, drift: { ports: [{ name: 'old', port: 9999 }] } }, { result: 'updated' }],
    [{ exists: true, changed: true }, { result: 'updated' }],
    [
      { exists: true, changed: true, kind: 'Deployment', name: 'cache' },
      { event: 'Normal Updated Updated Deployment cache' },
    ],
  ])('have an object that is %j, of which a look makes %j', (input, expected) => {
    expect(agrees('reconcileResource', input, expected)).toBe(true);
  });

  it('say nothing of Headroom where a drift is none that can be made', () => {
    expect(() => agrees('reconcileResource', { exists: true, drift: 'moon' }, { result: 'updated' })).toThrow(
      NotApplicable,
    );
  });

  const scaling = (more: object) => ({ autoscaling: { enabled: true, maxReplicas: 5, ...more } });

  it.each([
    [scaling({}), { hpaExists: true, newUid: false, minReplicas: 1, maxReplicas: 5, deploymentReplicas: 1 }],
    [scaling({ minReplicas: 2, maxReplicas: [5, 10] }), { hpaExists: true, minReplicas: 2, maxReplicas: 10 }],
    [scaling({ enabled: false }), { hpaExists: false, newUid: false, deploymentReplicas: 1 }],
    [
      { ...scaling({ enabled: [true, false] }), replicasAfter: 3 },
      { hpaExists: false, deploymentReplicas: 3 },
    ],
    [
      { ...scaling({ enabled: [true, false, true], maxReplicas: [5, 5, 8] }), replicas: 3 },
      { hpaExists: true, newUid: true, maxReplicas: 8, deploymentReplicas: 3 },
    ],
    [
      { ...scaling({}), drift: { maxReplicas: 99 } },
      { hpaExists: true, newUid: false, maxReplicas: 5 },
    ],
    [
      { hpaDeletedExternally: true, maxReplicas: 5 },
      { hpaExists: true, newUid: true, maxReplicas: 5 },
    ],
    [scaling({}), { behavior: { scaleDown: { stabilizationWindowSeconds: 300 } } }],
  ])('have an autoscaler with %j, which comes to %j', (input, expected) => {
    expect(agrees('hpaLifecycle', input, expected)).toBe(true);
  });

  it('are compared in each of their keys', () => {
    expect(agrees('hpaLifecycle', scaling({}), { hpaExists: true, minReplicas: 2 })).toBe(false);
    expect(agrees('hpaLifecycle', scaling({}), { hpaExists: true, deploymentReplicas: 5 })).toBe(false);
    expect(() => agrees('hpaLifecycle', scaling({}), { hpaExists: true, colour: 'red' })).toThrow(NotApplicable);
  });

  it('have a budget that is not enabled, and so is not there', () => {
    const budget = (enabled: boolean, expected: unknown) =>
      agrees('constructPDB', { podDisruptionBudget: { enabled, maxUnavailable: 1 } }, expected);
    expect([budget(true, { maxUnavailable: 1, minAvailable: null }), budget(false, null)]).toEqual([true, true]);
  });

  it('have an update, of which what was wrong before and did not change is not denied', () => {
    const spec = { autoscaling: { enabled: true } };
    const review = (input: object) =>
      kinds['webhookValidate']?.({ kind: '', input, expected: { allowed: true, fieldErrors: [] } });
    expect(review({ operation: 'create', spec })).toMatchObject({ agrees: true, deviation: 'maximum-is-required' });
    expect(review({ operation: 'update', spec, oldSpec: spec })).toMatchObject({ agrees: true });
    expect(review({ operation: 'update', spec, oldSpec: spec })?.deviation).toBeUndefined();
  });
});
