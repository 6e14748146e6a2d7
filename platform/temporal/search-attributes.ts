import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { Log } from '../log/log.ts';
import { searchAttributesCommand } from './administrator-commands.ts';
import type { TemporalTarget } from './temporal-target.ts';

/** The search attributes that every workflow of Headroom carries; all of them are Keywords. */
export const SEARCH_ATTRIBUTES = ['HeadroomController', 'HeadroomTarget', 'HeadroomPhase', 'HeadroomCluster'] as const;

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

// gRPC status codes.
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;

// The servers' namespace caches were seen to update within seconds; a large Temporal cluster may need longer.
const VISIBLE_WITHIN_MS = 60_000;
const CHECK_EVERY_MS = 500;

/** Startup must fail without the search attributes: a workflow that sets an unknown one is retried for ever. */
export class SearchAttributesError extends Error {
  override readonly name = 'SearchAttributesError';
}

/**
 * Registers missing search attributes of the namespace, and returns when workflows can use them. Idempotent, even for
 * concurrent processes. If they may be neither listed nor created (Temporal Cloud), it only checks that they exist.
 *
 * @throws {SearchAttributesError} when one is missing and may not be created, or has another type; the message has the
 *   command for an administrator.
 */
export async function ensureSearchAttributes(
  client: Client,
  target: TemporalTarget,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const namespace = client.options.namespace;
  const types = await registeredTypes(client, namespace);
  const wrong = SEARCH_ATTRIBUTES.filter((name) => types?.[name] !== undefined && types[name] !== KEYWORD);
  if (wrong.length > 0) {
    throw new SearchAttributesError(
      `The Temporal namespace "${namespace}" has ${wrong.join(', ')} with another type than Keyword: remove and create them again, or use another namespace.`,
    );
  }
  const missing = SEARCH_ATTRIBUTES.filter((name) => types?.[name] === undefined);
  if (missing.length === 0 || (types === undefined && (await areUsable(client)))) return;

  try {
    await client.connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    });
    log.info({ namespace, searchAttributes: missing }, `registered the search attributes ${missing.join(', ')}`);
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    const code: number = error.code;
    // Another process was faster, which is fine.
    if (code !== ALREADY_EXISTS) throw new SearchAttributesError(missingMessage(target, missing, error.details));
  }

  const deadline = Date.now() + VISIBLE_WITHIN_MS;
  while (!(await areUsable(client))) {
    if (Date.now() > deadline) throw new SearchAttributesError(missingMessage(target, missing, 'they did not appear'));
    await sleep(CHECK_EVERY_MS, undefined, { signal });
  }
}

/** What is wrong with the search attributes, and how an administrator mends it; null where nothing is. */
export async function searchAttributeProblem(
  client: Client,
  target: TemporalTarget,
): Promise<{ readonly what: string; readonly mend: string } | null> {
  const { namespace } = client.options;
  const types = await registeredTypes(client, namespace);
  const wrong = SEARCH_ATTRIBUTES.filter((name) => types?.[name] !== undefined && types[name] !== KEYWORD);
  if (wrong.length > 0) {
    return {
      what: `The Temporal namespace ${namespace} has ${wrong.join(', ')} with another type than Keyword.`,
      mend: 'Remove and create them again as Keyword, or use another namespace.',
    };
  }
  const missing = SEARCH_ATTRIBUTES.filter((name) => types?.[name] === undefined);
  if (missing.length === 0 || (types === undefined && (await areUsable(client)))) return null;
  return {
    what: `The Temporal namespace ${namespace} has no search attributes ${missing.join(', ')}.`,
    mend: `A worker registers them at its start where it may; else: ${searchAttributesCommand(target, missing)}`,
  };
}

/** The types of the registered search attributes; undefined when listing them is not permitted. */
async function registeredTypes(client: Client, namespace: string): Promise<Record<string, number> | undefined> {
  try {
    const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
    return customAttributes;
  } catch (error) {
    if (isGrpcServiceError(error) && [PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED].includes(error.code)) {
      return undefined;
    }
    throw error;
  }
}

/** Whether the server accepts a query with each of them. */
async function areUsable(client: Client): Promise<boolean> {
  try {
    await client.workflow.count(SEARCH_ATTRIBUTES.map((name) => `${name} = 'none'`).join(' AND '));
    return true;
  } catch (error) {
    if (error instanceof Error && /search attribute|invalid query|not defined|no mapping/i.test(chain(error)))
      return false;
    throw error;
  }
}

function chain(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${chain(error.cause)}` : error.message;
}

function missingMessage(target: TemporalTarget, missing: readonly string[], reason: string): string {
  return (
    `The Temporal namespace "${target.namespace}" has no search attributes ${missing.join(', ')}, and they cannot be created from here (${reason}). ` +
    `An administrator can: ${searchAttributesCommand(target, missing)}`
  );
}
