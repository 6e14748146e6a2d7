import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.integration.test.ts', 'node_modules/**'],
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.integration.test.ts'],
          // The real servers share two cores: files one after the other, so that no test competes with another file's
          // control plane for its timeouts.
          fileParallelism: false,
          globalSetup: ['test/kernel/stack/workflow-bundle.ts'],
          // A whole episode on real servers takes seconds; the first test of a file also starts its servers.
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
