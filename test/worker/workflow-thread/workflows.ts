/** What the tests of the thread run in it. */
import { condition, sleep } from '@temporalio/workflow';

/** Waits for one of two, as an episode does for a command or a moment. */
export async function waitsForOneOfTwo(): Promise<void> {
  await Promise.race([sleep('1 day'), waitsForever()]);
}

async function waitsForever(): Promise<void> {
  await Promise.all([condition(() => false), Promise.resolve(1)]);
}

/** Never waits, after it has waited once. */
export async function neverWaits(): Promise<void> {
  await sleep(1);
  for (;;) Math.random();
}

export async function ends(): Promise<string> {
  await sleep(1);
  return 'ended';
}

/** Whether the hooks of the SDK's own thread are there, which mark each promise. */
export async function isMarked(): Promise<boolean> {
  return 'runId' in Promise.resolve();
}
