/** What the output is written to: how wide it is, and whether it shows colours. */
import { visibleText } from '../../domain/kernel/sentence.ts';

export interface Terminal {
  /** Columns. */
  readonly width: number;
  readonly colours: boolean;
}

/** Where nothing tells the width. */
const DEFAULT_WIDTH = 100;
const LEAST_WIDTH = 40;

/** The terminal behind a stream. `COLUMNS` counts where the stream is none; `NO_COLOR` is https://no-color.org. */
export function terminalOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const columns = Number(env['COLUMNS']);
  const width = stream.columns ?? (Number.isInteger(columns) && columns > 0 ? columns : DEFAULT_WIDTH);
  const colours = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return { width: Math.max(width, LEAST_WIDTH), colours };
}

export type Colour = 'red' | 'yellow' | 'bold' | 'dim';

const CODES: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  red: [31, 39],
  yellow: [33, 39],
  bold: [1, 22],
  dim: [2, 22],
};

export function coloured(text: string, colour: Colour | undefined, { colours }: Terminal): string {
  if (!colours || colour === undefined || text === '') return text;
  const [on, off] = CODES[colour];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}

// oxlint-disable-next-line no-control-regex -- it is what begins the code of a colour
const COLOUR_CODE = /(\u001B\[(?:1|2|22|31|33|39)m)/;

/** Every character can be seen; where the terminal shows colours, those stay. */
export function visibleIn(text: string, { colours }: Terminal): string {
  if (!colours) return visibleText(text);
  // Parts with an odd index are the codes of colours.
  const parts = text.split(COLOUR_CODE);
  return parts.map((part, index) => (index % 2 === 1 ? part : visibleText(part))).join('');
}

/** A sentence broken between words; every line after the first is indented by so many more columns. */
export function wrapped(text: string, indent: number, { width }: Terminal, hanging = 2): readonly string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = ' '.repeat(indent + hanging);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
