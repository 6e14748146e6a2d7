/**
 * `npm run lights-out:sequences -- --seed 7 --sequences 20 --steps 12`: random sequences against the table in `model.ts`. A
 * seed and the number of a sequence repeat it: `--first 13 --sequences 1`.
 */
import { parseArgs } from 'node:util';
import { runSequences } from './run.ts';

const started = Date.now();
const log = (what: string): void => {
  console.log(`${((Date.now() - started) / 1_000).toFixed(1).padStart(7)} s  ${what}`);
};

try {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      first: { type: 'string', default: '0' },
      sequences: { type: 'string', default: '20' },
      steps: { type: 'string', default: '12' },
      'at-once': { type: 'string', default: '4' },
    },
  });
  const [seed, first] = [Number(values.seed), Number(values.first)];
  const [sequences, steps, atOnce] = [Number(values.sequences), Number(values.steps), Number(values['at-once'])];
  if (![seed, first].every((value) => Number.isInteger(value) && value >= 0)) {
    throw new Error('expected --seed and --first with whole numbers');
  }
  if (![sequences, steps, atOnce].every((value) => Number.isInteger(value) && value > 0)) {
    throw new Error('expected --sequences, --steps and --at-once with whole numbers above 0');
  }
  log(`${sequences} sequences of ${steps} steps with the seed ${seed}, from number ${first}`);
  const report = await runSequences({ seed, first, sequences, steps, atOnce, log });
  log(
    `${report.sequences} sequences: ${report.steps} steps with ${report.actions} actions and ${report.faults} faults; ` +
      `${report.writes} writes of the worker; ${report.failures.length} failures`,
  );
  for (const failure of report.failures) console.error(failure);
  if (report.failures.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
