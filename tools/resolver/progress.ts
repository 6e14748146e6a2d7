import { clearLine, cursorTo } from 'node:readline';

/** Without a terminal a line is written this often, in milliseconds: a log that shows life and stays readable. */
const LOG_MILLISECONDS = 10_000;
/** With a terminal the line is redrawn this often, in milliseconds. */
const REDRAW_MILLISECONDS = 250;

/** Reports the progress of a long step. */
export interface Progress {
  /** Replaces the words after the elapsed time, such as "412 packages compiled". */
  detail: (text: string) => void;
  /** Ends the step with its last words; the elapsed time is added. */
  done: (text: string) => void;
}

/**
 * Shows a step with the time it has taken: one live line on a terminal, otherwise a line now and about every ten seconds.
 * @param stream stderr, so that a path printed on stdout can be used by a script.
 */
export function showProgress(title: string, stream: NodeJS.WriteStream = process.stderr): Progress {
  const start = performance.now();
  let detail = '';
  const line = () => `${title}: ${elapsed(performance.now() - start)}${detail === '' ? '' : `, ${detail}`}`;
  const replaceLine = (text: string) => {
    clearLine(stream, 0);
    cursorTo(stream, 0);
    // A line that wraps cannot be redrawn in place.
    stream.write(text.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
  };
  const live = stream.isTTY;
  if (live) {
    replaceLine(line());
  } else {
    stream.write(`${title}\n`);
  }
  const timer = setInterval(
    () => (live ? replaceLine(line()) : stream.write(`${line()}\n`)),
    live ? REDRAW_MILLISECONDS : LOG_MILLISECONDS,
  );
  return {
    detail: (text) => {
      detail = text;
    },
    done: (text) => {
      clearInterval(timer);
      if (live) {
        replaceLine('');
      }
      stream.write(`${text} (${elapsed(performance.now() - start)})\n`);
    },
  };
}

/** Milliseconds as minutes and seconds: 75,000 is "1:15". */
export function elapsed(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
