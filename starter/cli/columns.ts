/** Rows of text in columns. */

export interface Cell {
  readonly text: string;
  readonly right?: boolean;
}

/** Columns between two cells. */
export const GAP = 2;

/** Rows below each other, with nothing behind the last cell. */
export function columns(rows: readonly (readonly (Cell | string)[])[], indent = 0): readonly string[] {
  return paddedColumns(rows, indent).map((line) => line.trimEnd());
}

/** The same, all of the same length. */
export function paddedColumns(rows: readonly (readonly (Cell | string)[])[], indent: number): readonly string[] {
  const cells = rows.map((row) => row.map((cell): Cell => (typeof cell === 'string' ? { text: cell } : cell)));
  const widths = cells.reduce<number[]>(
    (widest, row) => row.map(({ text }, at) => Math.max(widest[at] ?? 0, text.length)),
    [],
  );
  return cells.map((row) => {
    const texts = row.map(({ text, right }, at) =>
      right === true ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0),
    );
    return `${' '.repeat(indent)}${texts.join(' '.repeat(GAP))}`;
  });
}
