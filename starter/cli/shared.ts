/** What the commands of `headroom` have in common: their arguments, what they print, and how they fail. */
import { userInfo } from 'node:os';
import {
  type Client,
  isGrpcServiceError,
  NamespaceNotFoundError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';

export interface SharedOptions {
  readonly clusterName?: string;
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: 'text' | 'json';
}

/** A command cannot do what it is asked to; the message is for whoever asked. */
export class CommandFailed extends Error {}

/** Whether Temporal itself said no, or nothing: a namespace that does not exist, a right that is missing, a broken line. */
export function isTemporalAnswer(error: unknown): error is Error {
  return isGrpcServiceError(error) || error instanceof ServiceError || error instanceof NamespaceNotFoundError;
}

export function innermost(error: Error): string {
  return error.cause instanceof Error ? innermost(error.cause) : error.message;
}

/** Ends the command with a sentence on standard error. */
export function fail(message: string, code: number): void {
  console.error(message);
  process.exitCode = code;
}

/**
 * gRPC codes of a question that no worker took up: DEADLINE_EXCEEDED, which the server that gave up in the same moment may
 * call CANCELLED, and FAILED_PRECONDITION where none polls at all.
 */
const UNANSWERED: readonly number[] = [1, 4, 9];

/** How long a worker may take to answer: longer than any activity task, and a person waits for it. */
export const ANSWER_MS = 10_000;

/** Whether nobody answered a question in time, or nobody is there to. */
export function isUnanswered(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return (
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    (isGrpcServiceError(cause) && UNANSWERED.includes(cause.code))
  );
}

/**
 * Asks a workflow; that none runs, that it refuses, or that no worker answers is a sentence.
 *
 * @param noneRuns what is to be thrown where there is no such workflow.
 * @throws {CommandFailed}
 */
export async function answered<T>(
  client: Client,
  cluster: string,
  noneRuns: () => Error | Promise<Error>,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + ANSWER_MS, ask);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw await noneRuns();
    if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError) {
      throw new CommandFailed(error.cause?.message ?? error.message);
    }
    if (isUnanswered(error)) {
      throw new CommandFailed(
        `No worker of ${cluster} answered within ${ANSWER_MS / 1000} s. Is one running? A command may still take effect when a worker comes back.`,
      );
    }
    throw error;
  }
}

/** The sender's name on this machine. In a container the user may have none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env['USER'] ?? 'unknown';
  }
}

/** A detail is Markdown; a terminal shows the link's text, and its address stands in a line of its own. */
export function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** JSON on standard output. */
export function print(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
