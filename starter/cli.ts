/** `headroom`: the command line for operators. It talks to Temporal, and `explain` reads the cluster; workers do the work. */
import { createCommandLine } from './cli/command-line.ts';

await createCommandLine().parseAsync();
