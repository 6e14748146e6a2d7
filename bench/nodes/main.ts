/**
 * `npm run bench:nodes -- --pods 500 --shape uniform --seed 1`: the same pods and instance types for Karpenter (with its kwok provider) and
 * for Headroom, one after the other, each on a control plane of its own. It reports how long nodes and pods take to come and to go, what the
 * nodes cost, and what that takes of the API server and of memory. It ends with 1 where Headroom's nodes cost more than 1.02 times
 * Karpenter's.
 */
import { parseArgs } from 'node:util';
import { log, reportFormat, runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { isCheapEnough, reportText } from './report.ts';
import { type RunOptions, runNodes } from './run.ts';
import { SHAPES } from './workload.ts';

function readOptions(): RunOptions & { readonly output: 'table' | 'json' } {
  const { values } = parseArgs({
    options: {
      pods: { type: 'string', default: '500' },
      shape: { type: 'string', default: 'uniform' },
      seed: { type: 'string', default: '1' },
      output: { type: 'string', default: 'table' },
    },
  });
  const shape = SHAPES.find((known) => known === values.shape);
  if (shape === undefined) throw new Error(`--shape ${values.shape}: expected ${SHAPES.join(' or ')}`);
  return {
    pods: wholeNumber('pods', values.pods, 1),
    shape,
    seed: wholeNumber('seed', values.seed, 0),
    output: reportFormat(values.output),
    log,
  };
}

await runProgram(async () => {
  const options = readOptions();
  const report = await runNodes(options);
  console.log(options.output === 'json' ? JSON.stringify(report, null, 2) : reportText(report));
  return isCheapEnough(report);
});
