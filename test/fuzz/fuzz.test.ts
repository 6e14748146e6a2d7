import { describe, it } from 'vitest';
import * as fc from '../kernel/fast-check.ts';
import { parsers } from './parsers.ts';
import { tenants } from './tenants.ts';

/** Inputs of the cheapest parser; all together take a few seconds of CPU time. */
const RUNS = 1_000;

describe('whatever is written into', () => {
  it.each(parsers)('$name is read as it should be or refused', async ({ property, cost }) => {
    await fc.assert(property, { numRuns: Math.ceil(RUNS / cost) });
  });

  it('annotations, whatever is missing and whatever people reject, Headroom stays within the guardrail', async () => {
    await fc.assert(tenants.property, { numRuns: Math.ceil(RUNS / tenants.cost) });
  });
});
