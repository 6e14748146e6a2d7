#!/usr/bin/env node
/** The program `headroom` after `npm link` in a checkout. */
import { runProgram } from './run-program.ts';

await runProgram('headroom', process.argv.slice(2));
