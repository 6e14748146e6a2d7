import { defineConfig } from 'vitest/config';

/** The tests that judge mutants of the domain: the pure ones, all of them by calls. */
export default defineConfig({
  test: { include: ['test/domain/**/*.test.ts'], testTimeout: 120_000 },
});
