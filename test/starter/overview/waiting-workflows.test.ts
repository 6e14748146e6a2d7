import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodeGroupAwaits } from '../../../domain/node-group/awaited.ts';
import { WaitingWorkflows } from '../../../starter/overview/waiting-workflows.ts';

const controllers = {
  'node-group': { noun: 'node group', statusCommand: 'kubectl headroom node-groups status', awaits: nodeGroupAwaits },
};

/** What Temporal lists; it may also fail, or never answer. */
interface Temporal {
  targets: readonly string[];
  state: 'answers' | 'fails' | 'hangs';
  queries: string[];
}

function waitingIn(temporal: Temporal, named: ConstructorParameters<typeof WaitingWorkflows>[0]['controllers']) {
  async function* list({ query = '' }: { readonly query?: string }) {
    temporal.queries.push(query);
    if (temporal.state === 'fails') throw new Error('the namespace is away');
    if (temporal.state === 'hangs') await new Promise(() => {});
    for (const target of temporal.targets) {
      const attributes = {
        HeadroomController: 'node-group',
        HeadroomTarget: target,
        HeadroomPhase: 'AwaitingApproval',
      };
      const searchAttributes = Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, [text]]));
      yield { workflowId: `w-${target}`, searchAttributes };
    }
  }
  // The deadline of a call, as gRPC has it.
  const withDeadline = async (deadline: number, call: () => Promise<unknown>): Promise<unknown> => {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error('Deadline exceeded')), deadline - Date.now());
    return await Promise.race([call(), promise]).finally(() => clearTimeout(timer));
  };
  const client = { workflow: { list }, withDeadline } as unknown as Client;
  return new WaitingWorkflows({ client, cluster: 'c1', controllers: named, log: pino({ level: 'silent' }) });
}

const answering = (targets: readonly string[]): Temporal => ({ targets, state: 'answers', queries: [] });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A page that is loaded so long after the one before. */
async function loaded(workflows: WaitingWorkflows, laterMs = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(laterMs);
  const refreshed = workflows.refresh();
  await vi.advanceTimersByTimeAsync(200);
  await refreshed;
}

describe('the workflows that Temporal lists', () => {
  it('are of a namespace those in it, and those in none', async () => {
    const workflows = waitingIn(answering(['pool-1', 'team-a/compute', 'team-b/compute']), controllers);
    await loaded(workflows);
    expect(workflows.waiting('team-a').map(({ what }) => what)).toEqual([
      'node group pool-1',
      'node group team-a/compute',
    ]);
    expect(workflows.trouble).toBeNull();
  });

  it.each(['hangs', 'fails'] as const)('are shown with their age where Temporal %s', async (state) => {
    const temporal = answering(['pool-1']);
    const workflows = waitingIn(temporal, controllers);
    await loaded(workflows);
    temporal.state = state;
    await loaded(workflows, 600_000);
    expect(workflows.waiting(null)).toHaveLength(1);
    expect(workflows.trouble).toBe(
      `Temporal said 10 min ago which workflows wait, and not since${state === 'fails' ? ': the namespace is away' : ''}.`,
    );
  });

  it('are not known before the first answer', async () => {
    const workflows = waitingIn({ ...answering([]), state: 'hangs' }, controllers);
    await loaded(workflows);
    expect(workflows.trouble).toBe('Temporal has not said yet which workflows wait.');
  });

  it('are asked for again after an answer that never came', async () => {
    const temporal: Temporal = { ...answering(['pool-1']), state: 'hangs' };
    const workflows = waitingIn(temporal, controllers);
    await loaded(workflows);
    temporal.state = 'answers';
    await loaded(workflows, 60_000);
    expect(workflows.waiting(null)).toHaveLength(1);
    expect(workflows.trouble).toBeNull();
  });

  it('are 500 at most, and it is said where there are more', async () => {
    const temporal = answering(Array.from({ length: 501 }, (_, index) => `pool-${index}`));
    const workflows = waitingIn(temporal, controllers);
    await loaded(workflows);
    expect(workflows.waiting(null)).toHaveLength(500);
    expect(workflows.trouble).toBe(
      'More than 500 workflows wait for a person: only the first that Temporal lists are here.',
    );
    temporal.targets = temporal.targets.slice(1);
    await loaded(workflows, 60_000);
    expect(workflows.trouble).toBeNull();
  });

  it('are not asked for where no controller waits for people', async () => {
    const temporal = answering([]);
    const workflows = waitingIn(temporal, {});
    await loaded(workflows);
    expect(temporal.queries).toEqual([]);
    expect(workflows.trouble).toBeNull();
  });
});
