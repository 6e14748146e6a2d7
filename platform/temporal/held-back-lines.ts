/** The SDK holds lines of the log back for a moment, to order them. Ten times a second it looks for some, whether there are any or not. */
import { NativeLogCollector } from '@temporalio/worker/lib/runtime-logger.js';

/** What is used of the SDK's collector, some of which is private. */
interface Collector {
  readonly buffer: { size(): number };
  readonly flushPassIntervalMs: number;
  flushIntervalTimer: NodeJS.Timeout;
  appendOne: (this: Collector, line: unknown) => void;
  receive: (this: Collector, lines: readonly unknown[]) => void;
  flushMatured: (this: Collector) => void;
}

let isDone = false;

/**
 * Has the SDK look for lines only while some are held back. A worker at rest writes none for hours, and each look wakes it up: they were
 * half of the CPU time that its main thread took. To be called before the SDK's runtime is made.
 */
export function lookOnlyForLinesThatThereAre(): void {
  if (isDone) return;
  isDone = true;
  const collectors = NativeLogCollector.prototype as unknown as Collector;
  const { appendOne, receive, flushMatured } = collectors;
  const resting = new WeakSet<Collector>();
  const goOn = (collector: Collector): void => {
    if (collector.buffer.size() === 0 || !resting.delete(collector)) return;
    const look = (): void => collector.flushMatured();
    collector.flushIntervalTimer = setInterval(look, collector.flushPassIntervalMs).unref();
  };
  collectors.flushMatured = function () {
    flushMatured.call(this);
    if (this.buffer.size() > 0) return;
    clearInterval(this.flushIntervalTimer);
    resting.add(this);
  };
  collectors.appendOne = function (line) {
    appendOne.call(this, line);
    goOn(this);
  };
  collectors.receive = function (lines) {
    receive.call(this, lines);
    goOn(this);
  };
}
