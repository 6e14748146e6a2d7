/** `npm run bench:floors -- --times 50`: what a request, a watch and a workflow take on this machine, in milliseconds. */
import { parseArgs } from 'node:util';
import { rowsText } from '../resize-load/rows.ts';
import { runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { floorRows } from './run-floors.ts';

await runProgram(async () => {
  const { values } = parseArgs({
    options: { times: { type: 'string', default: '50' }, output: { type: 'string', default: 'table' } },
  });
  const rows = await floorRows(wholeNumber('times', values.times, 1));
  console.log(values.output === 'json' ? JSON.stringify(rows, null, 2) : rowsText(rows));
  return true;
});
