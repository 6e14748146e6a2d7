/**
 * `npm run bench:lights-out -- --workloads 500 --namespaces 50 --seed 1`: a schedule puts workloads of every kind to sleep and
 * wakes them, on a real control plane: without limit, in batches while the worker is killed, in batches while the API server is
 * restarted. It reports how long each took and what it cost, and ends with 1 where a workload is not exactly as it was, or was
 * written more than once in a direction.
 */
import { parseArgs } from 'node:util';
import { wholeNumber } from '../whole-number.ts';
import { reportText } from './report.ts';
import { type RunOptions, runLoad } from './run-load.ts';

const started = performance.now();
/** On standard error, so that the report alone is on standard output. */
const log = (what: string): void => {
  console.error(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${what}`);
};

function readOptions(): RunOptions & { readonly output: string } {
  const { values } = parseArgs({
    options: {
      workloads: { type: 'string', default: '500' },
      namespaces: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      'batch-size': { type: 'string', default: '25' },
      delay: { type: 'string', default: '1' },
      'no-idle': { type: 'boolean', default: false },
      output: { type: 'string', default: 'table' },
    },
  });
  if (!['table', 'json'].includes(values.output)) throw new Error(`--output ${values.output}: expected table or json`);
  return {
    workloads: wholeNumber('workloads', values.workloads, 1),
    namespaces: wholeNumber('namespaces', values.namespaces, 1),
    seed: wholeNumber('seed', values.seed, 0),
    batchSize: wholeNumber('batch-size', values['batch-size'], 1),
    delay: wholeNumber('delay', values.delay, 0),
    idle: !values['no-idle'],
    output: values.output,
    log,
  };
}

try {
  const options = readOptions();
  const report = await runLoad(options);
  console.log(options.output === 'json' ? JSON.stringify(report, asPlain, 2) : reportText(report));
  if (!report.isExact) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();

/** Maps have no form of their own in JSON. */
function asPlain(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
