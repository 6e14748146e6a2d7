/** Drains on real servers: an API server with its evictions and budgets, Temporal, and processes that die. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDrainActivities } from '../../../activities/node-group/drain/kubernetes-activities.ts';
import { writePause } from '../../../activities/kernel/pause.ts';
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { PAUSES } from '../../../domain/kernel/pause.ts';
import { nodeDrainId } from '../../../domain/node-group/target.ts';
import { drainUpdates } from '../../../workflows/node-group/drain-messages.ts';
import type { Hold } from '../../kernel/forge/http/faults.ts';
import type { SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually, never } from '../../kernel/stack/eventually.ts';
import { DrainCluster, PAUSED_GROUP } from './cluster.ts';
import { DRAIN_CLUSTER, KEPT_MACHINE, SYSTEM_NAMESPACE } from './names.ts';
import { partOf } from '../../kernel/long.ts';

/** A worker that is lost is noticed after ten seconds, and then another one takes over. */
const WITHIN_MS = 120_000;
const UNTOUCHED = { isCordoned: false, annotations: [] };

let cluster: DrainCluster;
let worker: SupervisedProcess;

beforeAll(async () => {
  cluster = await DrainCluster.start();
  worker = await cluster.startWorker();
});
afterAll(async () => {
  await cluster?.stop();
});

async function held(hold: Hold, what: string): Promise<void> {
  let isHeld = false;
  void hold.held.then(() => {
    isHeld = true;
  });
  await eventually(what, () => isHeld, WITHIN_MS);
}

const shapes = (name: string): readonly string[] => cluster.writes(name).map(({ shape }) => shape);

