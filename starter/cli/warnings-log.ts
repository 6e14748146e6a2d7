import { type Logger, pino } from 'pino';

/** A log for activities that a command runs itself: what they warn of is added to these sentences, everything else is dropped. */
export function warningsLog(sentences: string[]): Logger {
  return pino(
    { level: 'warn', base: null, timestamp: false },
    { write: (line: string) => sentences.push((JSON.parse(line) as { msg: string }).msg) },
  );
}
