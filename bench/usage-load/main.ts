/**
 * `npm run bench:usage -- --quotas 500 --pods 5000 --rates 10,50 --seconds 120 --seed 1`: the same random changes on two
 * real clusters, one with Kubernetes' own quota controller and one with Headroom in its place, side by side on this
 * machine. It reports how late each status was and what that took; compare the figures of one run, never those of two
 * machines. `--rounds` repeats the rates, `--starters 2` adds one that stands by. It ends with 1 where a figure is above its limit
 * (`limits.ts`).
 */
import { parseArgs } from 'node:util';
import { log, reportFormat, runProgram } from '../program.ts';
import { wholeNumber } from '../whole-number.ts';
import { limitsOf } from './limits.ts';
import { limitsText, reportText } from './report.ts';
import { type RunOptions, runLoad } from './run-load.ts';
import { startAgainstHeadroom, startOriginalTwice } from './servers.ts';

interface Options extends RunOptions {
  readonly against: string;
  readonly output: 'table' | 'json';
  readonly starters: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quotas: { type: 'string', default: '500' },
      pods: { type: 'string', default: '5000' },
      rates: { type: 'string', default: '10,50' },
      rounds: { type: 'string', default: '1' },
      starters: { type: 'string', default: '1' },
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
  const starters = wholeNumber('starters', values.starters, 1);
  if (starters > 2) throw new Error(`--starters ${values.starters}: expected 1 or 2`);
  const rates = values.rates.split(',').map((rate) => wholeNumber('rates', rate, 1));
  const rounds = wholeNumber('rounds', values.rounds, 1);
  return {
    quotas: wholeNumber('quotas', values.quotas, 1),
    pods: wholeNumber('pods', values.pods, 1),
    rates: Array.from({ length: rounds }, () => rates).flat(),
    seconds: wholeNumber('seconds', values.seconds, 1),
    seed: wholeNumber('seed', values.seed, 0),
    burst: wholeNumber('burst', values.burst, 0),
    histories: wholeNumber('histories', values.histories, 1),
    settle: wholeNumber('settle', values.settle, 0),
    against: values.against,
    starters,
    output: reportFormat(values.output),
    log,
  };
}

await runProgram(async () => {
  const options = readOptions();
  log('starting the servers');
  const servers = await (options.against === 'headroom'
    ? startAgainstHeadroom(options.starters === 2)
    : startOriginalTwice());
  try {
    const report = await runLoad(servers, options);
    const limits = limitsOf(report);
    const text = (): string => [reportText(report), limitsText(limits)].join('\n\n');
    console.log(options.output === 'json' ? JSON.stringify({ ...report, limits }, null, 2) : text());
    return limits.every(({ isHeld }) => isHeld);
  } finally {
    await servers.stop();
  }
});