describe('a drain', () => {
  it('marks the node, evicts its pods, and deletes its machine, each once', async () => {
    const name = 'd-plain';
    await cluster.create(name, ['a', 'b']);
    const ending = await cluster.ending(await cluster.drain(name));
    expect(ending).toEqual({
      outcome: 'drained',
      reason: 'Drained',
      pdb: null,
      detail: `${name} was drained, and its machine ${name} deleted`,
    });
    expect(shapes(name).toSorted()).toEqual([
      'DELETE node',
      'PATCH node',
      'POST pods/a/eviction',
      'POST pods/b/eviction',
    ]);
    expect([shapes(name)[0], shapes(name).at(-1)]).toEqual(['PATCH node', 'DELETE node']);
  });

  it('is blocked by a budget, which it names, and takes back its marks; a node that was cordoned before stays so', async () => {
    for (const name of ['d-blocked', 'd-cordoned']) {
      await cluster.create(name, ['a']);
      await cluster.protect(name, 'web', 1);
    }
    await cluster.cordon('d-cordoned');
    const drains = await Promise.all([
      cluster.drain('d-blocked', { timeoutMs: 12_000 }),
      cluster.drain('d-cordoned', { timeoutMs: 12_000 }),
    ]);
    const [handle] = drains;
    const shown = await cluster.untilShown(handle, 'EvictionsRefused');
    expect(shown.detail).toContain('1 pod is left: d-blocked/a; the PodDisruptionBudget d-blocked/web refuses');
    expect((await cluster.marks('d-blocked')).isCordoned).toBe(true);
    for (const drain of drains) {
      expect(await cluster.ending(drain)).toMatchObject({ outcome: 'blocked', reason: 'PodDisruptionBudget' });
    }
    expect((await handle.result()).pdb).toBe('d-blocked/web');
    expect(await cluster.marks('d-blocked')).toEqual(UNTOUCHED);
    expect(await cluster.marks('d-cordoned')).toEqual({ isCordoned: true, annotations: [] });
    expect(shapes('d-blocked')).toEqual(['PATCH node', 'PATCH node']);
  });

  it('goes on as soon as the budget allows it', async () => {
    const name = 'd-patient';
    await cluster.create(name, ['a']);
    await cluster.protect(name, 'web', 1);
    const handle = await cluster.drain(name);
    await cluster.untilShown(handle, 'EvictionsRefused');
    await cluster.policy.deleteNamespacedPodDisruptionBudget({ namespace: name, name: 'web' });
    expect((await cluster.ending(handle)).outcome).toBe('drained');
  });

  it('is blocked by a pod that two budgets select before anything is evicted, and names both', async () => {
    const name = 'd-several';
    await cluster.create(name, ['a', 'b']);
    await cluster.run(name, 'unprotected', { app: 'other' });
    await cluster.protect(name, 'one', 1);
    await cluster.protect(name, 'two', 1);
    const ending = await cluster.ending(await cluster.drain(name));
    expect(ending).toMatchObject({ outcome: 'blocked', reason: 'SeveralBudgets', pdb: `${name}/one` });
    expect(ending.detail).toContain(`(${name}/one and ${name}/two)`);
    expect(shapes(name).filter((shape) => shape.includes('eviction'))).toEqual([]);
    expect(await cluster.marks(name)).toEqual(UNTOUCHED);
  });

  it('evicts nothing where a pod has come since the plan that nobody would make again', async () => {
    const name = 'd-lone';
    await cluster.create(name, ['a']);
    await cluster.run(name, 'lone', { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': '' } });
    const ending = await cluster.ending(await cluster.drain(name));
    expect(ending).toMatchObject({ outcome: 'blocked', reason: 'NotSafeToEvict' });
    expect(ending.detail).toContain(`${name}/lone has no controller that would make it again`);
    expect(shapes(name)).toEqual(['PATCH node', 'PATCH node']);
    expect(await cluster.marks(name)).toEqual(UNTOUCHED);
  });

  it('takes back its marks where the node was empty three times, and its machine could not go', async () => {
    const name = 'd-kept';
    await cluster.create(name, ['a']);
    const removal = { machine: KEPT_MACHINE, reason: 'Underutilized', detail: 'its pods fit elsewhere' } as const;
    const handle = await cluster.drain(name, { removal });
    expect(await cluster.ending(handle)).toMatchObject({ outcome: 'blocked', reason: 'MachineKept' });
    // By its reason the group knows for how long it leaves the node alone.
    expect(await cluster.toldGroup(handle)).toMatchObject([{ node: name, outcome: 'blocked', reason: 'MachineKept' }]);
    expect(shapes(name)).toEqual(['PATCH node', 'POST pods/a/eviction', 'PATCH node']);
    expect(await cluster.marks(name)).toEqual(UNTOUCHED);
  });

  it.each(['command', 'cancellation'])('takes back its marks at a %s in the middle', async (how) => {
    const name = `d-stop-${how}`;
    await cluster.create(name, ['a']);
    await cluster.protect(name, 'web', 1);
    const handle = await cluster.drain(name);
    await cluster.untilShown(handle, 'EvictionsRefused');
    if (how === 'command') await handle.executeUpdate(drainUpdates.stopDrain, { args: [{ by: 'alice' }] });
    else await handle.cancel();
    expect(await cluster.ending(handle)).toMatchObject({
      outcome: 'cancelled',
      detail: how === 'command' ? 'stopped by alice' : 'the workflow was cancelled',
    });
    expect(await cluster.marks(name)).toEqual(UNTOUCHED);
  });

  it('evicts nothing during a pause, keeps its marks, and goes on after it', async () => {
    const name = 'd-paused';
    await cluster.create(name, ['a']);
    await cluster.protect(name, 'web', 1);
    const handle = await cluster.drain(name);
    await cluster.untilShown(handle, 'EvictionsRefused');
    await handle.executeUpdate(drainUpdates.pause, { args: [{ by: 'alice' }] });
    await cluster.untilShown(handle, 'Paused');
    await cluster.policy.deleteNamespacedPodDisruptionBudget({ namespace: name, name: 'web' });
    await never('a pod is evicted', () => shapes(name).some((shape) => shape.includes('eviction')), 12_000);
    expect((await cluster.marks(name)).isCordoned).toBe(true);
    await handle.executeUpdate(drainUpdates.resume, { args: [{ by: 'alice' }] });
    expect((await cluster.ending(handle)).outcome).toBe('drained');
  });

  it('writes nothing while its group is paused', async () => {
    const name = 'd-group-paused';
    await cluster.create(name, ['a'], PAUSED_GROUP);
    const options = { kubernetes: { core: cluster.core }, systemNamespace: SYSTEM_NAMESPACE };
    const scope = { kind: 'target', controller: 'node-group', name: PAUSED_GROUP } as const;
    await cluster.core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body: { metadata: { name: PAUSES } } });
    await writePause(options, scope, { by: 'alice', reason: 'a freeze', at: null });
    const target = { ...(await cluster.target(name)), group: scope.name };
    const handle = await cluster.drain(name, { target });
    expect((await cluster.untilShown(handle, 'Paused')).detail).toContain('paused by alice: a freeze');
    expect(shapes(name)).toEqual([]);
    await writePause(options, scope, null);
    expect((await cluster.ending(handle)).outcome).toBe('drained');
  });

  it('does not wait for pods that only a silent kubelet could end', async () => {
    const name = 'd-silent';
    await cluster.create(name);
    await cluster.run(name, 'a', { grace: 1 });
    await cluster.silence(name);
    const handle = await cluster.drain(name);
    expect((await cluster.ending(handle)).outcome).toBe('drained');
    expect(shapes(name)).toEqual(['PATCH node', 'POST pods/a/eviction', 'DELETE node']);
  });

  it('ends when somebody makes the node schedulable again, and when the node is gone', async () => {
    for (const name of ['d-uncordoned', 'd-gone']) {
      await cluster.create(name, ['a']);
      await cluster.protect(name, 'web', 1);
    }
    const [uncordoned, gone] = [await cluster.drain('d-uncordoned'), await cluster.drain('d-gone')];
    await cluster.untilShown(uncordoned, 'EvictionsRefused');
    await cluster.untilShown(gone, 'EvictionsRefused');
    await cluster.uncordon('d-uncordoned');
    await cluster.core.deleteNode({ name: 'd-gone' });
    expect((await cluster.ending(uncordoned)).outcome).toBe('cancelled');
    expect(await cluster.marks('d-uncordoned')).toEqual(UNTOUCHED);
    expect((await cluster.ending(gone)).outcome).toBe('nodeGone');
  });

  it('leaves a pod alone that has come again under the same name elsewhere', async () => {
    const name = 'd-again';
    await cluster.create(name, ['a']);
    await cluster.createNode('d-elsewhere');
    const hold = cluster.gate.hold({ method: 'POST', path: evictionPath(name, 'a'), when: 'before' });
    const handle = await cluster.drain(name);
    await held(hold, 'the pod is about to be evicted');
    await cluster.core.deleteNamespacedPod({ namespace: name, name: 'a', body: { gracePeriodSeconds: 0 } });
    const again = await cluster.run(name, 'a', { node: 'd-elsewhere' });
    hold.release();
    expect((await cluster.ending(handle)).outcome).toBe('drained');
    const [pod] = await cluster.pods(name);
    expect([pod?.metadata?.uid, pod?.metadata?.deletionTimestamp]).toEqual([again.metadata?.uid, undefined]);
  });

  it('waits until a pod is really gone, and evicts one that lands meanwhile', async () => {
    const name = 'd-slow';
    await cluster.create(name);
    await cluster.run(name, 'slow', { annotations: { 'test/keep': '' } });
    const handle = await cluster.drain(name);
    await eventually('the pod is on its way out', () => shapes(name).includes('POST pods/slow/eviction'));
    await cluster.run(name, 'late');
    await eventually('the late pod is evicted', () => shapes(name).includes('POST pods/late/eviction'));
    await never('the node is deleted', () => shapes(name).includes('DELETE node'), 3_000);
    await cluster.core.deleteNamespacedPod({ namespace: name, name: 'slow', body: { gracePeriodSeconds: 0 } });
    expect((await cluster.ending(handle)).outcome).toBe('drained');
    expect(shapes(name).filter((shape) => shape.includes('slow'))).toHaveLength(1);
  });

  it('that was terminated leaves marks that others can take back, and that a later drain goes on with', async () => {
    for (const name of ['d-terminated', 'd-later']) {
      await cluster.create(name, ['a']);
      await cluster.protect(name, 'web', 1);
      const handle = await cluster.drain(name);
      await cluster.untilShown(handle, 'EvictionsRefused');
      await handle.terminate();
    }
    const target = await cluster.target('d-terminated');
    const kubernetes = connectKubernetes(accessOf(cluster.plane.adminKubeconfig));
    await createDrainActivities({
      kubernetes,
      systemNamespace: SYSTEM_NAMESPACE,
      log: { warn: () => {} },
    }).ensureDrainUnmarked({ target });
    expect(await cluster.marks('d-terminated')).toEqual(UNTOUCHED);
    const later = await cluster.drain('d-later', { timeoutMs: 1 });
    expect(later.workflowId).toBe(nodeDrainId({ cluster: DRAIN_CLUSTER, uid: (await cluster.target('d-later')).uid }));
    expect((await cluster.ending(later)).outcome).toBe('blocked');
    expect(await cluster.marks('d-later')).toEqual(UNTOUCHED);
  });
});

