import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * By how many percent the heap may grow between two collections. By V8's own rule it is up to four times as large as what is in it
 * where the machine has much memory.
 */
const GROWTH_PERCENT = 30;

/** For a process whose work comes in bursts: it collects its garbage more often, so that a burst takes less memory. */
export function collectOften(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/** How often a thread looks whether it rests. */
const LOOK_MS = 10_000;
/**
 * The look that collects the garbage of the start at the latest. Where it came while lists and first answers still did, a second collection
 * was due half a minute later, and cost 0.1 to 0.2 s of CPU time again.
 */
const START_LOOKS = 3;
/** The part of the time that a thread works at most while it rests. */
const AT_REST = 0.2;
/**
 * By how much the heap has to have grown for its collection to be worth some 2 ms of CPU time for each MiB that is in it. A process that
 * only rests grows by 8 % in some minutes, and would spend on that more CPU time than its limit has.
 */
const WORTH = 1.2;
/** By how much it grows at most between two looks while the thread rests. Where it grows by more, V8 collects it by itself. */
const STILL = 1.02;

/**
 * Collects the garbage of this thread some seconds after its start, which needs twice the memory of what comes then, and again when
 * it rests after a burst. V8 itself would leave that as it is where nothing more is allocated. Only where Node was
 * started with `--expose-gc`, as in the image.
 */
export function collectAtRest(lookMs = LOOK_MS): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let keptBytes = 0;
  let lastBytes = 0;
  let looks = 0;
  let before = performance.eventLoopUtilization();
  const look = async (): Promise<void> => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const bytes = lastingBytes();
    const isStill = utilization <= AT_REST && bytes <= lastBytes * STILL;
    lastBytes = bytes;
    looks += 1;
    const isDue = keptBytes === 0 ? isStill || looks >= START_LOOKS : isStill && bytes >= keptBytes * WORTH;
    if (!isDue) return;
    await gc({ type: 'major', execution: 'async', flavor: 'last-resort' });
    keptBytes = lastingBytes();
    lastBytes = keptBytes;
  };
  setInterval(() => void look(), lookMs).unref();
}

/** The heap without what is young: that part grows with every few things that are made, and V8 collects it by itself. */
function lastingBytes(): number {
  const lasting = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
  return lasting.reduce((sum, { space_size: bytes }) => sum + bytes, 0);
}
