import type { LogLevel, LogMetadata, Logger as TemporalLogger } from '@temporalio/common';
import pino from 'pino';
import { auditedDestination } from './audit.ts';
import { redactFields, scrub } from './redaction.ts';
import { visibleText } from '../../domain/kernel/sentence.ts';
import type { Secret } from '../../domain/kernel/settings/secret.ts';

export type Log = pino.Logger;

export interface LogOptions {
  /** The program: the field `name` of every line. */
  readonly name: string;
  readonly level: pino.Level;
  /** Values that must never be logged, in any form and from any source. */
  readonly secrets?: readonly Secret<string | readonly string[]>[];
  /** Standard output when absent. */
  readonly destination?: pino.DestinationStream;
  /** The path of a file that the lines of the audit log are added to. Absent: they are among the others only. */
  readonly auditFile?: string | undefined;
}

// A shorter text is not a credential, and redacting it would damage ordinary words.
const SHORTEST_SECRET = 8;

/**
 * A log of JSON lines: `time` (ISO 8601, UTC), `level` in words, `name`, the fields, `msg`. Credentials are redacted by
 * the name of their field, by their format, and by their value. Hidden characters are shown by their number. Lines of the
 * audit log are written whatever the level.
 *
 * @throws {ConfigError} when the file of the audit log cannot be opened.
 */
export function createLog({ name, level, secrets = [], destination, auditFile }: LogOptions): Log {
  const options: pino.LoggerOptions = {
    base: { name },
    // Lines above the level of the audit log are needed for it, and those of others are left out by the destination.
    level: isMoreThanInfo(level) ? 'info' : level,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors are written by `redactFields`, which also looks into their own fields.
    serializers: { err: (error: unknown) => error },
    formatters: {
      level: (label) => ({ level: label }),
      bindings: redactFields,
      log: redactFields,
    },
    hooks: { streamWrite: (line) => visibleText(withoutValues(scrub(line), secrets)) },
  };
  // Synchronous, so that the last lines before a crash or an exit are written.
  const lines = destination ?? pino.destination({ dest: 1, sync: true });
  return pino(options, auditedDestination(lines, { level, file: auditFile }));
}

function isMoreThanInfo(level: pino.Level): boolean {
  return (pino.levels.values[level] ?? 0) > (pino.levels.values['info'] ?? 0);
}

/** What removes credentials from a text: by their format, and by their values. */
export function redactor(secrets: NonNullable<LogOptions['secrets']>): (text: string) => string {
  return (text) => withoutValues(scrub(text), secrets);
}

function withoutValues(line: string, secrets: readonly Secret<string | readonly string[]>[]): string {
  let clean = line;
  for (const value of secrets.flatMap((secret) => secret.reveal())) {
    if (value.length < SHORTEST_SECRET) continue;
    // In a JSON line, quotes and line breaks of a value may be escaped.
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) clean = clean.replaceAll(form, '[redacted]');
  }
  return clean;
}

const PINO_LEVELS: Readonly<Record<LogLevel, pino.Level>> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/**
 * The SDK's core logs each retry of each poll here, ten lines a second, while an unavailable server is already being
 * waited for.
 */
const CORE_RETRIES = 'temporalio_client::retry';

/** What Temporal's SDK, its native core, workflows and activities log, as lines of the given log. */
export function temporalLogger(log: Log): TemporalLogger {
  const write = (level: LogLevel, message: string, meta: LogMetadata = {}): void => {
    const { error, ...fields } = meta;
    const isRetry = level === 'WARN' && fields['target'] === CORE_RETRIES;
    // All lines have errors in `err`, as pino and its tools expect.
    log[isRetry ? 'debug' : PINO_LEVELS[level]](
      error === undefined ? fields : { ...fields, err: error as unknown },
      message,
    );
  };
  return {
    log: write,
    trace: (message, meta) => write('TRACE', message, meta),
    debug: (message, meta) => write('DEBUG', message, meta),
    info: (message, meta) => write('INFO', message, meta),
    warn: (message, meta) => write('WARN', message, meta),
    error: (message, meta) => write('ERROR', message, meta),
  };
}
