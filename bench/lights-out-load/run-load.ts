import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { type KubernetesGate, openKubernetesGate } from '../../test/kernel/servers/kubernetes-gate.ts';
import type { SupervisedProcess } from '../../test/kernel/servers/supervised-process.ts';
import { CLUSTER, type HeadroomPlane } from '../../test/kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from '../../test/lights-out/cluster.ts';
import { type Asked, askedBy, editedAt } from '../../test/lights-out/load/asked.ts';
import {
  fillCluster,
  type LoadOptions,
  namesToWrite,
  planPopulation,
  shareLabels,
  shareOfNamespace,
} from '../../test/lights-out/load/population.ts';
import {
  changesOfSpec,
  differences,
  notAsleep,
  type Snapshot,
  takeSnapshot,
} from '../../test/lights-out/load/snapshot.ts';
import { type MachineUse, type Span, SpanMeter } from '../usage-load/span-meter.ts';
import { historiesOf, shareOf, type TemporalShare } from './history.ts';
import { type IdleCost, measureIdleCost } from './idle-cost.ts';
import { settlesIn, untilLateRequestsCame } from './load-schedule.ts';

export interface RunOptions extends LoadOptions {
  readonly batchSize: number;
  /** Seconds between two batches. */
  readonly delay: number;
  /** Whether the cost of a schedule that has nothing to do is measured too; it takes four minutes. */
  readonly idle: boolean;
  /** Whether there are phases in batches, in which a process is killed. */
  readonly faults: boolean;
  readonly log: (what: string) => void;
}

export interface PhaseReport {
  readonly title: string;
  readonly toWrite: number;
  /** How often a spec was changed, as the API server itself counts; a write is one such change. */
  readonly changes: number;
  /** Seconds from the first edit of a schedule to the write of each workload, in order. */
  readonly seconds: readonly number[];
  /** Seconds from the edit to the status that says that nothing is left. */
  readonly statusAfter: number | null;
  readonly asked: Asked;
  readonly temporal: TemporalShare;
  readonly machine: MachineUse;
  /** What is not as it must be, in words. */
  readonly problems: readonly string[];
}

export interface LoadReport {
  readonly options: Required<LoadOptions> & Pick<RunOptions, 'batchSize' | 'delay'>;
  readonly toWrite: number;
  readonly phases: readonly PhaseReport[];
  /** Of all schedules, in their whole histories. */
  readonly runs: number;
  /** Of the greatest state that a workflow carried from one run into the next, as Temporal stores it. */
  readonly carriedBytes: number;
  readonly idle: IdleCost | null;
  readonly isExact: boolean;
}

/** A phase that is over. */
interface MadePhase {
  readonly title: string;
  readonly state: 'Up' | 'Down';
  readonly span: Span;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

const WORKER = 'headroom-worker';

/** Pods that nobody runs are of no use here, and thousands of them would be in the way of what is measured. */
const controllerManagerFlags = [
  '--controllers=*,-deployment-controller,-replicaset-controller,-statefulset-controller,-cronjob-controller',
];
/** The requests that the gate holds, so that a process can be killed in the middle of a batch. */
const isWrite = { method: 'PATCH', path: /^\/apis\/(apps|batch)\/v1\/namespaces\/load-/ } as const;

/** Puts the whole load to sleep and wakes it, without and with batches and faults, and reports what each phase took. */
export async function runLoad(options: RunOptions): Promise<LoadReport> {
  options.log('starting the servers');
  const plane = await startLightsOutPlane({ controllerManagerFlags, ownServers: true });
  try {
    return await new Run(plane, options).report();
  } finally {
    await plane.stop();
  }
}

class Run {
  readonly #plane: HeadroomPlane;
  readonly #options: RunOptions;
  readonly #cluster: LightsOutCluster;
  readonly #admin = new KubeConfig();
  readonly #made: MadePhase[] = [];
  /**
   * How often the API server was restarted: each start is a new process, and its use of the machine is counted anew.
   */
  #restarts = 0;
  readonly #schedules: readonly string[];
  #worker: SupervisedProcess | undefined;
  #starter: SupervisedProcess | undefined;

  constructor(plane: HeadroomPlane, options: RunOptions) {
    this.#plane = plane;
    this.#options = options;
    this.#schedules = Array.from({ length: options.schedules ?? 1 }, (_, index) => nameOf(index));
    this.#cluster = new LightsOutCluster(plane);
    this.#admin.loadFromFile(plane.plane.adminKubeconfig);
  }

