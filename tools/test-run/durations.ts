import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * How long each file of the integration tests takes, in seconds: from its start, that of its servers included, to the end of its
 * last test. `npm test -- all --record` writes them after a run in which nothing failed, `npm test -- --record` those of the core.
 */
export type Durations = ReadonlyMap<string, number>;

/** A line for each file, `seconds<tab>file`, the longest first. */
const FILE = fileURLToPath(new URL('../../test/durations.tsv', import.meta.url));

export function recordedDurations(): Durations {
  const lines = readFileSync(FILE, 'utf8').split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [seconds, file = ''] = line.split('\t');
      if (!(Number(seconds) >= 0) || file === '')
        throw new Error(`${FILE}: expected "seconds<tab>file", got "${line}"`);
      return [file, Number(seconds)];
    }),
  );
}

/** Writes what was measured over what was recorded before; files that are gone are left out. */
export function recordDurations(measured: Durations, exists: (file: string) => boolean): void {
  const all = [...recordedDurations(), ...measured].filter(([file]) => exists(file));
  const lines = [...new Map(all)]
    .toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .map(([file, seconds]) => `${seconds.toFixed(1)}\t${file}`);
  writeFileSync(FILE, `${lines.join('\n')}\n`);
}
