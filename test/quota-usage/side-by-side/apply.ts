/** Does one operation on one cluster, as a patient client would: asks again while the server is away or cannot say yet. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiAnswer } from './api.ts';
import type { Operation } from './operation.ts';

/** A restarted API server is back in seconds; a resource that is new to a quota controller is found within 30 s. */
const PATIENCE_MS = 90_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * Does the operation; a repeated one is not done twice.
 *
 * @throws Error when the server refuses it, or goes on not answering.
 */
export async function apply(api: Api, operation: Operation): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let pause = FIRST_PAUSE_MS;
  for (let isFirst = true; ; isFirst = false) {
    const problem = await attempt(api, operation, isFirst);
    if (problem === null) return;
    if (Date.now() > deadline) throw new Error(`in vain for ${PATIENCE_MS / 1_000} s: ${problem}`);
    await sleep(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** Null when it is done; otherwise why it is to be tried again. */
async function attempt(api: Api, operation: Operation, isFirst: boolean): Promise<string | null> {
  let answer: ApiAnswer;
  try {
    answer = await ask(api, operation);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (answer.code >= 200 && answer.code < 300) {
    return operation.kind === 'counted' ? uncounted(operation, answer) : null;
  }
  const failure = `${answer.code} ${answer.reason}: ${answer.message}`;
  // The first attempt may have been done although its answer was lost.
  if (!isFirst && operation.kind === 'create' && answer.reason === 'AlreadyExists') return null;
  if (!isFirst && operation.kind === 'delete' && answer.code === 404 && answer.isAboutObject) return null;
  if (isPassing(answer)) return failure;
  throw new Error(failure);
}

async function ask(api: Api, operation: Operation): Promise<ApiAnswer> {
  switch (operation.kind) {
    case 'create':
      return await api.ask('POST', operation.path, operation.body);
    case 'patch':
      return await api.ask('PATCH', operation.path, operation.body, operation.patch);
    case 'delete':
      return await api.ask('DELETE', operation.path, {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        ...(operation.graceSeconds === undefined ? {} : { gracePeriodSeconds: operation.graceSeconds }),
      });
    case 'counted':
      return await api.ask('GET', operation.path);
    case 'fault':
      throw new Error('a fault is no request');
  }
}

function uncounted(operation: Operation & { readonly kind: 'counted' }, answer: ApiAnswer): string | null {
  const used = answer.object.status?.used?.[operation.resource];
  if (used === undefined) return `${operation.resource} has no number yet`;
  return operation.used === undefined || operation.used === used ? null : `${operation.resource} is still ${used}`;
}

/**
 * Whether the same request may be answered differently in a moment: the server starts or is busy, quota admission lost a race
 * for the quota's status or has no number yet, or a new kind is not served yet.
 */
function isPassing({ code, reason, message, isAboutObject }: ApiAnswer): boolean {
  if (code === 429 || code >= 500) return true;
  if (code === 409) return reason === 'Conflict';
  if (code === 404) return !isAboutObject;
  // A server that has just started may not have read its roles yet.
  if (code === 401) return true;
  return code === 403 && /status unknown for quota|not yet ready|RBAC/.test(message);
}