const evictionPath = (namespace: string, pod: string): string => `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`;

/** Where a drain writes: forward, and back. */
const points = [
  { what: 'mark', method: 'PATCH', path: (name: string) => `/api/v1/nodes/${name}`, isBack: false },
  { what: 'eviction', method: 'POST', path: (name: string) => evictionPath(name, 'a'), isBack: false },
  { what: 'deletion', method: 'DELETE', path: (name: string) => `/api/v1/nodes/${name}`, isBack: false },
  { what: 'unmark', method: 'PATCH', path: (name: string) => `/api/v1/nodes/${name}`, isBack: true },
] as const;

describe('a drain whose process dies, or whose answer is lost, at any write', () => {
  const stops = (prefix: string) =>
    partOf(
      points.flatMap((point) =>
        (['before', 'after'] as const).map((when) => ({ ...point, when, name: `${prefix}-${point.what}-${when}` })),
      ),
      4,
    );

  async function through(prefix: string, fault: (holds: readonly Hold[]) => Promise<void>): Promise<void> {
    const all = stops(prefix);
    const drains = [];
    const holds: Hold[] = [];
    for (const { name, method, path, when, isBack } of all) {
      await cluster.create(name, ['a', 'b']);
      if (isBack) await cluster.protect(name, 'web', 2);
      holds.push(cluster.gate.hold({ method, path: path(name), when, nth: isBack ? 2 : 1 }));
      drains.push(await cluster.drain(name, isBack ? { timeoutMs: 1 } : {}));
    }
    for (const [index, { name }] of all.entries()) {
      const hold = holds[index];
      if (hold !== undefined) await held(hold, `${name} comes to its write`);
    }
    await fault(holds);
    for (const [index, { name, isBack }] of all.entries()) {
      const drain = drains[index];
      if (drain === undefined) throw new Error('every stop has a drain');
      const { outcome } = await cluster.ending(drain, WITHIN_MS);
      expect({ name, outcome }).toEqual({ name, outcome: isBack ? 'blocked' : 'drained' });
      const expected = isBack
        ? ['PATCH node', 'PATCH node']
        : ['DELETE node', 'PATCH node', 'POST pods/a/eviction', 'POST pods/b/eviction'];
      expect({ name, writes: shapes(name).toSorted() }).toEqual({ name, writes: expected });
      if (isBack) expect(await cluster.marks(name)).toEqual(UNTOUCHED);
    }
  }

  it(
    'goes on, and writes everything once, although it was killed',
    async () => {
      await through('d-killed', async (holds) => {
        await worker.kill();
        for (const hold of holds) hold.abandon();
        worker = await cluster.startWorker();
      });
    },
    4 * WITHIN_MS,
  );

  it(
    'goes on, and writes everything once, although nobody heard the answer',
    async () => {
      await through('d-lost', async (holds) => {
        for (const hold of holds) hold.abandon();
      });
    },
    4 * WITHIN_MS,
  );
});
