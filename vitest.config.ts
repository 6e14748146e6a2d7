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
          // Some start programs, and some try hundreds of inputs: a second or two, and more where others use the cores.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.integration.test.ts'],
          // One file more than there are cores: while it waits for clocks and for servers to start, a file alone leaves two
          // cores idle for a quarter to two thirds of their time. Each file has servers of its own, so the others only take
          // time from it; no limit on time is so narrow that this matters, and a test that fails for it has a fault. More
          // than four are a matter of memory: the servers of a file take one to two gigabytes.
          maxWorkers: Math.min(4, availableParallelism() + 1),
          // What a file loads, and GitHub's description once it is compiled, is there for the next file. No test changes
          // what it imports.
          isolate: false,
          // After the unit tests where both run: their number at once is another one.
          sequence: { groupOrder: 1 },
          globalSetup: ['test/kernel/stack/workflow-bundle.ts'],
          // A whole episode on real servers takes seconds; the first test of a file also starts its servers.
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
