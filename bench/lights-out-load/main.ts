/**
 * `npm run bench:lights-out -- --workloads 500 --namespaces 50 --schedules 1 --seed 1`: schedules that share the namespaces put
 * workloads of every kind to sleep and wake them, on a real control plane: without limit, in batches while the worker is killed, in batches while the API server is
 * restarted. It reports how long each took and what it cost, and ends with 1 where a workload is not exactly as it was, or was
 * written more than once in a direction.
 */
import { parseArgs } from 'node:util';
import { log, reportFormat, runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { reportText } from './report.ts';
import { type RunOptions, runLoad } from './run-load.ts';

function readOptions(): RunOptions & { readonly output: 'table' | 'json' } {
  const { values } = parseArgs({
    options: {
      workloads: { type: 'string', default: '500' },
      namespaces: { type: 'string', default: '50' },
      schedules: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      'batch-size': { type: 'string', default: '25' },
      delay: { type: 'string', default: '1' },
      'no-idle': { type: 'boolean', default: false },
      'no-faults': { type: 'boolean', default: false },
      output: { type: 'string', default: 'table' },
    },
  });
  return {
    workloads: wholeNumber('workloads', values.workloads, 1),
    schedules: wholeNumber('schedules', values.schedules, 1),
    namespaces: wholeNumber('namespaces', values.namespaces, 1),
    seed: wholeNumber('seed', values.seed, 0),
    batchSize: wholeNumber('batch-size', values['batch-size'], 1),
    delay: wholeNumber('delay', values.delay, 0),
    idle: !values['no-idle'],
    faults: !values['no-faults'],
    output: reportFormat(values.output),
    log,
  };
}

await runProgram(async () => {
  const options = readOptions();
  const report = await runLoad(options);
  console.log(options.output === 'json' ? JSON.stringify(report, asPlain, 2) : reportText(report));
  return report.isExact;
});

/** Maps have no form of their own in JSON. */
function asPlain(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
