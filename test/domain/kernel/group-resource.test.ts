import { expect, it } from 'vitest';
import { groupOf, groupResourceName } from '../../../domain/kernel/group-resource.ts';

it('a resource goes by its group, except in the core group', () => {
  expect(groupResourceName({ group: 'apps', resource: 'deployments' })).toBe('deployments.apps');
  expect(groupResourceName({ group: '', resource: 'pods' })).toBe('pods');
});

it('the group of a group-version is what stands before the version', () => {
  expect(['apps/v1', 'resource.k8s.io/v1beta2', 'v1'].map(groupOf)).toEqual(['apps', 'resource.k8s.io', '']);
});
