/**
 * `npm run bench:rest -- --quotas 1500,10000 --starters 1 --rounds 3 --seconds 30`: what worker and starter take while nothing happens, and what
 * Temporal's histories get in that time. It ends with 1 where a figure is above its limit.
 */
import { parseArgs } from 'node:util';
import { exceeded, rowsText } from '../resize-load/rows.ts';
import { log, reportFormat, runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { type RestOptions, restRows } from './run-rest.ts';

function readOptions(): RestOptions & { readonly output: 'table' | 'json' } {
  const { values } = parseArgs({
    options: {
      quotas: { type: 'string', default: '1500,10000' },
      starters: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '30' },
      output: { type: 'string', default: 'table' },
    },
  });
  return {
    quotas: values.quotas.split(',').map((quotas) => wholeNumber('quotas', quotas, 1)),
    starters: wholeNumber('starters', values.starters, 1),
    rounds: wholeNumber('rounds', values.rounds, 1),
    seconds: wholeNumber('seconds', values.seconds, 1),
    output: reportFormat(values.output),
    log,
  };
}

await runProgram(async () => {
  const options = readOptions();
  const rows = await restRows(options);
  console.log(options.output === 'json' ? JSON.stringify(rows, null, 2) : rowsText(rows));
  return exceeded(rows).length === 0;
});
