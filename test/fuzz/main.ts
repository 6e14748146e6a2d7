/**
 * `npm run fuzz [-- --runs 100000 --seed 7 --only YAML]`: many inputs of each parser, and as many stories of tenants as take as
 * long. The seed is printed, and stands for the same inputs in every run.
 */
import { parseArgs } from 'node:util';
import * as fc from '../kernel/fast-check.ts';
import { parsers } from './parsers.ts';
import { tenants } from './tenants.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: process.env['HEADROOM_FUZZ_RUNS'] ?? '100000' },
    seed: { type: 'string', default: process.env['HEADROOM_TEST_SEED'] ?? String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
  },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
if (!Number.isInteger(runs) || runs < 1 || !Number.isInteger(seed)) {
  console.error('expected whole numbers for --runs and --seed');
  process.exit(2);
}
console.log(`seed ${seed}, ${runs} inputs of each parser`);
const all = [...parsers.map((parser) => ({ ...parser, share: 1 })), tenants];
for (const { name, property, share } of all.filter((one) => one.name.includes(values.only))) {
  const started = process.cpuUsage();
  const result = await fc.check(property, { numRuns: Math.ceil(runs / share), seed });
  const { user } = process.cpuUsage(started);
  console.log(
    `${result.failed ? 'failed' : 'passed'}  ${name}: ${result.numRuns} inputs, ${(user / 1e6).toFixed(0)} s`,
  );
  if (result.failed) {
    console.error(fc.defaultReportMessage(result));
    process.exitCode = 1;
  }
}
