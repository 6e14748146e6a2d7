import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it, vi } from 'vitest';
import { requestCancellation } from '../../../activities/kernel/cancellation.ts';
import { haltedNow } from '../../../activities/node-group/drain/halted.ts';

type Cluster = Parameters<typeof haltedNow>[0];

const target = { cluster: 'c', group: 'web', node: 'a', uid: 'uid-a' };
const ask = async (cluster: Cluster) => await haltedNow(cluster, target, 'Empty', Date.now());

/** Without a node that is ready, until the first list has failed. */
function clusterOf(fails: number) {
  const listNode = vi.fn(async () => {
    if (listNode.mock.calls.length <= fails) throw new Error('away');
    const ready = { type: 'Ready', status: 'Unknown' };
    return await Promise.resolve({
      items: [{ metadata: { name: 'a' }, status: { conditions: [ready] } }],
      metadata: {},
    });
  });
  const listNamespacedCustomObject = async () => await Promise.resolve({ items: [], metadata: {} });
  return { listNode, cluster: { core: { listNode }, custom: { listNamespacedCustomObject } } as unknown as Cluster };
}

it('fifty drains that ask at once list the nodes once, and who asks a second later lists them again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { cluster, listNode } = clusterOf(0);
  const answers = await Promise.all(Array.from({ length: 50 }, async () => await ask(cluster)));
  expect(new Set(answers)).toEqual(new Set([expect.stringContaining('none of the 1 nodes')]));
  expect(listNode).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(999);
  await ask(cluster);
  expect(listNode).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  await ask(cluster);
  expect(listNode).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});

it('a list that failed is nobody’s answer but of those who waited for it', async () => {
  const { cluster } = clusterOf(1);
  await expect(ask(cluster)).rejects.toThrow('away');
  expect(await ask(cluster)).toContain('none of the 1 nodes');
});

it('a drain that is cancelled waits no longer, and ends the list of no other one', async () => {
  const { cluster, listNode } = clusterOf(0);
  const answer = await listNode();
  let answered = (): void => undefined;
  listNode.mockImplementation(
    async () =>
      await new Promise<typeof answer>((resolve, reject) => {
        answered = () => resolve(answer);
        // As the connection does it.
        const signal = requestCancellation('GET');
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  const environment = new MockActivityEnvironment();
  const cancelled = environment.run(async () => await ask(cluster));
  await vi.waitFor(() => expect(listNode).toHaveBeenCalledTimes(2));
  const other = ask(cluster);
  environment.cancel();
  await expect(cancelled).rejects.toThrow('CANCELLED');
  answered();
  expect(await other).toContain('none of the 1 nodes');
});

it('machines that join while the nodes are listed have not lost theirs', async () => {
  let joined = 0;
  const nodes = () => Array.from({ length: joined }, (_, index) => `node-${index}`);
  const machine = (name: string) => ({
    metadata: { name, labels: { 'autoscaler.vpsie.com/nodegroup': 'web' } },
    spec: { nodeGroupName: 'web' },
    status: { phase: 'Joining', nodeName: name },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  // Whichever is listed first, two machines join in between.
  const listNode = vi.fn(async () => {
    const items = nodes().map((name) => ({ metadata: { name }, status: { conditions } }));
    joined += 2;
    return await Promise.resolve({ items, metadata: {} });
  });
  const listNamespacedCustomObject = vi.fn(async () => {
    const items = nodes().map(machine);
    joined += 2;
    return await Promise.resolve({ items, metadata: {} });
  });
  const cluster = { core: { listNode }, custom: { listNamespacedCustomObject } } as unknown as Cluster;
  expect(await ask(cluster)).toBeNull();
  // Nor while the list of the nodes is the one that another drain has made just now.
  expect(await ask(cluster)).toBeNull();
  expect(listNode).toHaveBeenCalledTimes(1);
});
