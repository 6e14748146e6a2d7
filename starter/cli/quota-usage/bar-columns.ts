/** Rows in columns, with a bar at the end that takes what room is left. */
import { barWithPercent, percentUsed } from '../../../domain/quota-usage/bar.ts';
import { type Cell, GAP, paddedColumns } from '../columns.ts';
import { type Colour, coloured, type Terminal } from '../terminal.ts';

export interface Row {
  readonly cells: readonly Cell[];
  /** What the bar shows; null where there is none, as in a heading. */
  readonly bar: { readonly used: string | null; readonly hard: string } | null;
  readonly colour?: Colour | undefined;
}

/** Columns. A bar below the least is none. */
const LEAST_BAR = 6;
const MOST_BAR = 40;
/** `100 %`; what is longer is rare. */
const PERCENT = 5;
/** `not counted` */
const WORDS = 11;

/**
 * The rows below each other. Names and amounts are never shortened: it is the bar that gives way, down to the percentage
 * alone.
 */
export function barColumns(
  rows: readonly Row[],
  indent: number,
  terminal: Terminal,
  mostBar: number = MOST_BAR,
): readonly string[] {
  const lines = paddedColumns(
    rows.map(({ cells }) => cells),
    indent,
  );
  const usedWidth = (lines[0]?.length ?? 0) + GAP;
  const after = rows.some(({ bar }) => bar?.used === null) ? WORDS : PERCENT;
  const width = Math.min(mostBar, terminal.width - usedWidth - after - 1);
  return rows.map(({ bar, colour }, at) => {
    const drawn = bar === null ? '' : drawnBar(bar.used, bar.hard, width);
    return coloured(`${lines[at] ?? ''}${' '.repeat(GAP)}${drawn}`.trimEnd(), colour, terminal);
  });
}

/** `#####-----  48 %`. Plain ASCII, for logs, mails and terminals of every kind. */
function drawnBar(used: string | null, hard: string, width: number): string {
  if (width >= LEAST_BAR) {
    const drawn = plain(barWithPercent(used, hard, width));
    return `${drawn.slice(0, width)} ${drawn.slice(width + 1).padStart(PERCENT)}`;
  }
  return used === null ? 'not counted' : plain(percentUsed(used, hard)).padStart(PERCENT);
}

function plain(text: string): string {
  return text.replaceAll('█', '#').replaceAll('░', '-').replaceAll('▶', '>').replaceAll('–', '-');
}
