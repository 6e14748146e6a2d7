/** What the benchmarks that are programs of their own have in common. */
const started = performance.now();

/** On standard error, so that the report alone is on standard output. */
export function log(what: string): void {
  console.error(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s  ${what}`);
}

/** @throws Error that names the flag, for anything but the two. */
export function reportFormat(text: string): 'table' | 'json' {
  if (text !== 'table' && text !== 'json') throw new Error(`--output ${text}: expected table or json`);
  return text;
}

/**
 * Runs a benchmark and ends the process, whatever of its servers still answers: with 0 where it resolves to true, and with 1 where a
 * figure is above its limit, or it failed, which is said in a line.
 */
export async function runProgram(benchmark: () => Promise<boolean>): Promise<never> {
  try {
    if (!(await benchmark())) process.exitCode = 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
  process.exit();
}
