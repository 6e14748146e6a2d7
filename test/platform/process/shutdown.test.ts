import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';

const program = new URL('./stoppable-process.ts', import.meta.url).pathname;

interface Ended {
  readonly code: number | null;
  /** The messages of its log, in order. */
  readonly messages: readonly string[];
}

/** Runs the process and sends it a signal at each of the given messages. */
async function run(way: string, signals: Readonly<Record<string, NodeJS.Signals>>): Promise<Ended> {
  const child = spawn(process.execPath, [program, way], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const messages: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg } = JSON.parse(line) as { msg: string };
    messages.push(msg);
    const signal = signals[msg];
    if (signal !== undefined) child.kill(signal);
  }
  return { code: await exit, messages };
}

describe('a process that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s stops in order and ends with 0', async (signal) => {
    const { code, messages } = await run('in-order', { ready: signal });
    expect(messages).toEqual(['ready', `stopping: ${signal}`, 'told to stop', 'connection closed', 'stopped']);
    expect(code).toBe(0);
  });

  it('goes on with the other steps when one fails, and ends with 1', async () => {
    const { code, messages } = await run('failing-step', { ready: 'SIGTERM' });
    expect(messages).toContain('could not stop in order: work');
    expect(messages.slice(-2)).toEqual(['connection closed', 'stopped after an error']);
    expect(code).toBe(1);
  });

  it('ends with 3 and names what it waited for when its grace is over', async () => {
    const { code, messages } = await run('too-slow', { ready: 'SIGTERM' });
    expect(messages.at(-1)).toBe('did not stop within 200 ms: work is not done');
    expect(code).toBe(3);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends at once on a second signal: %s gives %d', async (signal, expected) => {
    const { code, messages } = await run('impatient', { ready: signal, 'still working': signal });
    expect(messages.at(-1)).toBe(`${signal} again: stopping at once`);
    expect(code).toBe(expected);
  });

  it('takes two signals at once for one, as Ctrl-C under npm gives them', async () => {
    const { code, messages } = await run('twice', { ready: 'SIGINT' });
    expect(messages.at(-1)).toBe('stopped');
    expect(code).toBe(0);
  });

  it('by an error that nothing handled stops in order and ends with 1', async () => {
    const { code, messages } = await run('crash', {});
    expect(messages).toContain('an error that nothing handled');
    expect(messages).toContain('connection closed');
    expect(code).toBe(1);
  });
});
