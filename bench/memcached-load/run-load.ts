import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { memcachedId } from '../../domain/memcached/target.ts';
import type { AuditEvent } from '../../test/kernel/servers/audit-log.ts';
import type { SupervisedProcess } from '../../test/kernel/servers/supervised-process.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../../test/kernel/stack/headroom-plane.ts';
import { MemcachedCluster, startMemcachedPlane } from '../../test/memcached/cluster.ts';
import { openApi } from '../../test/quota-usage/side-by-side/api.ts';
import { type ApiCalls, apiCalls } from '../usage-load/api-calls.ts';
import { historiesOf, shareOf } from '../lights-out-load/history.ts';
import { type Distribution, distributionOf } from '../usage-load/percentiles.ts';
import { type MachineUse, SpanMeter } from '../usage-load/span-meter.ts';
import { totalActions } from '../usage-load/temporal-actions.ts';
import { type StatusWatch, watchStatuses } from './status-watch.ts';

export interface RunOptions {
  readonly instances: number;
  /** How many of them are changed one after the other. */
  readonly changes: number;
  /** For how long nothing changes. */
  readonly idleSeconds: number;
  readonly log: (what: string) => void;
}

/** Milliseconds from a change to the status of it, and what that took. */
export interface PhaseReport {
  readonly title: string;
  readonly latency: Distribution | null;
  readonly machine: MachineUse;
  readonly calls: readonly ApiCalls[];
}

export interface LoadReport {
  readonly instances: number;
  readonly phases: readonly PhaseReport[];
  /** Of one change: the API calls of the worker, and what they take alone, without Headroom and Temporal, in milliseconds. */
  readonly floor: { readonly reads: number; readonly writes: number; readonly latency: Distribution | null };
  /** Temporal actions of one change. */
  readonly actions: number;
  /** What is as specified is compared again: episodes that another starter asked for, those that were asked for here, and what they wrote. */
  readonly again: { readonly woken: number; readonly episodes: number; readonly writes: number };
  /** Nothing changes. */
  readonly idle: { readonly seconds: number; readonly episodes: number; readonly machine: MachineUse };
}

const WORKER = 'headroom-worker';
/** Requests of this program's own that are under way at the same time. */
const AT_ONCE = 16;
/** Milliseconds. */
const COMPARED_MS = 5_000;
/** Without pods, which nobody runs here. */
const SPEC = {
  replicas: 0,
  highAvailability: { podDisruptionBudget: { enabled: true, maxUnavailable: 1 } },
  security: { networkPolicy: { enabled: true } },
} as const;

/** Makes, changes and leaves alone. */
export async function runLoad(options: RunOptions): Promise<LoadReport> {
  options.log('starting the servers');
  const plane = await startMemcachedPlane({ ownServers: true });
  try {
    return await new Run(plane, options).report();
  } finally {
    await plane.stop();
  }
}

class Run {
  readonly #plane: HeadroomPlane;
  readonly #options: RunOptions;
  readonly #cluster: MemcachedCluster;
  readonly #names: readonly string[];
  #worker: SupervisedProcess | undefined;
  #starter: SupervisedProcess | undefined;

  constructor(plane: HeadroomPlane, options: RunOptions) {
    this.#plane = plane;
    this.#options = options;
    this.#cluster = new MemcachedCluster(plane);
    this.#names = Array.from({ length: options.instances }, (_, index) => `load-${index}`);
  }

