/** `npm run usage:side-by-side -- --seed 7 --operations 2000 --faults`: the same seed does the same things again. */
import { parseArgs } from 'node:util';
import { runSideBySide } from './run.ts';

const started = Date.now();
const log = (what: string): void => {
  console.log(`${((Date.now() - started) / 1_000).toFixed(1).padStart(7)} s  ${what}`);
};

const said = ({ ms, what }: { readonly ms: number; readonly what: string }): string =>
  `${(ms / 1_000).toFixed(1)} s (${what})`;

try {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      operations: { type: 'string', default: '2000' },
      faults: { type: 'boolean', default: false },
      // What keeps the second cluster's statuses; the original beside itself proves the harness.
      second: { type: 'string', default: 'headroom' },
    },
  });
  const [seed, operations, second] = [Number(values.seed), Number(values.operations), values.second];
  if (!Number.isInteger(seed) || !(Number.isInteger(operations) && operations > 0)) {
    throw new Error('expected --seed with a whole number and --operations with a whole number above 0');
  }
  if (second !== 'headroom' && second !== 'original')
    throw new Error('expected --second headroom or --second original');
  log(`side by side with the seed ${seed}, ${operations} operations${values.faults ? ' and faults' : ''}`);
  const report = await runSideBySide({ seed, operations, faults: values.faults, second, log });
  log(
    `${report.quotas} quotas are equal after ${report.operations} operations and ${report.faults} faults, ` +
      `${(report.settledMs / 1_000).toFixed(1)} s after the last; Headroom wrote ${report.statusWrites} statuses; ` +
      `longest different between: ${said(report.longestWrong.second)} by the doing of the second, ` +
      `${said(report.longestWrong.first)} by that of the original`,
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
