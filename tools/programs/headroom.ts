#!/usr/bin/env node
/** `headroom` on the PATH of whoever has run `npm link` in a checkout. */
import { runProgram } from './run-program.ts';

await runProgram('headroom', process.argv.slice(2));
