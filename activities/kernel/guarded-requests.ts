import type { Logger } from 'pino';
import { auditKubernetesWrites } from './audit.ts';
import { requestCancellation } from './cancellation.ts';
import { WriteGate, type WriteGateOptions } from './write-gate.ts';

/**
 * What a process puts around its requests to the API server, with the gate that holds its writes: a gate that the requests do not ask
 * holds nothing.
 */
export function guardedRequests(mode: WriteGateOptions['mode'], log: Pick<Logger, 'info' | 'warn'>) {
  const gate = new WriteGate({ mode, log });
  return {
    gate,
    requests: { requestCancellation, beforeWrite: gate.beforeWrite, onWrite: auditKubernetesWrites(log) },
  };
}
