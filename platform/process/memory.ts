import { setFlagsFromString } from 'node:v8';

/**
 * By how many percent the heap may grow between two collections. By V8's own rule it is up to four times as large as what is in it
 * where the machine has much memory.
 */
const GROWTH_PERCENT = 30;

/** For a process whose work comes in bursts: it collects its garbage more often, so that a burst takes less memory. */
export function collectOften(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/** Seconds after the start in which its garbage has come together: first lists, compiled code, answers of servers. */
const AFTER_MS = 10_000;

/**
 * Collects garbage once, some seconds after the start, which needs twice the memory of what comes then. V8 itself would leave that as
 * it is in a process that rests. Only where Node was started with `--expose-gc`, as in the image.
 */
export function collectAfterStart(): void {
  setTimeout(
    () => void globalThis.gc?.({ type: 'major', execution: 'async', flavor: 'last-resort' }),
    AFTER_MS,
  ).unref();
}
