/** What random tests draw their inputs from: the same in every run, or others with `HEADROOM_TEST_SEED=7`. */
const DEFAULT = 20_262;

export const seed = Number(process.env['HEADROOM_TEST_SEED'] ?? DEFAULT);
if (!Number.isInteger(seed)) {
  throw new Error(`expected HEADROOM_TEST_SEED to be a whole number, got "${process.env['HEADROOM_TEST_SEED']}"`);
}
