import { fileURLToPath } from 'node:url';
import { CoreV1Api, Watch } from '@kubernetes/client-node';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { accessOf } from '../../test/kernel/stack/access.ts';
import { type HeadroomPlane, startHeadroomPlane } from '../../test/kernel/stack/headroom-plane.ts';
import type { BenchRow } from '../resize-load/rows.ts';

const NAMESPACE = 'default';
const QUOTA = 'floor';
const HARD = { pods: '10' };
const TASK_QUEUE = 'floors';

/** What the machine takes for what nobody can leave out: a request, a watch, a workflow. Without any limit. */
export async function floorRows(times: number): Promise<readonly BenchRow[]> {
  const headroom = await startHeadroomPlane({
    ownServers: true,
    // The status is written below, and nothing else is to write it.
    controllerManagerFlags: ['--controllers=serviceaccount-controller,namespace-controller'],
  });
  try {
    return [...(await clusterFloors(headroom, times)), await workflowFloor(headroom, times)];
  } finally {
    await headroom.stop();
  }
}

async function clusterFloors({ plane }: HeadroomPlane, times: number): Promise<readonly BenchRow[]> {
  const access = accessOf(plane.adminKubeconfig);
  const core = access.makeApiClient(CoreV1Api);
  const quota = { namespace: NAMESPACE, name: QUOTA };
  await core.createNamespacedResourceQuota({
    namespace: NAMESPACE,
    body: { metadata: { name: QUOTA }, spec: { hard: HARD } },
  });
  const reads: number[] = [];
  for (let n = 0; n < times; n += 1) reads.push(await timed(async () => await core.readNamespacedResourceQuota(quota)));

  /** When the watch had each version, and who waits for one. */
  const seen = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const abort = await new Watch(access).watch(
    `/api/v1/namespaces/${NAMESPACE}/resourcequotas`,
    {},
    (_kind, object: { readonly metadata?: { readonly resourceVersion?: string } }) => {
      const version = object.metadata?.resourceVersion ?? '';
      seen.set(version, performance.now());
      waiting.get(version)?.();
    },
    () => {},
  );
  const writes: number[] = [];
  const watched: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const current = await core.readNamespacedResourceQuota(quota);
    const asked = performance.now();
    const status = { hard: HARD, used: { pods: String((n % 10) + 1) } };
    const { metadata } = await core.replaceNamespacedResourceQuotaStatus({
      ...quota,
      body: Object.assign(current, { status }),
    });
    writes.push(performance.now() - asked);
    const version = metadata?.resourceVersion ?? '';
    if (version === current.metadata?.resourceVersion) throw new Error(`write ${n} changed nothing`);
    if (!seen.has(version)) await new Promise<void>((resolve) => void waiting.set(version, resolve));
    watched.push((seen.get(version) ?? Number.NaN) - asked);
  }
  abort.abort();
  return [
    { name: 'floor: a quota is read', unit: 'ms', values: reads, limit: null },
    { name: "floor: a quota's status is written", unit: 'ms', values: writes, limit: null },
    { name: 'floor: a status is written, and a watch has it', unit: 'ms', values: watched, limit: null },
  ];
}

async function workflowFloor({ client, temporal }: HeadroomPlane, times: number): Promise<BenchRow> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address: temporal.address });
  try {
    const worker = await Worker.create({
      connection,
      namespace: temporal.namespace,
      taskQueue: TASK_QUEUE,
      workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
    });
    const values = await worker.runUntil(async () => {
      const spans: number[] = [];
      for (let n = 0; n < times; n += 1) {
        const options = { taskQueue: TASK_QUEUE, workflowId: `floor-${n}` };
        spans.push(await timed(async () => await client.workflow.execute('bare', options)));
      }
      return spans;
    });
    return { name: 'floor: a workflow that does nothing', unit: 'ms', values, limit: null };
  } finally {
    await connection.close();
  }
}

/** Milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}