  async report(): Promise<LoadReport> {
    const { log, batchSize, delay } = this.#options;
    const schedules = this.#schedules.length;
    const population = planPopulation(this.#options);
    const toWrite = namesToWrite(population);
    log(`filling the cluster: ${population.length} workloads, ${toWrite.size} of them awake`);
    await fillCluster(this.#admin, population, this.#schedules.length);
    const original = await takeSnapshot(this.#admin);
    [this.#worker, this.#starter] = await Promise.all([this.#plane.startWorker(), this.#plane.startStarter()]);
    await this.#each(async (name, index) => {
      await this.#cluster.schedule(name, { ...UP, namespaceSelector: { matchLabels: shareLabels(index) } });
    });
    await this.#each(async (name) => await settlesIn(this.#cluster, name, 'Up'));

    const meter = new SpanMeter(
      () => this.#pids(),
      () => Promise.resolve({}),
    );
    const gate = await openKubernetesGate(this.#plane.plane);
    try {
      await this.#phase(meter, 'down, without limit', 'Down', {});
      await this.#phase(meter, 'up, without limit', 'Up', {});
      if (this.#options.faults) await this.#faults(meter, gate, toWrite.size);
    } finally {
      meter.stop();
      // The worker is stopped before the gate, since all its requests go through it.
      await this.#worker.stop();
      await gate.stop();
    }
    const idle = this.#options.idle ? await this.#idle() : null;

    log('reading the audit log and the histories');
    const events = await this.#plane.plane.auditEvents();
    const histories = (
      await this.#each(
        async (schedule) => await historiesOf(this.#plane.client, lightsOutId({ cluster: CLUSTER, schedule })),
      )
    ).flat();
    const phases = this.#made.map((made): PhaseReport => {
      const span = { from: made.span.from.getTime(), to: made.span.to.getTime() };
      const asked = askedBy(WORKER, events, span);
      const edits = this.#schedules.flatMap((schedule) => editedAt(events, schedule, span) ?? []);
      const edited = Math.min(...edits, span.to);
      const seconds = [...asked.written.values()].flat().map((at) => (at - edited) / 1000);
      const status = asked.statusWrites.at(-1);
      return {
        title: made.title,
        toWrite: toWrite.size,
        changes: [...changesOfSpec(made.before, made.after).values()].reduce((sum, count) => sum + count, 0),
        seconds: seconds.toSorted((a, b) => a - b),
        statusAfter: status === undefined ? null : (status - edited) / 1000,
        asked,
        temporal: shareOf(histories, span),
        machine: made.span.machine,
        problems: problemsOf(made, original, asked, toWrite, schedules),
      };
    });
    const { workloads, namespaces, seed } = this.#options;
    return {
      options: { schedules, workloads, namespaces, seed, batchSize, delay },
      toWrite: toWrite.size,
      phases,
      runs: histories.length,
      carriedBytes: Math.max(0, ...histories.flat().map(({ carried = 0 }) => carried)),
      idle,
      isExact: phases.every(({ problems }) => problems.length === 0),
    };
  }

  async #each<T>(work: (schedule: string, index: number) => Promise<T>): Promise<readonly T[]> {
    return await Promise.all(this.#schedules.map(work));
  }

  async #faults(meter: SpanMeter, gate: KubernetesGate, writes: number): Promise<void> {
    const { batchSize, delay } = this.#options;
    const rateLimit = { batchSize, delayBetweenBatches: `${delay}s` };
    const limits = { downscaleRateLimit: rateLimit, upscaleRateLimit: rateLimit };
    const middle = middleOfBatch(writes, batchSize);
    const batches = `batches of ${batchSize} every ${delay} s`;
    await this.#throughGate(gate);
    await this.#phase(meter, `down, ${batches}, worker killed at write ${middle}`, 'Down', limits, async () => {
      await this.#killWorker(gate, middle);
    });
    await this.#throughGate(gate);
    await this.#phase(meter, `up, ${batches}, API server killed at write ${middle}`, 'Up', limits, async () => {
      await this.#killApiServer(gate, middle);
    });
  }

  /** Changes the schedules, lets `meanwhile` go wrong what is to go wrong, and waits until all is done. */
  async #phase(
    meter: SpanMeter,
    title: string,
    state: 'Up' | 'Down',
    limits: Readonly<Record<string, unknown>>,
    meanwhile: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    this.#options.log(title);
    const before = await takeSnapshot(this.#admin);
    const [, span] = await meter.during(async () => {
      const trouble = meanwhile();
      const spec = { ...(state === 'Up' ? UP : DOWN), ...limits };
      await Promise.all([this.#each(async (name) => await this.#cluster.patchSchedule(name, { spec })), trouble]);
      await this.#each(async (name) => await settlesIn(this.#cluster, name, state));
      await untilLateRequestsCame();
    });
    this.#made.push({ title, state, span, before, after: await takeSnapshot(this.#admin) });
  }

  /** Lets the next worker go through the gate, on which its writes can be stopped. */
  async #throughGate(gate: KubernetesGate): Promise<void> {
    await this.#worker?.stop();
    this.#worker = await this.#plane.startWorker({ KUBECONFIG: await gate.kubeconfigFor(WORKER) });
  }

  async #killWorker(gate: KubernetesGate, at: number): Promise<void> {
    const hold = gate.hold({ ...isWrite, when: 'before', nth: at, times: 'always' });
    await hold.held;
    this.#options.log('killing the worker');
    await this.#worker?.kill();
    hold.abandon();
    this.#worker = await this.#plane.startWorker();
  }

  async #killApiServer(gate: KubernetesGate, at: number): Promise<void> {
    const hold = gate.hold({ ...isWrite, when: 'before', nth: at, times: 'always' });
    await hold.held;
    this.#options.log('killing the API server');
    await this.#plane.plane.killApiServer();
    hold.release();
    // Long enough that what is under way fails, and is tried again in vain.
    await sleep(2_000);
    await this.#plane.plane.startApiServer();
    this.#restarts += 1;
  }

  async #idle(): Promise<IdleCost> {
    this.#options.log('measuring what a schedule costs that has nothing to do: some minutes');
    this.#worker = await this.#plane.startWorker();
    return await measureIdleCost(this.#cluster, this.#plane.client);
  }

  #nameOf(worker: SupervisedProcess): string {
    const workers = this.#plane.processes.filter(({ name }) => name === worker.name);
    return `headroom worker ${workers.indexOf(worker) + 1}`;
  }

  #pids(): Readonly<Record<string, number>> {
    const { etcd, apiServer, controllerManager } = this.#plane.plane.pids();
    return {
      etcd,
      [`kube-apiserver${this.#restarts === 0 ? '' : ', started again'}`]: apiServer,
      'kube-controller-manager': controllerManager,
      temporal: this.#plane.temporal.pid(),
      ...(this.#worker === undefined ? {} : { [this.#nameOf(this.#worker)]: this.#worker.pid }),
      ...(this.#starter === undefined ? {} : { 'headroom starter': this.#starter.pid }),
      'this program, with the gate': process.pid,
    };
  }
}

