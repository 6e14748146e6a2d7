import { describe, expect, it } from 'vitest';
import {
  annotationWrittenAt,
  createdBy,
  fieldChange,
  lastSetBy,
  statusWrittenAt,
} from '../../../../domain/lights-out/workload/field-owner.ts';
import { managerClass } from '../../../../domain/lights-out/workload/manager.ts';
import { FIELD_MANAGER } from '../../../../domain/lights-out/schedule/names.ts';

const AT = '2026-11-20T18:00:00Z';
const LATER = '2026-11-20T19:00:00Z';

const entry = (manager: string, time: string | undefined, spec: object, over: object = {}) => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  ...(time === undefined ? {} : { time }),
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': spec },
  ...over,
});
const replicas = { 'f:replicas': {} };
const whole = { 'f:replicas': {}, 'f:selector': {}, 'f:template': { 'f:spec': {} } };
const status = {
  manager: 'kube-controller-manager',
  operation: 'Update',
  subresource: 'status',
  time: '2026-11-20T20:00:00Z',
  fieldsV1: { 'f:status': { 'f:replicas': {} } },
};

describe("who last set KEDA's annotation", () => {
  it('is told by the annotations, and not by the spec', () => {
    const paused = { 'f:autoscaling.keda.sh/paused': {} };
    const annotated = (manager: string, time: string, spec?: object) => ({
      ...entry(manager, time, {}),
      fieldsV1: { 'f:metadata': { 'f:annotations': paused }, ...(spec === undefined ? {} : { 'f:spec': spec }) },
    });
    const fields = [annotated('kubectl', AT), annotated('helm', LATER, whole), entry('argocd', LATER, whole)];
    expect(fieldChange(fields, 'paused')).toEqual({ manager: 'helm', at: Date.parse(LATER), isOnlyIt: false });
    expect(fieldChange(fields.slice(0, 1), 'paused')).toMatchObject({ manager: 'kubectl', isOnlyIt: true });
    expect(fieldChange(fields.slice(2), 'paused')).toBeNull();
  });
});

describe('who last set the replicas', () => {
  it('is the newest entry that owns the field, whatever else was written later', () => {
    const fields = [
      entry('kubectl-client-side-apply', AT, { 'f:template': {} }),
      entry('kubectl', LATER, replicas),
      status,
    ];
    expect(fieldChange(fields, 'replicas')).toEqual({ manager: 'kubectl', at: Date.parse(LATER), isOnlyIt: true });
    expect(fieldChange([entry('kubectl', LATER, whole)], 'replicas')).toMatchObject({ isOnlyIt: false });
    expect(fieldChange([entry('x', LATER, whole, { subresource: 'scale' })], 'replicas')).toMatchObject({
      isOnlyIt: true,
    });
  });

  it('is the other where Headroom wrote within the same second, and where two own the field together', () => {
    const both = [entry(FIELD_MANAGER, AT, replicas), entry('argocd-controller', AT, whole, { operation: 'Apply' })];
    expect(fieldChange(both, 'replicas')?.manager).toBe('argocd-controller');
    expect(fieldChange(both.toReversed(), 'replicas')?.manager).toBe('argocd-controller');
    const newer = [
      entry('argocd-controller', AT, whole, { operation: 'Apply' }),
      entry(FIELD_MANAGER, LATER, replicas),
    ];
    expect(fieldChange(newer, 'replicas')?.manager).toBe(FIELD_MANAGER);
  });

  it('is known without a moment where the entry has none, and goes after one that has', () => {
    expect(fieldChange([entry('kubectl', undefined, replicas)], 'replicas')).toEqual({
      manager: 'kubectl',
      at: null,
      isOnlyIt: true,
    });
    const fields = [entry('kubectl', undefined, replicas), entry('keda', AT, replicas)];
    expect(fieldChange(fields, 'replicas')?.manager).toBe('keda');
  });

  it('is nobody where no entry owns it, or none can be read', () => {
    expect(fieldChange([entry('kubectl', AT, replicas)], 'suspend')).toBeNull();
    expect(fieldChange([entry('kubectl', AT, { 'f:suspend': {} })], 'suspend')).toMatchObject({ manager: 'kubectl' });
    for (const fields of [undefined, null, 'x', [null, 7, {}, status, entry('', AT, replicas)]]) {
      expect(fieldChange(fields, 'replicas')).toBeNull();
    }
    expect(fieldChange([{ ...status, fieldsV1: 'x' }, entry('kubectl', AT, replicas)], 'replicas')).not.toBeNull();
  });

  it('reads moments that a client made dates of', () => {
    const fields = [{ ...entry('kubectl', undefined, replicas), time: new Date(AT) }];
    expect(fieldChange(fields, 'replicas')?.at).toBe(Date.parse(AT));
  });
});

