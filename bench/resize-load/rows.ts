/** A row of the table of benchmarks: what was measured several times in one run, and the most that it may be. */
export interface BenchRow {
  readonly name: string;
  /** `s`, `MiB`, `requests`, `CPU s`: what the values are in. */
  readonly unit: string;
  /** One value for each time that it was measured. */
  readonly values: readonly number[];
  /** No value may be larger. Null: the row explains others, and has no limit. */
  readonly limit: number | null;
}

/** The rows with a value above the limit. */
export function exceeded(rows: readonly BenchRow[]): readonly BenchRow[] {
  return rows.filter(({ values, limit }) => limit !== null && values.some((value) => value > limit));
}

/** A line for each row, with minimum, median and maximum. */
export function rowsText(rows: readonly BenchRow[]): string {
  const lines = rows.map(({ name, unit, values, limit }) => {
    const sorted = values.toSorted((a, b) => a - b);
    const shown = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)]
      .map((value) => (value === undefined ? '-' : value.toFixed(2)).padStart(9))
      .join(' ');
    const bound = limit === null ? '' : `  at most ${limit}`;
    return `${name.padEnd(72)} ${shown} ${unit.padEnd(8)}${bound}`;
  });
  return ['of several measurements: minimum, median, maximum', ...lines].join('\n');
}
