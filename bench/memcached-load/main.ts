/**
 * `npm run bench:memcached -- --instances 500 --changes 100`: so many Memcacheds are made at once, changed one by one and all at
 * once, compared again, and left alone, on a real control plane. It reports how long each took from the change to the status of it,
 * beside what the API calls of such a change take alone. It ends with 1 where what is as
 * specified got an episode, or a pass over it wrote anything.
 */
import { parseArgs } from 'node:util';
import { log, reportFormat, runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { reportText } from './report.ts';
import { type RunOptions, runLoad } from './run-load.ts';

function readOptions(): RunOptions & { readonly output: 'table' | 'json' } {
  const { values } = parseArgs({
    options: {
      instances: { type: 'string', default: '500' },
      changes: { type: 'string', default: '100' },
      'idle-seconds': { type: 'string', default: '60' },
      output: { type: 'string', default: 'table' },
    },
  });
  return {
    instances: wholeNumber('instances', values.instances, 1),
    changes: wholeNumber('changes', values.changes, 1),
    idleSeconds: wholeNumber('idle-seconds', values['idle-seconds'], 1),
    output: reportFormat(values.output),
    log,
  };
}

await runProgram(async () => {
  const options = readOptions();
  const report = await runLoad(options);
  console.log(options.output === 'json' ? JSON.stringify(report, null, 2) : reportText(report));
  return report.again.writes === 0 && report.again.woken === 0;
});
