import { NativeLogCollector } from '@temporalio/worker/lib/runtime-logger.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { lookOnlyForLinesThatThereAre } from '../../../platform/temporal/held-back-lines.ts';

/** The SDK holds a line back for 100 ms, and looks every 100 ms. */
const WRITTEN_MS = 200;

beforeEach(() => {
  vi.useFakeTimers();
  lookOnlyForLinesThatThereAre();
});
afterEach(() => void vi.useRealTimers());

function collecting(): { readonly collector: NativeLogCollector; readonly written: readonly string[] } {
  const written: string[] = [];
  const write = (message: string): void => void written.push(message);
  const log = (_level: string, message: string): void => write(message);
  const collector = new NativeLogCollector({ log, trace: write, debug: write, info: write, warn: write, error: write });
  return { collector, written };
}

it('a worker that writes nothing is not woken up by its log', () => {
  const { collector } = collecting();
  vi.advanceTimersByTime(WRITTEN_MS);
  expect(vi.getTimerCount()).toBe(0);
  collector.close();
});

it('a line of the worker is written in the same time as before, and then the log rests again', () => {
  const { collector, written } = collecting();
  vi.advanceTimersByTime(1_000);
  collector.logger.info('first');
  collector.logger.warn('second');
  vi.advanceTimersByTime(WRITTEN_MS);
  expect(written).toEqual(['first', 'second']);
  expect(vi.getTimerCount()).toBe(0);
  collector.logger.error('third');
  vi.advanceTimersByTime(WRITTEN_MS);
  expect(written).toEqual(['first', 'second', 'third']);
});

it("so is a line of the SDK's native part", () => {
  const { collector, written } = collecting();
  vi.advanceTimersByTime(1_000);
  const line = { message: 'native', timestamp: String(BigInt(Date.now()) * 1_000_000n), level: 'WARN', fields: {} };
  collector.receive([JSON.stringify(line)]);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(WRITTEN_MS);
  expect(written).toEqual(['native']);
  expect(vi.getTimerCount()).toBe(0);
});

it('what is held back is written when the worker ends', () => {
  const { collector, written } = collecting();
  vi.advanceTimersByTime(1_000);
  collector.logger.info('last');
  collector.close();
  expect(written).toEqual(['last']);
  expect(vi.getTimerCount()).toBe(0);
});
