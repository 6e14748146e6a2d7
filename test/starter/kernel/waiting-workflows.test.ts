import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { WaitingWorkflows } from '../../../starter/kernel/waiting-workflows.ts';

const log = { warn: () => {}, info: () => {} };
const since = '2026-11-28T06:00:00.000Z';

/** A Temporal with so many workflows that are blocked, all for the same reason. */
function blocked(workflows: number) {
  const asked: string[] = [];
  const phases = new Map(Array.from({ length: workflows }, (_, index) => [`quota-resize/here/a/${index}`, 'Blocked']));
  const silent = new Set<string>();
  const workflow = {
    list: async function* () {
      await Promise.resolve();
      for (const [workflowId, phase] of phases) {
        yield { workflowId, startTime: new Date(since), searchAttributes: { HeadroomPhase: [phase] } };
      }
    },
    getHandle: (workflowId: string) => ({
      query: async () => {
        asked.push(workflowId);
        if (silent.has(workflowId)) throw new Error('no worker');
        return await Promise.resolve({ phase: phases.get(workflowId), reason: 'TokenRefused', since });
      },
    }),
  };
  const withDeadline = async <T>(_: number, ask: () => Promise<T>): Promise<T> => await ask();
  let now = Date.parse(since);
  const waiting = new WaitingWorkflows({
    client: { workflow, withDeadline } as unknown as Client,
    cluster: 'here',
    phases: ['Blocked', 'AwaitingApproval'],
    controllers: null,
    log,
    now: () => now,
  });
  /** How many were asked when the list was made anew so many seconds later. */
  const after = async (seconds: number): Promise<number> => {
    now += seconds * 1000;
    asked.length = 0;
    await waiting.look();
    return asked.length;
  };
  return { waiting, after, asked, phases, silent };
}

describe('workflows that wait', () => {
  it('are asked once a minute for their reason, and not at each scrape', async () => {
    const { after } = blocked(80);
    expect(await after(0)).toBe(80);
    expect(await after(15)).toBe(0);
    expect(await after(15)).toBe(0);
    expect(await after(29)).toBe(0);
    expect(await after(1)).toBe(80);
  });

  it('are asked at once where the phase is another, or nobody answered', async () => {
    const { after, asked, phases, silent, waiting } = blocked(3);
    silent.add('quota-resize/here/a/2');
    expect(await after(0)).toBe(3);
    phases.set('quota-resize/here/a/1', 'AwaitingApproval');
    expect(await after(15)).toBe(2);
    expect(asked.toSorted()).toEqual(['quota-resize/here/a/1', 'quota-resize/here/a/2']);
    expect(waiting.latest()?.map(({ phase, reason }) => [phase, reason])).toEqual([
      ['Blocked', 'TokenRefused'],
      ['AwaitingApproval', 'TokenRefused'],
      ['Blocked', 'Unknown'],
    ]);
  });

  it('are asked a hundred at a time, each in its turn', async () => {
    const { after, asked } = blocked(250);
    const seen = new Set<string>();
    for (const expected of [100, 100, 50, 0]) {
      expect(await after(15)).toBe(expected);
      for (const id of asked) seen.add(id);
    }
    expect(seen.size).toBe(250);
    // A minute after the first hundred.
    expect(await after(15)).toBe(100);
  });
});
