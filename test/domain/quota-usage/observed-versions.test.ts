import { expect, it } from 'vitest';
import { newestVersions } from '../../../domain/quota-usage/observed-versions.ts';

it('how far two caches have come is the later version of each resource', () => {
  const seen = newestVersions({ pods: '99', services: '7' }, { pods: '100', secrets: '3', services: '5' });
  expect(seen).toEqual({ pods: '100', services: '7', secrets: '3' });
});
