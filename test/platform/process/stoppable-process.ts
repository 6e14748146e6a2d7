import { createLog } from '../../../platform/log/log.ts';
import { installShutdown } from '../../../platform/process/shutdown.ts';

/** A process that stops in the way its argument says; the test sends the signals. */
const way = process.argv[2];
const log = createLog({ name: 'stoppable', level: 'info' });
const secondSignal = Promise.withResolvers<void>();
// Two signals are at once where no time passes in between, however long a busy machine takes from one to the other.
if (way === 'twice') performance.now = () => 0;
const shutdown = installShutdown({ log, graceMs: way === 'too-slow' ? 200 : 20_000 });

shutdown.onStop('connection', () => log.info('connection closed'));
shutdown.onStop('work', async () => {
  if (way === 'failing-step') throw new Error('the work does not end');
  if (way === 'twice') await secondSignal.promise;
  if (way === 'too-slow') await new Promise(() => undefined);
  // Longer than the time in which a second signal counts as the same one.
  if (way === 'impatient') await new Promise(() => setInterval(() => log.info('still working'), 600));
});
shutdown.signal.addEventListener('abort', () => {
  log.info('told to stop');
  // At once, however long it would take on a busy machine until somebody else has read that line.
  if (way === 'twice') process.kill(process.pid, 'SIGINT');
});

let signals = 0;
process.on('SIGINT', () => {
  signals += 1;
  if (signals === 2) secondSignal.resolve();
});

// Waits for something and does not catch what ends the wait, as a main function may.
void new Promise((_resolve, reject) => {
  shutdown.signal.addEventListener('abort', () => reject(shutdown.signal.reason as Error));
});
setInterval(() => undefined, 1000);
if (way === 'crash')
  queueMicrotask(() => {
    throw new Error('nobody caught this');
  });
log.info('ready');
