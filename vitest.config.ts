import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tools/test-run/longest-first.ts';

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.integration.test.ts', 'node_modules/**'],
          // All cores: the default leaves one idle, and the longest files mostly wait for commands that they start.
          maxWorkers: availableParallelism(),
          // A process for each file, and what it loads, took half of the processor's time. No test changes what it imports.
          isolate: false,
          // Some start programs, and some try hundreds of inputs: a second or two, and thirty times as long where a machine
          // serves many others. What waits for something has a limit of its own, which says what.
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.integration.test.ts'],
          // Each file has six to ten processes that want the cores, and waits for clocks and restarts now and then: with as many
          // files as cores a third of these is idle, with one more a seventh. A second more gained a twentieth, and a test that
          // counts requests met more of them. More than four are a matter of memory: the servers of a file take one to two
          // gigabytes.
          maxWorkers: Math.min(4, availableParallelism() + 1),
          // What a file loads, and GitHub's description once it is compiled, is there for the next file. No test changes
          // what it imports.
          isolate: false,
          // After the unit tests where both run: their number at once is another one.
          sequence: { groupOrder: 1 },
          globalSetup: ['test/kernel/stack/programs.ts'],
          setupFiles: ['test/kernel/stack/log-folder-of-file.ts'],
          // A whole episode on real servers takes seconds; the first test of a file also starts its servers.
          testTimeout: 120_000,
          // The servers, one after the other, and then worker and starter: each has a limit of its own, which says more.
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
