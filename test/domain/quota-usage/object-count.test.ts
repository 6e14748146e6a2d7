import { expect, it } from 'vitest';
import { objectCharge } from '../../../domain/quota-usage/object-count.ts';

it('an object is counted by its resource and group, and four core resources also by their old name', () => {
  expect(objectCharge('jobs', 'batch')).toEqual({ 'count/jobs.batch': '1' });
  expect(objectCharge('secrets', '')).toEqual({ 'count/secrets': '1', secrets: '1' });
  expect(objectCharge('endpoints', '')).toEqual({ 'count/endpoints': '1' });
});
