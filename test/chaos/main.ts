/**
 * `npm run chaos -- --seed 7 --minutes 5 --quotas 8`: a long random run. The same seed makes the same
 * choices; what they meet depends on how fast the machine is.
 */
import { parseArgs } from 'node:util';
import copyPrograms from '../kernel/stack/programs.ts';
import { runChaos } from './chaos.ts';

const started = Date.now();
const log = (what: string): void => {
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(7)} s  ${what}`);
};

try {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      minutes: { type: 'string', default: '5' },
      quotas: { type: 'string', default: '8' },
    },
  });
  const [seed, minutes, quotas] = [Number(values.seed), Number(values.minutes), Number(values.quotas)];
  if (!Number.isInteger(seed) || !(minutes > 0) || !(Number.isInteger(quotas) && quotas > 0)) {
    throw new Error('expected --seed with a whole number, --minutes above 0, and --quotas with a whole number above 0');
  }
  log(`chaos with the seed ${seed} for ${minutes} minutes on ${quotas} quotas`);
  // What is restarted is what was killed, also where the source has changed meanwhile.
  const removePrograms = await copyPrograms();
  try {
    const report = await runChaos({ seed, forMs: minutes * 60_000, quotas, log });
    log(
      `all is well after ${report.actions} actions and ${report.pullRequests} pull requests; recovered in ${report.recoveryMs / 1000} s`,
    );
  } finally {
    await removePrograms();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
