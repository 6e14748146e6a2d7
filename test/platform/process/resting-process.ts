/** Works, drops what it has made, and rests: says as JSON how often its garbage was collected, and what became of its heap. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { collectAtRest } from '../../../platform/process/memory.ts';
import { eventually } from '../../kernel/stack/eventually.ts';

const LOOK_MS = 100;
const MEBIBYTE = 1024 * 1024;
/** Arrays of 5,000 objects, some 60 MB. */
const MADE = 200;

const { gc } = globalThis;
let collections = 0;
globalThis.gc = (async (options: NodeJS.GCOptions & { execution: 'async' }) => {
  await gc?.(options);
  collections += 1;
}) as typeof globalThis.gc;

function seen(): { readonly collections: number; readonly heapMiB: number } {
  return { collections, heapMiB: Math.round(getHeapStatistics().total_heap_size / MEBIBYTE) };
}

collectAtRest(LOOK_MS);
await eventually('the garbage of the start is collected', () => collections === 1);
const made: object[][] = [];
const until = performance.now() + 10 * LOOK_MS;
while (performance.now() < until || made.length < MADE) {
  if (made.length < MADE) made.push(Array.from({ length: 5_000 }, (_, index) => ({ index })));
  await turn();
}
const working = seen();
made.length = 0;
await eventually('the garbage of the work is collected', () => collections > working.collections);
const resting = seen();
// As a process that watches a quiet cluster: a little is made all the time, and is garbage at once.
let last: object[] = [];
const enough = performance.now() + 20 * LOOK_MS;
for (let index = 0; performance.now() < enough; index += 1) {
  last = Array.from({ length: 2_000 }, () => ({ index }));
  await pause(LOOK_MS / 10);
}
console.log(JSON.stringify({ working, resting, idling: seen(), last: last.length }));
