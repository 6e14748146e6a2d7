/**
 * `make demo`: a story on real servers, told as it happens. The main job, with `memcached` a cache that scales, with `node-groups`
 * nodes that come and go, or with `lights-out` one night of a schedule. `--exit` ends it with 0 (it went as it should) or 1.
 */
import { ensureServers } from '../../tools/resolver/ensure-servers.ts';
import { INTERRUPTED, interruptSignal, unlessInterrupted, untilAborted } from './interrupt.ts';
import { readSwitches } from './servers.ts';
import type { RunningStory, Story } from './story.ts';

const args = readSwitches(['memcached', 'node-groups', 'lights-out', '--exit']);
const interrupt = interruptSignal();
let started = Date.now();
let running: RunningStory | undefined;

try {
  const { opening, servers, start } = await chosen();
  await unlessInterrupted({ interrupt }, async () => await ensureServers(servers));
  console.log(opening);
  started = Date.now();
  running = await start({ log, interrupt });
  const { succeeded, addresses } = await running.tell();
  if (interrupt.aborted) process.exitCode = INTERRUPTED;
  else {
    console.log(`\n${addresses}`);
    process.exitCode = succeeded ? 0 : 1;
    if (!args['--exit']) {
      console.log('\nEverything stays up until Ctrl-C.');
      await untilAborted(interrupt);
    }
  }
} catch (error) {
  process.exitCode = interrupt.aborted ? INTERRUPTED : 1;
  if (!interrupt.aborted) console.error(error instanceof Error ? error.message : error);
} finally {
  if (!args['--exit']) console.log('\nStopping');
  await running?.stop();
}
process.exit();

async function chosen(): Promise<Story> {
  if (args.memcached) return (await import('./memcached.ts')).memcachedStory;
  if (args['node-groups']) return (await import('./node-groups.ts')).nodeGroupsStory;
  if (args['lights-out']) return (await import('./lights-out.ts')).lightsOutStory;
  return (await import('./quota-resize.ts')).quotaResizeStory;
}

function log(message: string): void {
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${message}`);
}
