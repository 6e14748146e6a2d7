import { describe, expect, it } from 'vitest';
import { NotApplicable, UnknownShape } from '../adapter.ts';
import { suiteFor } from '../registry.ts';

const PREFIX = 'lightsout.techsupport.mk/';

/** How a case comes out: `agrees`, or the name of the rule by which it does; `disagrees` otherwise. */
function outcome(kind: string, input: unknown, expected: unknown): string {
  const adapter = suiteFor('lights-out')?.kinds[kind];
  if (adapter === undefined) throw new Error(`nobody answers for ${kind}`);
  const { agrees, deviation = 'agrees' } = adapter({ kind, input, expected });
  return agrees ? deviation : 'disagrees';
}

const savedState = (marked: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(marked).map(([key, value]) => [PREFIX + key, value]));
const night = { upscale: '0 18 * * *', downscale: '0 6 * * *', now: '2024-01-15T10:00:00Z' };

describe('what the lights-out cases may ask beyond the sample', () => {
  it.each([
    ['downscale', { replicas: 3 }, { replicas: 0, skipped: false, 'label managed-by': 'dev-schedule' }, 'agrees'],
    ['downscale', {}, { replicas: 0, 'annotation original-replicas': '1' }, 'agrees'],
    [
      'downscale',
      { replicas: 3, annotations: savedState({ 'managed-by': 'other' }) },
      { replicas: 3, skipped: true },
      'agrees',
    ],
    [
      'downscale',
      { replicas: 5, annotations: savedState({ 'original-replicas': '3' }) },
      { replicas: 5, skipped: true },
      'agrees',
    ],
    ['upscale', { replicas: 0 }, { replicas: 0, skipped: true }, 'agrees'],
    [
      'upscale',
      { replicas: 0, annotations: savedState({ 'managed-by': 'dev-schedule' }) },
      { replicas: 0, skipped: true },
      'agrees',
    ],
    [
      'upscale',
      { replicas: 5, annotations: savedState({ 'original-replicas': '3' }) },
      { replicas: 3, skipped: false },
      'keeps-pods',
    ],
    ['upscale', { replicas: 0 }, { replicas: 1, skipped: true }, 'disagrees'],
    ['downscale', {}, { 'managed-by label': 'dev-schedule', 'original-replicas removed': false }, 'agrees'],
    ['downscale', {}, { 'annotations and label removed': false, 'label absent': false }, 'agrees'],
    ['upscale', { replicas: 0 }, { 'annotations removed': true, 'managed-by annotation cleared': true }, 'agrees'],
  ])('%s of a Deployment with %j comes to %j: %s', (direction, input, expected, wanted) => {
    expect(outcome('scaler-deployment', { direction, schedule: 'dev-schedule', ...input }, expected)).toBe(wanted);
    expect(outcome('scaler-statefulset', { direction, schedule: 'dev-schedule', ...input }, expected)).toBe(wanted);
  });

  it.each([
    ['downscale', true, {}, { suspend: true, skipped: true }, 'agrees'],
    ['downscale', true, {}, { 'annotation original-suspend': 'user' }, 'no-user-note'],
    ['downscale', true, { 'original-suspend': 'user' }, { 'annotation original-suspend': 'user' }, 'agrees'],
    ['downscale', false, { 'original-suspend': 'lightsout' }, { suspend: false, skipped: true }, 'agrees'],
    ['downscale', false, { 'original-suspend': 'user' }, { suspend: false, skipped: true }, 'resumed-by-user'],
    ['upscale', true, { 'original-suspend': 'user' }, { suspend: true, skipped: true }, 'agrees'],
    ['upscale', true, { 'original-suspend': 'user' }, { 'annotation original-suspend': 'user' }, 'no-user-note'],
    ['upscale', true, { 'original-suspend': 'lightsout', 'managed-by': 'other' }, { suspend: true }, 'agrees'],
    ['upscale', false, {}, { suspend: true }, 'disagrees'],
  ])(
    '%s of a CronJob that is suspended: %j, with %j, comes to %j: %s',
    (direction, suspend, marked, expected, wanted) => {
      const input = { direction, schedule: 'dev-schedule', suspend, annotations: savedState(marked), labels: {} };
      expect(outcome('scaler-cronjob', input, expected)).toBe(wanted);
    },
  );

  it('is which namespaces are selected, excluded, missing, or refused with their selector', () => {
    const dev = { environment: 'dev' };
    const cluster = { 'dev-1': dev, 'dev-2': dev, 'kube-system': dev, prod: {} };
    const found = (spec: object, expected: unknown) => outcome('namespace-discovery', { cluster, spec }, expected);
    const both = { namespaceSelector: { matchLabels: dev }, namespaces: ['prod'], excludeNamespaces: ['dev-2'] };
    expect(found(both, ['dev-1', 'prod'])).toBe('agrees');
    expect(found({ namespaceSelector: {} }, ['dev-1', 'dev-2', 'prod'])).toBe('agrees');
    expect(found({ namespaces: ['prod', 'nowhere'] }, ['nowhere', 'prod'])).toBe('only-existing');
    const invalid = { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } };
    expect(found(invalid, { error: true })).toBe('agrees');
    const unknown = { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] } };
    expect(found(unknown, { error: true })).toBe('agrees');
    expect(found({}, ['prod'])).toBe('disagrees');
  });

  it('is whether a selector is empty', () => {
    expect(outcome('selector-empty', null, true)).toBe('agrees');
    expect(outcome('selector-empty', { selector: { matchLabels: {} } }, true)).toBe('agrees');
    expect(outcome('selector-empty', { matchLabels: { a: 'b' } }, true)).toBe('disagrees');
  });

  it('is how workloads are divided into batches', () => {
    expect(outcome('batcher', { workloads: 3, batchSize: 10 }, { batchSizes: [3] })).toBe('agrees');
    expect(outcome('batcher', { workloads: 5, config: null }, { batchSizes: [5] })).toBe('agrees');
    expect(outcome('batcher', { workloads: 0, batchSize: 2 }, { batchSizes: [0] })).toBe('no-empty-batch');
    expect(outcome('batcher', { workloads: 0, batchSize: 2 }, { batchSizes: [] })).toBe('agrees');
    expect(outcome('batcher', { workloads: 1, batchSize: 2 }, { batchSizes: [0] })).toBe('disagrees');
    expect(outcome('batcher', { workloads: 6, batchSize: 2 }, { batches: 2 })).toBe('disagrees');
  });

  it('is what a schedule comes to, its exclusions, kinds, suspension and deletion included', () => {
    const labelled = [{ replicas: 3, labels: { keep: 'yes' } }, 2];
    const excludeLabels = { matchLabels: { keep: 'yes' } };
    const controlled = (input: object, expected: object) => outcome('controller', { ...night, ...input }, expected);
    expect(controlled({ deployments: labelled, excludeLabels }, { replicas: [3, 0] })).toBe('agrees');
    expect(controlled({ deployment: 3, workloadTypes: ['StatefulSet'] }, { replicas: 3 })).toBe('agrees');
    expect(controlled({ deployment: 3, suspend: true }, { replicas: 3 })).toBe('agrees');
    expect(controlled({ cronjob: false, ...JSON.parse('{"then":"delete schedule"}') }, { suspend: false })).toBe(
      'agrees',
    );
    expect(controlled({ cronjob: false }, { suspend: true, 'original-suspend': 'lightsout', state: 'Down' })).toBe(
      'agrees',
    );
    expect(controlled({ deployment: 3 }, { workloadStats: { deploymentsManaged: 1, deploymentsScaled: 1 } })).toBe(
      'agrees',
    );
    expect(controlled({ deployment: 3 }, { replicas: 3 })).toBe('disagrees');
  });

  it('is what is said of a schedule, also where it cannot be followed', () => {
    const controlled = (input: object, expected: object) => outcome('controller', { ...night, ...input }, expected);
    const next = { nextUpscaleTime: '2024-01-15T19:00:00+01:00', nextDownscaleTime: '2024-01-16T06:00:00Z' };
    expect(controlled({ deployment: 3 }, { Ready: 'True', ...next })).toBe('agrees');
    expect(controlled({}, { nextUpscaleTime: '2024-01-15T19:00:00Z' })).toBe('disagrees');
    const invalid = { error: true, state: 'Unknown', Ready: 'False', replicas: 3, 'original-replicas': '' };
    expect(controlled({ deployment: 3, upscale: 'at six' }, invalid)).toBe('agrees');
    expect(controlled({ deployment: 3, timezone: 'Nowhere/Land' }, invalid)).toBe('agrees');
    const deleted = JSON.parse('{"then":"delete schedule"}');
    expect(controlled({ deployment: 3, ...deleted }, { replicas: 3, finalizer: 'removed' })).toBe('agrees');
    expect(controlled({ deployment: 3, ...deleted }, { finalizer: 'kept' })).toBe('disagrees');
  });

  it('is what is said of a workload that could not be written, which the operator only counts', () => {
    const input = { 'one update conflicts (409)': true };
    expect(outcome('code-reading', input, { Ready: 'True', requeue: 'next transition' })).toBe('failure-is-shown');
    expect(outcome('code-reading', input, { Ready: 'False', requeue: 'retry' })).toBe('agrees');
    expect(outcome('code-reading', input, { Ready: 'False', requeue: 'never' })).toBe('disagrees');
    const more = { 'two updates fail (403)': true };
    expect(outcome('code-reading', more, { Ready: 'True', requeue: 'next transition' })).toBe('failure-is-shown');
  });

  it('is what an absent field means', () => {
    const absent = (field: string, direction: string) => ({ [`spec.${field}`]: 'absent', direction });
    expect(outcome('code-reading', absent('suspend', 'down'), { suspend: true, 'original-suspend': 'lightsout' })).toBe(
      'agrees',
    );
    expect(outcome('code-reading', absent('replicas', 'up'), { skipped: true })).toBe('agrees');
  });

  it('is an error where its shape is not known, and not applicable where nobody reads one of its keys or its prose', () => {
    expect(() => outcome('batcher', { workloads: 'three' }, { batches: 1 })).toThrow(UnknownShape);
    expect(() => outcome('controller', { ...night, moon: 'full' }, {})).toThrow(NotApplicable);
    expect(() => outcome('controller', { ...night, deployment: 3 }, { skipped: true })).toThrow(NotApplicable);
    expect(() => outcome('controller', night, { workloadStats: { teapotsScaled: 1 } })).toThrow(NotApplicable);
    expect(() => outcome('scaler-deployment', { direction: 'upscale' }, { phase: 'x' })).toThrow(NotApplicable);
    expect(() => outcome('scaler-deployment', { direction: 'upscale' }, { 'phase removed': true })).toThrow(
      NotApplicable,
    );
    expect(() => outcome('batcher', { workloads: 3 }, { delay: '30s' })).toThrow(NotApplicable);
    expect(() => outcome('code-reading', { something: 'else' }, {})).toThrow(NotApplicable);
    const then = JSON.parse('{"then":"rename deployment"}');
    expect(() => outcome('controller', { ...night, ...then }, { error: false })).toThrow(NotApplicable);
  });
});
