import { describe, expect, it } from 'vitest';
import {
  isApplied,
  isOurAnnotation,
  ownManagers,
  passedOn,
} from '../../../domain/memcached/children/managed-fields.ts';

const owned = { 'f:ownerReferences': { '.': {}, 'k:{"uid":"owner"}': {} } };
const former = {
  manager: 'manager',
  operation: 'Update',
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:metadata': owned, 'f:spec': { 'f:replicas': {}, 'f:template': {} } },
};
const people = { manager: 'kubectl-edit', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': {} } } };
const counts = { manager: 'manager', operation: 'Update', subresource: 'status', fieldsV1: { 'f:metadata': owned } };

describe('the fields of another operator', () => {
  it('pass on to the manager that applies, and the replicas to one of their own; those of others stay', () => {
    const { fieldsV1: _, ...same } = former;
    expect(passedOn([people, former, counts], 'owner')).toEqual([
      people,
      {
        ...same,
        manager: 'headroom-memcached',
        operation: 'Apply',
        fieldsV1: { 'f:metadata': owned, 'f:spec': { 'f:template': {} } },
      },
      {
        ...same,
        manager: 'headroom-memcached-replicas',
        operation: 'Apply',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
      counts,
    ]);
  });

  it('are nobody else’s, and pass on once', () => {
    expect(passedOn([former], 'another')).toBeNull();
    expect(passedOn([people, counts], 'owner')).toBeNull();
    expect(passedOn([{ ...former, manager: 'headroom-memcached', operation: 'Apply' }, former], 'owner')).toBeNull();
    expect(passedOn(undefined, 'owner')).toBeNull();
  });
});

describe('the fields that Headroom applied', () => {
  const name = 'memcached.c5c3.io/taken-over';
  const annotations = { [`f:${name}`]: {}, 'f:memcached.c5c3.io/applied': {} };
  const fieldsV1 = { 'f:metadata': { 'f:annotations': annotations, ...owned }, 'f:spec': { 'f:template': {} } };
  const ours = { manager: 'headroom-memcached', operation: 'Apply', fieldsV1 };

  it('are told from what others wrote, also by the part of them that the starter keeps', () => {
    for (const managed of [[people, ours], ownManagers([people, ours])]) {
      expect([isApplied(managed), isOurAnnotation(managed, name)]).toEqual([true, true]);
      expect(isOurAnnotation(managed, 'memcached.c5c3.io/next-pod-goes')).toBe(false);
    }
    expect(ownManagers([people, ours])).toEqual([
      {
        manager: 'headroom-memcached',
        operation: 'Apply',
        fieldsV1: { 'f:metadata': { 'f:annotations': annotations } },
      },
    ]);
    expect([isApplied([people, former]), isOurAnnotation([people, former], name)]).toEqual([false, false]);
  });

  it('are not known of an object without managers', () => {
    for (const none of [undefined, [], ownManagers([people])]) {
      expect([isApplied(none), isOurAnnotation(none, name)]).toEqual([null, false]);
    }
  });
});
