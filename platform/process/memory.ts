import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * By how many percent the heap may grow between two collections. By V8's own rule it is up to four times as large as what is in it
 * where the machine has much memory.
 */
const GROWTH_PERCENT = 30;

/** For a process whose work comes in bursts: it collects its garbage more often, so that a burst takes less memory. */
export function collectOften(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/** How often a thread looks whether it rests; after its start, first lists, compiled code and answers of servers have come together. */
const LOOK_MS = 10_000;
/** The part of the time that a thread works at most while it rests. */
const AT_REST = 0.2;
/** By how much the heap has to have grown for its collection to be worth some 2 ms of CPU time for each MiB that is in it. */
const WORTH = 1.08;

/**
 * Collects the garbage of this thread some seconds after its start, which needs twice the memory of what comes then, and again when
 * it rests after a burst. V8 itself would leave that as it is where nothing more is allocated. Only where Node was
 * started with `--expose-gc`, as in the image.
 */
export function collectAtRest(lookMs = LOOK_MS): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let keptBytes = 0;
  let before = performance.eventLoopUtilization();
  const look = async (): Promise<void> => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const { total_heap_size: bytes } = getHeapStatistics();
    const isFirst = keptBytes === 0;
    if (!isFirst && (utilization > AT_REST || bytes < keptBytes * WORTH)) return;
    await gc({ type: 'major', execution: 'async', flavor: 'last-resort' });
    keptBytes = getHeapStatistics().total_heap_size;
  };
  setInterval(() => void look(), lookMs).unref();
}
