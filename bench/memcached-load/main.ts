/**
 * `npm run bench:memcached -- --instances 500 --changes 100`: so many Memcacheds are made at once, changed one by one and all at
 * once, compared again, and left alone, on a real control plane. It reports how long each took from the change to the status of it,
 * beside what the API calls of such a change take alone. It ends with 1 where what is as
 * specified got an episode, or a pass over it wrote anything.
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
      instances: { type: 'string', default: '500' },
      changes: { type: 'string', default: '100' },
      'idle-seconds': { type: 'string', default: '60' },
      output: { type: 'string', default: 'table' },
    },
  });
  if (!['table', 'json'].includes(values.output)) throw new Error(`--output ${values.output}: expected table or json`);
  return {
    instances: wholeNumber('instances', values.instances, 1),
    changes: wholeNumber('changes', values.changes, 1),
    idleSeconds: wholeNumber('idle-seconds', values['idle-seconds'], 1),
    output: values.output,
    log,
  };
}

try {
  const options = readOptions();
  const report = await runLoad(options);
  console.log(options.output === 'json' ? JSON.stringify(report, null, 2) : reportText(report));
  if (report.again.writes > 0 || report.again.woken > 0) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
