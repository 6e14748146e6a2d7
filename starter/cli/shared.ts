/** What the commands of `headroom` have in common: their arguments, and how they fail. */
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
import type { CommandIo } from './output.ts';

export interface SharedOptions {
  readonly clusterName?: string;
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: 'text' | 'json';
}

/** The command failed; the message is for the user. */
export class CommandFailed extends Error {}

/**
 * Whether Temporal itself reported an error: a namespace that does not exist, a missing permission, a broken
 * connection.
 */
export function isTemporalAnswer(error: unknown): error is Error {
  return isGrpcServiceError(error) || error instanceof ServiceError || error instanceof NamespaceNotFoundError;
}

export function innermost(error: Error): string {
  return error.cause instanceof Error ? innermost(error.cause) : error.message;
}

/**
 * gRPC codes of a call that no worker answered: DEADLINE_EXCEEDED, which the server may report as CANCELLED when it
 * gives up at the same moment, and FAILED_PRECONDITION when no worker polls.
 */
const UNANSWERED: readonly number[] = [1, 4, 9];

/** How long a worker may take to answer: longer than any workflow task, and acceptable for a waiting person. */
export const ANSWER_MS = 10_000;

/** Whether no worker answered in time, or none polls. */
export function isUnanswered(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return (
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    (isGrpcServiceError(cause) && UNANSWERED.includes(cause.code))
  );
}

/**
 * Calls a workflow; a missing workflow, a rejection and a missing worker become sentences.
 *
 * @param noneRuns creates the error for a missing workflow.
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
export function userName(env: CommandIo['env']): string {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] ?? 'unknown';
  }
}

/** A detail is Markdown; a terminal shows the link's text, and its address stands in a line of its own. */
export function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}
