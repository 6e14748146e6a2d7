/** The audit log: lines of the log that have the field `audit`, written at the level info. */
import pino from 'pino';
import { ConfigError } from '../config/config-problem.ts';

/** As pino writes the field. Within a text the quotes would be escaped. */
const AUDIT_FIELD = '"audit":"';

export interface AuditOptions {
  /** The least level of other lines. */
  readonly level: pino.Level;
  /** Where lines of the audit log are written as well. */
  readonly file: string | undefined;
}

/**
 * A destination that gets lines of all levels and passes on those of the audit log, and others from the level on.
 *
 * @throws {ConfigError} when the file cannot be opened.
 */
export function auditedDestination(
  lines: pino.DestinationStream,
  { level, file }: AuditOptions,
): pino.DestinationStream {
  const least = pino.levels.values[level] ?? 0;
  const audited = file === undefined ? undefined : auditFile(file, lines);
  const destination = {
    lastLevel: 0,
    write(line: string) {
      const isAudited = line.includes(AUDIT_FIELD);
      if (isAudited || this.lastLevel >= least) lines.write(line);
      if (isAudited) audited?.write(line);
    },
  };
  // Pino sets `lastLevel` before each line of a destination that has this.
  return Object.assign(destination, { [Symbol.for('pino.metadata')]: true });
}

/** A file that lines are added to, each before the process goes on. */
function auditFile(path: string, lines: pino.DestinationStream): pino.DestinationStream {
  const file = opened(path);
  // A full disk must be seen, and stops nothing: the lines are in the log as well.
  file.on('error', (error: Error) => {
    const time = new Date().toISOString();
    lines.write(
      `${JSON.stringify({ level: 'error', time, msg: `the audit log ${path} is not written: ${error.message}` })}\n`,
    );
  });
  return file;
}

function opened(path: string): ReturnType<typeof pino.destination> {
  try {
    return pino.destination({ dest: path, append: true, sync: true, mkdir: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ where: 'HEADROOM_AUDIT_LOG', message: `the file cannot be opened: ${why}` }]);
  }
}
