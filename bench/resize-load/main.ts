/**
 * `npm run bench:resize -- --rounds 5 --burst 50 --parts latency-0,burst`: how long it takes from the refusal of a pod to the
 * open pull request with the right value: one refusal after the other with a fast and a slow forge, many at once, and in a
 * repository as large as real ones. Moments are read where they took effect: Events at the API server, the log of the forge.
 * It ends with 1 where a figure is above its limit.
 */
import { parseArgs } from 'node:util';
import { log, reportFormat, runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { exceeded, rowsText } from './rows.ts';
import { allParts, type Part, resizeRows, type RunOptions } from './run-load.ts';

function readOptions(): RunOptions & { readonly output: 'table' | 'json' } {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      burst: { type: 'string', default: '50' },
      'repository-burst': { type: 'string', default: '20' },
      parts: { type: 'string', default: allParts.join(',') },
      profile: { type: 'string' },
      output: { type: 'string', default: 'table' },
    },
  });
  const isPart = (part: string): part is Part => allParts.some((known) => known === part);
  const parts = values.parts.split(',').map((part) => {
    if (!isPart(part)) throw new Error(`--parts ${part}: expected some of ${allParts.join(',')}`);
    return part;
  });
  return {
    rounds: wholeNumber('rounds', values.rounds, 1),
    burst: wholeNumber('burst', values.burst, 1),
    repositoryBurst: wholeNumber('repository-burst', values['repository-burst'], 1),
    parts,
    profile: values.profile ?? null,
    output: reportFormat(values.output),
    log,
  };
}

await runProgram(async () => {
  const options = readOptions();
  const rows = await resizeRows(options);
  console.log(options.output === 'json' ? JSON.stringify(rows, null, 2) : rowsText(rows));
  return exceeded(rows).length === 0;
});
