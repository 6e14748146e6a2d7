/**
 * Moves the clock of a process for as long as it runs: `NODE_OPTIONS=--import FILE`. By how many milliseconds stands in the
 * file that `MOVED_CLOCK` names, which is read all the time. Monotonic clocks and timers go on as they are, as on a machine
 * whose clock is set.
 */
import { readFileSync } from 'node:fs';

const file = process.env['MOVED_CLOCK'] ?? '';
const real = globalThis.Date;
let byMs = 0;

function read(): void {
  byMs = Number(readFileSync(file, 'utf8'));
}

if (file !== '') {
  read();
  setInterval(read, 50).unref();
  globalThis.Date = new Proxy(real, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [real.now() + byMs] : args, newTarget) as Date,
    get: (target, property) => (property === 'now' ? () => real.now() + byMs : Reflect.get(target, property)),
  });
}
