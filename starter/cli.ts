/** `headroom`: the command line for operators. It talks to Temporal, and `explain` reads the cluster; workers do the work. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { mapStackTraces } from '../platform/process/stack-traces.ts';
import { runCommandLine } from './cli/command-line.ts';

/** The name by which kubectl finds it. */
const PLUGIN = 'kubectl-headroom';

mapStackTraces();
for (const stream of [process.stdout, process.stderr]) {
  // Whoever reads the answer may have read enough, as head has.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
void runCommandLine(process.argv.slice(2), {
  env: process.env,
  ...(basename(process.argv[1] ?? '') === PLUGIN ? { name: 'kubectl headroom', defaultKubeconfig: ofKubectl() } : {}),
  stdout: process.stdout,
  stderr: process.stderr,
  readStdin: () => readFileSync(process.stdin.fd, 'utf8'),
}).then((code) => {
  process.exitCode = code;
});

/** Who writes kubectl means the cluster that kubectl means. */
function ofKubectl(): string | undefined {
  const file = join(homedir(), '.kube', 'config');
  return existsSync(file) ? file : undefined;
}