describe('who made the object', () => {
  it('is the manager of its oldest entry of the spec, never Headroom, and no status', () => {
    const fields = [
      { ...status, time: '2026-11-20T17:00:00Z' },
      entry(FIELD_MANAGER, '2026-11-20T17:30:00Z', replicas),
      entry('kubectl-edit', LATER, replicas),
      entry('helm', AT, whole),
      entry('kube-controller-manager', AT, { 'f:paused': {} }),
    ];
    expect(createdBy(fields)).toBe('helm');
    expect(createdBy([])).toBeNull();
    expect(createdBy(undefined)).toBeNull();
  });
});

describe('a manager', () => {
  it.each([
    [FIELD_MANAGER, 'ours'],
    ['argocd-controller', 'gitops'],
    ['kube-controller-manager', 'machine'],
    ['keda-operator', 'machine'],
    ['keda', 'machine'],
    ['horizontal-pod-autoscaler', 'machine'],
    ['vpa-updater', 'machine'],
    ['cluster-autoscaler', 'machine'],
    ['kubectl-scale', 'person'],
    ['my-operator', 'person'],
    [null, 'person'],
  ])('%j is of the class %s', (manager, expected) => {
    expect(managerClass(manager, ['argocd-controller'])).toBe(expected);
  });
});

describe('when a status was written', () => {
  it('is the newest moment of an entry for it, and not known without one', () => {
    expect(statusWrittenAt([entry('kubectl', LATER, replicas), status])).toBe(Date.parse(status.time));
    expect(statusWrittenAt([entry('kubectl', LATER, replicas), { ...status, time: undefined }])).toBeNull();
  });
});

it('an annotation was written when the last of those that own it wrote anything', () => {
  const owner = (manager: string, time: string | undefined, name: string) =>
    entry(manager, time, {}, { fieldsV1: { 'f:metadata': { 'f:annotations': { '.': {}, [`f:${name}`]: {} } } } });
  const fields = [
    owner('kubectl-annotate', AT, 'example.com/a'),
    owner('argocd-controller', LATER, 'example.com/a'),
    owner('kubectl-edit', '2026-11-20T21:00:00Z', 'example.com/b'),
    owner('somebody', undefined, 'example.com/a'),
    status,
  ];
  expect(annotationWrittenAt(fields, 'example.com/a')).toBe(Date.parse(LATER));
  expect(annotationWrittenAt(fields, 'example.com/c')).toBeNull();
  expect(annotationWrittenAt([owner('somebody', undefined, 'example.com/a')], 'example.com/a')).toBeNull();
  expect(annotationWrittenAt(undefined, 'example.com/a')).toBeNull();
});

it('a field of Headroom that somebody owns as well was applied later by them, though the API server writes no time of that', () => {
  const minimum = { 'f:minReplicas': {} };
  const setter = (...fields: readonly object[]) => lastSetBy(fields, 'spec', 'minReplicas');
  const ours = entry(FIELD_MANAGER, LATER, minimum);
  expect(setter(ours, entry('argocd-controller', AT, { 'f:maxReplicas': {} }))).toEqual({
    manager: FIELD_MANAGER,
    at: Date.parse(LATER),
  });
  const unknown = entry('argocd-controller', undefined, minimum);
  expect(setter(unknown, ours)).toEqual({ manager: 'argocd-controller', at: Date.parse(LATER) });
  expect(setter(ours, entry('kubectl', AT, minimum))).toEqual({ manager: 'kubectl', at: Date.parse(AT) });
  expect(setter(unknown)).toBeNull();
});
