import { setTimeout as delay } from 'node:timers/promises';
import { logTail, type SupervisedProcess } from './supervised-process.ts';

/** A server that ended before it was ready. */
export class ServerEndedEarly extends Error {
  override readonly name = 'ServerEndedEarly';
  /** Whether it found its port taken, so that another port may help. */
  readonly portTaken: boolean;

  constructor(message: string, portTaken: boolean) {
    super(message);
    this.portTaken = portTaken;
  }
}

/** How often a server that starts is asked, in milliseconds: a small part of its start, which takes 0.2 to 3 s. */
const ASK_MILLISECONDS = 25;
/** A machine with all cores busy takes ten times as long as an idle one. */
const PATIENCE_MILLISECONDS = 60_000;
/** A server in Go may say that its port is taken and then panic, which prints a hundred lines more. */
const LINES_OF_A_PANIC = 300;

/**
 * Waits until a server answers.
 * @param isReady asks the server; false or a rejection means "not yet".
 * @throws ServerEndedEarly when the server ends first; Error with the end of its log when it is not ready after a minute.
 */
export async function untilReady(server: SupervisedProcess, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  let lastError: unknown;
  for (;;) {
    if (server.exit() !== undefined) {
      throw await endedEarly(server);
    }
    try {
      if (await isReady()) {
        return;
      }
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > deadline) {
      const why = lastError instanceof Error ? ` (${lastError.message})` : '';
      throw new Error(
        `${server.name} was not ready after ${PATIENCE_MILLISECONDS / 1000} s${why}; the end of its log:\n${await logTail(server.logFile)}`,
        { cause: lastError },
      );
    }
    await delay(ASK_MILLISECONDS);
  }
}

/** The error for a server that has ended too early, with the last words of its log. */
async function endedEarly(server: SupervisedProcess): Promise<ServerEndedEarly> {
  const { code, signal } = await server.exited;
  const lastWords = await logTail(server.logFile);
  return new ServerEndedEarly(
    `${server.name} ended with ${signal ?? code} before it was ready; the end of its log:\n${lastWords}`,
    /address already in use|can't set .*port|can't use default UI port/i.test(
      await logTail(server.logFile, LINES_OF_A_PANIC),
    ),
  );
}
