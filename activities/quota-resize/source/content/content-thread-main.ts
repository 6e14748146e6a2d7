/** The thread that reads what others have written: it answers one question at a time, and can be stopped at any time. */
import { parentPort } from 'node:worker_threads';
import { answerTo } from '../../../../domain/quota-resize/git/locate/question/question.ts';
import type { UnreadFile } from '../../../../domain/quota-resize/git/locate/tree/unread.ts';
import { cpuMs, FileMeter, MeteredTexts } from './file-meter.ts';
import { KEPT_PATHS, KEPT_TREES, RecentlyUsed, type ThreadRequest, type ThreadResponse } from './thread-messages.ts';

/** A file may have 100,000 errors; the whole stack of each would take half of the time. */
Error.stackTraceLimit = 2;

interface KeptTree {
  readonly texts: MeteredTexts;
  readonly unread: Map<string, UnreadFile>;
}

const trees = new RecentlyUsed<KeptTree>(KEPT_TREES);
const pathLists = new RecentlyUsed<readonly string[]>(KEPT_PATHS);

parentPort?.on('message', (request: ThreadRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread, no window, has no origin.
  parentPort?.postMessage(responseTo(request));
});

function responseTo(request: ThreadRequest): ThreadResponse {
  const paths = pathLists.use(request.pathsNumber, () => request.paths ?? []);
  const { texts, unread } = trees.use(request.tree, () => ({ texts: new MeteredTexts(), unread: new Map() }));
  for (const [path, text] of request.texts) texts.set(path, text);
  for (const [path, why] of request.unread) unread.set(path, why);
  const started = cpuMs();
  texts.meter = new FileMeter(request.meter);
  texts.meter.begin();
  try {
    const answer = answerTo({ paths, texts, unread }, request.question);
    return { kind: 'answer', answer, cpuMs: cpuMs() - started, heapBytes: process.memoryUsage().heapUsed };
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'tooDeep' };
    return { kind: 'failed', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  } finally {
    texts.meter = null;
  }
}
