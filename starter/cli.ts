/** `headroom`: the command line for operators. It talks to Temporal, and `explain` reads the cluster; workers do the work. */
import { readFileSync } from 'node:fs';
import { mapStackTraces } from '../platform/process/stack-traces.ts';
import { runCommandLine } from './cli/command-line.ts';

mapStackTraces();
for (const stream of [process.stdout, process.stderr]) {
  // Whoever reads the answer may have read enough, as head has.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  readStdin: () => readFileSync(process.stdin.fd, 'utf8'),
});
