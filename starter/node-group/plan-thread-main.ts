/** The thread that plans: a large plan takes seconds, in which the starter goes on. */
import { parentPort } from 'node:worker_threads';
import { PlanBook } from './plan-book.ts';
import type { PlanRequest, PlanResponse } from './plan-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this file is run as a worker thread');
const book = new PlanBook();

port.on('message', (request: PlanRequest) => {
  port.postMessage(answerTo(request));
});

function answerTo(request: PlanRequest): PlanResponse {
  const { id } = request;
  try {
    book.update(request);
    return { id, plan: book.plan(request) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
