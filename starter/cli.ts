/** `headroom`: the command line for operators. It talks to Temporal, and `explain` reads the cluster; workers do the work. */
import { mapStackTraces } from '../platform/process/stack-traces.ts';
import { createCommandLine } from './cli/command-line.ts';

mapStackTraces();
await createCommandLine().parseAsync();