function nameOf(schedule: number): string {
  return `load-${schedule}`;
}

/** The number of a write in the middle of the load and in the middle of its batch, counted from 1. */
export function middleOfBatch(writes: number, batchSize: number): number {
  const batch = Math.floor(writes / 2 / batchSize);
  return batch * batchSize + Math.ceil(Math.min(batchSize, writes - batch * batchSize) / 2);
}

function problemsOf(
  { state, before, after }: MadePhase,
  original: Snapshot,
  { written }: Asked,
  toWrite: ReadonlySet<string>,
  schedules: number,
): readonly string[] {
  const scheduleOf = (name: string): string => nameOf(shareOfNamespace(/ (.*)\//.exec(name)?.[1] ?? '', schedules));
  const changes = changesOfSpec(before, after);
  return [
    ...(state === 'Up' ? differences(original, after) : notAsleep(original, after, toWrite, scheduleOf)),
    // The audit log ends with the API server: a write of its last moment may be missing in it, and is not in the object.
    ...[...changes].flatMap(([name, count]) => {
      const expected = toWrite.has(name) ? 1 : 0;
      return count === expected ? [] : [`${name}: its spec was changed ${count} times, instead of ${expected}`];
    }),
    ...[...written].flatMap(([name, times]) =>
      times.length <= (toWrite.has(name) ? 1 : 0) ? [] : [`${name}: ${times.length} writes took effect`],
    ),
  ];
}
