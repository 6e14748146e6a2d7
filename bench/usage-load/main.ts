/**
 * `npm run bench:usage -- --quotas 500 --pods 5000 --rates 10,50 --seconds 120 --seed 1`: the same random changes on two
 * real clusters, one with Kubernetes' own quota controller and one with Headroom in its place, side by side on this
 * machine. It reports how late each status was and what that took; compare the figures of one run, never those of two
 * machines.
 */
import { parseArgs } from 'node:util';
import { wholeNumber } from '../whole-number.ts';
import { reportText } from './report.ts';
import { type RunOptions, runLoad } from './run-load.ts';
import { startAgainstHeadroom, startOriginalTwice } from './servers.ts';

const started = performance.now();
/** On standard error, so that the report alone is on standard output. */
const log = (what: string): void => {
  console.error(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${what}`);
};

function readOptions(): RunOptions & { readonly against: string; readonly output: string } {
  const { values } = parseArgs({
    options: {
      quotas: { type: 'string', default: '500' },
      pods: { type: 'string', default: '5000' },
      rates: { type: 'string', default: '10,50' },
      seconds: { type: 'string', default: '120' },
      seed: { type: 'string', default: '1' },
      burst: { type: 'string', default: '1000' },
      histories: { type: 'string', default: '400' },
      settle: { type: 'string', default: '60' },
      against: { type: 'string', default: 'headroom' },
      output: { type: 'string', default: 'table' },
    },
  });
  if (!['headroom', 'original'].includes(values.against)) {
    throw new Error(`--against ${values.against}: expected headroom, or original for two clusters of the same kind`);
  }
  if (!['table', 'json'].includes(values.output)) throw new Error(`--output ${values.output}: expected table or json`);
  return {
    quotas: wholeNumber('quotas', values.quotas, 1),
    pods: wholeNumber('pods', values.pods, 1),
    rates: values.rates.split(',').map((rate) => wholeNumber('rates', rate, 1)),
    seconds: wholeNumber('seconds', values.seconds, 1),
    seed: wholeNumber('seed', values.seed, 0),
    burst: wholeNumber('burst', values.burst, 0),
    histories: wholeNumber('histories', values.histories, 1),
    settle: wholeNumber('settle', values.settle, 0),
    against: values.against,
    output: values.output,
    log,
  };
}

try {
  const options = readOptions();
  log('starting the servers');
  const servers = await (options.against === 'headroom' ? startAgainstHeadroom() : startOriginalTwice());
  try {
    const report = await runLoad(servers, options);
    console.log(options.output === 'json' ? JSON.stringify(report, null, 2) : reportText(report));
  } finally {
    await servers.stop();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
