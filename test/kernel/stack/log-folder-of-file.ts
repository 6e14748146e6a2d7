/** Vitest's set-up of each integration test file: gives its stacks a folder for their logs within that of the run. */
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { LOG_FOLDER } from './log-folder.ts';

/** The folder of the run, for all files of a process, which come one after the other. */
const RUN_FOLDER = 'HEADROOM_TEST_LOGS';

const run = process.env[RUN_FOLDER];
const { testPath } = expect.getState();
if (run !== undefined && testPath !== undefined) process.env[LOG_FOLDER] = join(run, relative(process.cwd(), testPath));
