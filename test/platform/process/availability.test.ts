import { describe, expect, it } from 'vitest';
import { untilAvailable } from '../../../platform/process/availability.ts';
import { createLog } from '../../../platform/log/log.ts';

function recorded() {
  const messages: string[] = [];
  const write = (line: string): void => void messages.push((JSON.parse(line) as { msg: string }).msg);
  return { messages, log: createLog({ name: 'worker', level: 'info', destination: { write } }) };
}

const reasonOf = (error: unknown): string => (error as Error).message;

describe('waiting for a server', () => {
  it('goes on until it answers, with one line for each reason and one for the end', async () => {
    const { log, messages } = recorded();
    const states: (string | undefined)[] = [];
    const answers = [new Error('refused'), new Error('refused'), new Error('no such namespace'), 'there'];
    const result = await untilAvailable(
      'Temporal at localhost:7233',
      async () => {
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      reasonOf,
      { log, signal: new AbortController().signal, onWait: (reason) => states.push(reason) },
    );
    expect(result).toBe('there');
    expect(messages).toEqual([
      'waiting for Temporal at localhost:7233: refused',
      'waiting for Temporal at localhost:7233: no such namespace',
      expect.stringMatching(/^Temporal at localhost:7233 is there after \d+ s$/),
    ]);
    expect(states.at(0)).toBe('waiting for Temporal at localhost:7233: refused');
    expect(states.at(-1)).toBeUndefined();
  });

  it('says nothing when the server is there at once', async () => {
    const { log, messages } = recorded();
    await untilAvailable('Kubernetes', async () => 1, reasonOf, { log, signal: new AbortController().signal });
    expect(messages).toEqual([]);
  });

  it('ends when the process is to stop', async () => {
    const { log } = recorded();
    const controller = new AbortController();
    const wait = untilAvailable('Kubernetes', () => Promise.reject(new Error('refused')), reasonOf, {
      log,
      signal: controller.signal,
      onWait: () => controller.abort(new Error('stopping')),
    });
    await expect(wait).rejects.toThrow('stopping');
    await expect(
      untilAvailable('Kubernetes', async () => 1, reasonOf, { log, signal: controller.signal }),
    ).rejects.toThrow('stopping');
  });
});