  async report(): Promise<LoadReport> {
    const { log, changes, instances, idleSeconds } = this.#options;
    [this.#worker, this.#starter] = await Promise.all([this.#plane.startWorker(), this.#plane.startStarter()]);
    await inParallel(AT_ONCE, this.#names, async (name) => {
      await this.#cluster.core.createNamespace({ body: { metadata: { name } } });
    });
    const statuses = watchStatuses(this.#plane.plane.adminKubeconfig);
    const meter = new SpanMeter(
      () => this.#pids(),
      () => Promise.resolve({}),
    );
    try {
      const all = this.#names;
      const made = await this.#phase(meter, `${instances} are made at once`, all, instances, async (name) => {
        await this.#cluster.createIn(name, SPEC);
        return await this.#after(statuses, name, 1);
      });
      await this.#untilCalm();
      const few = all.slice(0, changes);
      const since = Date.now();
      const single = await this.#phase(meter, `${few.length} are changed one by one`, few, 1, async (name) => {
        await this.#cluster.edit(name, { memcached: { verbosity: 1 } });
        return await this.#after(statuses, name, 2);
      });
      await this.#untilCalm();
      const [first = ''] = few;
      const calls = await this.#callsOf(first, since);
      const histories = await historiesOf(
        this.#plane.client,
        memcachedId({ cluster: CLUSTER, namespace: first, name: first }),
      );
      const actions = totalActions(shareOf(histories, { from: since, to: Date.now() }).actions);
      const together = await this.#phase(meter, `${instances} are changed at once`, all, instances, async (name) => {
        await this.#cluster.edit(name, { memcached: { threads: 8 } });
        return await this.#after(statuses, name, few.includes(name) ? 3 : 2);
      });
      await this.#untilCalm();
      log('another starter compares everything');
      const again = await this.#again();
      log(`nothing changes for ${idleSeconds} s`);
      const from = new Date();
      const [, idle] = await meter.during(async () => await sleep(idleSeconds * 1000));
      const episodes = await this.#episodesSince(from);
      log('the same API calls alone');
      await Promise.all([this.#worker.stop(), this.#starter.stop()]);
      return {
        instances,
        phases: [made, single, together],
        floor: await this.#floor(few, calls),
        actions,
        again,
        idle: { seconds: idleSeconds, episodes, machine: idle.machine },
      };
    } finally {
      await statuses.stop();
      meter.stop();
    }
  }

  /** Milliseconds until the status is of a generation, from now: the change has been answered. */
  async #after(statuses: StatusWatch, name: string, generation: number): Promise<number> {
    const answered = performance.now();
    return Math.max(0, (await statuses.at(name, generation)) - answered);
  }

  async #phase(
    meter: SpanMeter,
    title: string,
    names: readonly string[],
    atOnce: number,
    change: (name: string) => Promise<number>,
  ): Promise<PhaseReport> {
    this.#options.log(title);
    const from = Date.now();
    const [latencies, span] = await meter.during(async () => {
      return await inParallel(atOnce, names, change);
    });
    const users = [WORKER, 'headroom-starter'];
    const calls = apiCalls(await this.#plane.plane.auditEvents(), { from, to: Date.now(), users });
    return { title, latency: distributionOf(latencies), machine: span.machine, calls };
  }

  async #untilCalm(): Promise<void> {
    const running = `WorkflowType = 'memcached' AND ExecutionStatus = 'Running'`;
    await eventually(
      'no episode runs',
      async () => (await this.#plane.client.workflow.count(running)).count === 0,
      300_000,
    );
  }

  async #episodesSince(from: Date): Promise<number> {
    const query = `WorkflowType = 'memcached' AND StartTime >= '${from.toISOString()}'`;
    return (await this.#plane.client.workflow.count(query)).count;
  }

  /** The starter that comes compares every Memcached with its objects, as a resync does. */
  async #again(): Promise<LoadReport['again']> {
    const from = new Date();
    await this.#starter?.stop();
    this.#starter = await this.#plane.startStarter();
    // Longer than it takes to compare all that was listed.
    await sleep(COMPARED_MS);
    const woken = await this.#episodesSince(from);
    await this.#untilCalm();
    await inParallel(AT_ONCE, this.#names, async (name) => {
      // Nobody else would make an episode of one that is as specified.
      const workflowId = memcachedId({ cluster: CLUSTER, namespace: name, name });
      const args = [{ target: { cluster: CLUSTER, namespace: name, name } }];
      const taskQueue = (await this.#plane.client.workflow.getHandle(workflowId).describe()).taskQueue;
      await this.#plane.client.workflow.execute('memcached', { workflowId, taskQueue, args });
    });
    await this.#untilCalm();
    const writes = (await this.#plane.plane.auditEvents()).filter(
      (event) => isWrite(event) && Date.parse(event.requestReceivedTimestamp) >= from.getTime(),
    );
    return { woken, episodes: this.#names.length, writes: writes.length };
  }

  /** What the worker asked the API server for about one change. */
  async #callsOf(namespace: string, since: number): Promise<readonly AuditEvent[]> {
    const events = await this.#plane.plane.auditEvents();
    return events.filter(
      ({ user, stage, requestURI, requestReceivedTimestamp }) =>
        user.username === WORKER &&
        stage === 'ResponseComplete' &&
        requestURI.includes(`/namespaces/${namespace}/`) &&
        Date.parse(requestReceivedTimestamp) >= since,
    );
  }

  /** The reads of a change at once, and then its writes one after the other, which is the least that they can take. */
  async #floor(names: readonly string[], calls: readonly AuditEvent[]): Promise<LoadReport['floor']> {
    const [model = ''] = names;
    const reads = [
      ...new Set(calls.filter(({ verb }) => ['get', 'list'].includes(verb)).map((call) => call.requestURI)),
    ];
    const writes = calls.filter(isWrite).filter(({ objectRef }) => objectRef?.resource !== 'events');
    const api = openApi(this.#plane.plane.adminKubeconfig);
    try {
      const spans = await inParallel(1, names, async (name) => {
        const here = (path: string): string => path.replaceAll(model, name).split('?', 1)[0] ?? path;
        const began = performance.now();
        await Promise.all(reads.map(async (path) => await api.ask('GET', here(path))));
        for (const { requestURI, objectRef } of writes) {
          const note = { metadata: { annotations: { 'example.com/floor': String(began) } } };
          const body = objectRef?.subresource === 'status' ? { status: { readyReplicas: 1 } } : note;
          await api.ask('PATCH', here(requestURI), body, 'merge');
        }
        return performance.now() - began;
      });
      return { reads: reads.length, writes: writes.length, latency: distributionOf(spans) };
    } finally {
      api.close();
    }
  }

  #pids(): Readonly<Record<string, number>> {
    const { etcd, apiServer, controllerManager } = this.#plane.plane.pids();
    return {
      etcd,
      'kube-apiserver': apiServer,
      'kube-controller-manager': controllerManager,
      temporal: this.#plane.temporal.pid(),
      ...(this.#worker === undefined ? {} : { 'headroom worker': this.#worker.pid }),
      ...(this.#starter === undefined ? {} : { 'headroom starter': this.#starter.pid }),
      'this program': process.pid,
    };
  }
}

function isWrite({ user, stage, verb, objectRef, responseStatus }: AuditEvent): boolean {
  return (
    user.username === WORKER &&
    stage === 'ResponseComplete' &&
    ['create', 'update', 'patch', 'delete'].includes(verb) &&
    (responseStatus?.code ?? 0) < 300 &&
    objectRef?.namespace?.startsWith('load-') === true
  );
}
