import { describe, expect, it } from 'vitest';
import { type AdmissionRequest, handles } from '../../../domain/quota-usage/handles.ts';

const core = (resource: string) => ({ group: '', resource });
const claims = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const every: readonly AdmissionRequest[] = (['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const).flatMap((operation) =>
  ['', 'status', 'resize', 'subresource'].map((subresource) => ({ operation, subresource })),
);
const charged = (resource: { group: string; resource: string }) =>
  every
    .filter((request) => handles(resource, request))
    .map(({ operation, subresource }) => `${operation} ${subresource}`.trim());

describe('the requests that are charged to quotas', () => {
  it('are for each resource its own', () => {
    expect(charged(core('pods'))).toEqual(['CREATE', 'UPDATE resize']);
    expect(charged(core('services'))).toEqual(['CREATE', 'UPDATE']);
    expect(charged(core('persistentvolumeclaims'))).toEqual(['CREATE', 'UPDATE']);
    expect(charged(claims)).toEqual(['CREATE', 'UPDATE']);
    expect(charged(core('secrets'))).toEqual(['CREATE']);
    expect(charged({ group: 'apps', resource: 'deployments' })).toEqual(['CREATE']);
  });

  it('are for a pod also the updates that give it an end, or take it', () => {
    const ending = (activeDeadlineSeconds?: number): object => ({ spec: { activeDeadlineSeconds } });
    const update = (object?: object, oldObject?: object) =>
      handles(core('pods'), { operation: 'UPDATE', subresource: '', object, oldObject });
    expect(update(ending(), ending(1))).toBe(true);
    expect(update(ending(1), ending())).toBe(true);
    expect(update(ending(1), ending(2))).toBe(false);
    expect(update(ending(1))).toBe(false);
    expect(
      handles(core('pods'), { operation: 'DELETE', subresource: '', object: ending(), oldObject: ending(1) }),
    ).toBe(false);
  });

  it('are for a volume claim also those of its status, of which the old one must be known', () => {
    const ofStatus = (object?: object, oldObject?: object) =>
      handles(core('persistentvolumeclaims'), { operation: 'UPDATE', subresource: 'status', object, oldObject });
    expect(ofStatus({}, {})).toBe(true);
    expect(ofStatus({})).toBe(false);
  });
});
