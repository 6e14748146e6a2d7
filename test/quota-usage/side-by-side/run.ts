/** One run: the same stream on two clusters, and then the same status on every quota of both. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEvent } from '../../kernel/servers/audit-log.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { logTail, type SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import { CLUSTER, type HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { ORIGINAL_RESYNC_MS, startUsagePlane, startOriginalPlane } from '../planes.ts';
import { type Api, openApi } from './api.ts';
import { apply } from './apply.ts';
import { differences, inventoryDifferences, isUnchanged, readStatuses, type Statuses } from './compare.ts';
import { type Fault, namespaceOf, type Operation } from './operation.ts';
import { makeStream, type StreamOptions } from './stream.ts';
import { type LongestWrong, watchWrong } from './wrong-watch.ts';

export interface SideBySideOptions extends StreamOptions {
  /** What keeps the second cluster's statuses: the original again is the proof of the harness itself. */
  readonly second: 'headroom' | 'original';
  /** Told of what happens, in words. */
  readonly log: (what: string) => void;
}

export interface SideBySideReport {
  /** The random ones and those with a place of their own. */
  readonly operations: number;
  readonly faults: number;
  /** How many quotas were compared at the end. */
  readonly quotas: number;
  /** From the last operation until both said the same for good, in milliseconds. */
  readonly settledMs: number;
  /** How often the controller of each cluster wrote a status; the original's own writes are not in the audit log. */
  readonly statusWrites: number;
  /** The longest time for which a number was another one in both while operations went on, by whose doing. */
  readonly longestWrong: LongestWrong;
}

/** Device classes may stand for extended resources: then pods and claims are charged under one name. */
const GATES = ['--feature-gates=DRAExtendedResource=true'];

/** Both must say the same, and go on saying it, through two resyncs of the original and a bit. */
const REST_MS = 2 * ORIGINAL_RESYNC_MS + 2_000;
const DEBOUNCE_MS = 150_000;
const CHECK_EVERY_MS = 500;

/**
 * Runs a seed's stream.
 *
 * @throws Error with the seed, what differs, what was done where it differs, and the file with all operations.
 */
export async function runSideBySide(options: SideBySideOptions): Promise<SideBySideReport> {
  const stream = makeStream(options);
  const run = await startRun(options);
  try {
    const started = Date.now();
    const wrong = run.watchWrong();
    await run.doAll(stream).finally(() => void wrong.stop());
    const longestWrong = await wrong.stop();
    options.log(`${stream.length} operations took ${((Date.now() - started) / 1_000).toFixed(1)} s`);
    const calm = Date.now();
    const quotas = await run.settle();
    const settledMs = Date.now() - calm - REST_MS;
    const statusWrites = await run.evidence();
    const faults = stream.filter(({ kind }) => kind === 'fault').length;
    return { operations: stream.length - faults, faults, quotas, settledMs, statusWrites, longestWrong };
  } catch (cause) {
    const log = join(tmpdir(), `usage-side-by-side-${options.seed}.jsonl`);
    await writeFile(log, run.done.map((operation) => `${JSON.stringify(operation)}\n`).join(''));
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`side by side with the seed ${options.seed}: ${reason}\nall operations: ${log}`, { cause });
  } finally {
    await run.stop();
  }
}

/** One of the two clusters. */
interface Side {
  readonly name: string;
  readonly plane: ControlPlane;
  readonly api: Api;
}

async function startRun(options: SideBySideOptions): Promise<Run> {
  const flags = { apiServerFlags: GATES, controllerManagerFlags: GATES };
  const [first, second] = await Promise.allSettled([
    startOriginalPlane(flags),
    options.second === 'original' ? startOriginalPlane(flags) : startUsagePlane(flags),
  ]);
  if (first.status === 'rejected' || second.status === 'rejected') {
    for (const each of [first, second]) if (each.status === 'fulfilled') await each.value.stop();
    throw first.status === 'rejected' ? first.reason : (second as PromiseRejectedResult).reason;
  }
  const headroom = 'plane' in second.value ? second.value : null;
  const other = 'plane' in second.value ? second.value.plane : second.value;
  const side = (name: string, plane: ControlPlane): Side => ({ name, plane, api: openApi(plane.adminKubeconfig) });
  const run = new Run([side('the original', first.value), side(options.second, other)], headroom, options.log);
  try {
    await run.startHeadroom();
  } catch (error) {
    await run.stop();
    throw error;
  }
  options.log('both clusters are up');
  return run;
}

class Run {
  /** What was done, or at least begun, in order. */
  readonly done: Operation[] = [];
  readonly #sides: readonly [Side, Side];
  readonly #headroom: HeadroomPlane | null;
  readonly #log: (what: string) => void;
  /** The oldest first, which is the owner of the writes. */
  #starters: Promise<SupervisedProcess>[] = [];
  #worker: Promise<SupervisedProcess> | null = null;
  #restart: Promise<unknown> = Promise.resolve();

  constructor(sides: readonly [Side, Side], headroom: HeadroomPlane | null, log: (what: string) => void) {
    this.#sides = sides;
    this.#headroom = headroom;
    this.#log = log;
  }

  async startHeadroom(): Promise<void> {
    if (this.#headroom === null) return;
    this.#worker = this.#headroom.startWorker();
    this.#starters = [this.#headroom.startStarter()];
    await Promise.all([this.#worker, ...this.#starters]);
    // It has the Lease before the second one comes.
    this.#starters.push(this.#headroom.startStarter());
    await Promise.all(this.#starters);
  }

  watchWrong(): ReturnType<typeof watchWrong> {
    const [first, second] = this.#sides;
    return watchWrong(async () => {
      const [theirs, ours] = await Promise.all([readStatuses(first.api), readStatuses(second.api)]);
      return { differences: differences([first.name, theirs], [second.name, ours]), statuses: [theirs, ours] };
    });
  }

  async doAll(stream: readonly Operation[]): Promise<void> {
    for (const [index, operation] of stream.entries()) {
      this.done.push(operation);
      if (operation.kind === 'fault') {
        this.#log(`${index}: ${operation.words}`);
        await this.#break(operation.fault);
        continue;
      }
      if (operation.kind === 'counted' || index % 500 === 499) this.#log(`${index}: ${operation.words}`);
      await this.#doOnBoth(index, operation);
    }
    await Promise.all([this.#restart, ...this.#starters, this.#worker]);
  }

  /** In the same order on both, each as fast as it can. */
  async #doOnBoth(index: number, operation: Operation): Promise<void> {
    const results = await Promise.allSettled(this.#sides.map(async ({ api }) => await apply(api, operation)));
    const problems = results.flatMap((result, which) =>
      result.status === 'rejected'
        ? [`in ${this.#sides[which]?.name}: ${result.reason instanceof Error ? result.reason.message : result.reason}`]
        : [],
    );
    if (problems.length === 0) return;
    const namespace = namespaceOf(operation);
    const lines = [
      ...problems,
      ...this.#historyOf(namespace, 15),
      ...(await this.#episodes(namespace)),
      ...(await this.#logs()),
    ];
    throw new Error(`operation ${index} (${operation.words}) was refused\n${lines.join('\n')}`);
  }

  /** What comes back comes back while the stream goes on. */
  async #break(fault: Fault): Promise<void> {
    const headroom = this.#headroom;
    switch (fault) {
      case 'apiServersRestarted':
        await this.#restart;
        this.#restart = Promise.all(this.#sides.map(async ({ plane }) => await plane.restartApiServer()));
        this.#restart.catch(() => {});
        return;
      case 'starterKilled':
        await (await this.#starters.shift())?.kill();
        return;
      case 'workerKilled':
        await (await this.#worker)?.kill();
        return;
      case 'starterStarted':
        if (headroom !== null) this.#starters.push(headroom.startStarter());
        this.#starters.at(-1)?.catch(() => {});
        return;
      case 'workerStarted':
        if (headroom !== null) this.#worker = headroom.startWorker();
        this.#worker?.catch(() => {});
        return;
    }
  }

  /** Waits until both say the same and nothing changes any more. Returns how many quotas there are. */
  async settle(): Promise<number> {
    const deadline = Date.now() + DEBOUNCE_MS;
    let calmSince = Date.now();
    let last: readonly [Statuses | null, Statuses | null] = [null, null];
    for (;;) {
      const [first, second] = await this.#statuses(deadline);
      const different = differences([this.#sides[0].name, first], [this.#sides[1].name, second]).map(
        ({ text }) => text,
      );
      const isCalm = isUnchanged(last[0], first) && isUnchanged(last[1], second);
      last = [first, second];
      if (different.length > 0 || !isCalm) calmSince = Date.now();
      if (Date.now() - calmSince >= REST_MS) return first.size;
      if (Date.now() > deadline) throw new Error(await this.#explain(different));
      await sleep(CHECK_EVERY_MS);
    }
  }

  /** What both say, however slow a server is to answer. */
  async #statuses(deadline: number): Promise<readonly [Statuses, Statuses]> {
    const [first, second] = this.#sides;
    for (;;) {
      try {
        return await Promise.all([readStatuses(first.api), readStatuses(second.api)]);
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(CHECK_EVERY_MS);
      }
    }
  }

  /** That Headroom did what it may and lives on; returns how often it wrote a status. */
  async evidence(): Promise<number> {
    const headroom = this.#headroom;
    if (headroom === null) return 0;
    for (const process of [...(await Promise.all(this.#starters)), await this.#worker]) {
      if (process?.exit() !== undefined)
        throw new Error(`the ${process.name} ended by itself:\n${await logTail(process.logFile)}`);
    }
    const ours = (await headroom.plane.auditEvents()).filter(({ user }) => user.username.startsWith('headroom-'));
    // An API server that has just started refuses everybody until it has read its roles: what is granted at other times
    // is no request too many.
    const granted = new Set(ours.filter(({ responseStatus }) => responseStatus?.code !== 403).map(inWords));
    const denied = ours.filter(({ responseStatus }) => responseStatus?.code === 403).map(inWords);
    const never = [...new Set(denied)].filter((request) => !granted.has(request));
    if (never.length > 0) throw new Error(`Headroom asked for what it may not: ${never.join('; ')}`);
    return ours.filter(
      ({ verb, objectRef, responseStatus }) =>
        verb === 'patch' && objectRef?.resource === 'resourcequotas' && responseStatus?.code === 200,
    ).length;
  }

  async stop(): Promise<void> {
    for (const { api } of this.#sides) api.close();
    await Promise.allSettled([this.#restart, ...this.#starters, this.#worker]);
    await Promise.all([
      this.#sides[0].plane.stop(),
      this.#headroom === null ? this.#sides[1].plane.stop() : this.#headroom.stop(),
    ]);
  }

  async #explain(different: readonly string[]): Promise<string> {
    if (different.length === 0)
      return `the statuses are the same, but did not come to rest in ${DEBOUNCE_MS / 1_000} s`;
    const [first, second] = this.#sides;
    const namespaces = [...new Set(different.map((line) => line.slice(0, line.indexOf('/'))))];
    const lines = [`${different.length} numbers differ after ${DEBOUNCE_MS / 1_000} s`, ...different.slice(0, 60)];
    for (const namespace of namespaces) {
      const held = await inventoryDifferences(namespace, [first.name, first.api], [second.name, second.api]);
      lines.push(
        held.length === 0 ? `${namespace}: both hold the same objects` : `${namespace}: they hold different objects:`,
      );
      lines.push(...held.slice(0, 20), ...this.#historyOf(namespace, 40), ...(await this.#episodes(namespace)));
    }
    return [...lines, ...(await this.#logs())].join('\n');
  }

  /** The episodes of a namespace that run, and what they wait for. */
  async #episodes(namespace: string | null): Promise<string[]> {
    const { client } = this.#headroom ?? {};
    if (client === undefined || namespace === null) return [];
    const lines: string[] = [];
    const query = `ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH 'quota-usage/${CLUSTER}/${namespace}/'`;
    for await (const { workflowId } of client.workflow.list({ query })) {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const pending = (raw.pendingActivities ?? []).map(
        ({ activityType, attempt, state, lastFailure }) =>
          `${activityType?.name}, attempt ${attempt}, state ${state}, failed with ${lastFailure?.message ?? 'nothing'}`,
      );
      lines.push(`${workflowId} runs: ${pending.length === 0 ? 'no activity is pending' : pending.join('; ')}`);
    }
    return lines.length === 0 ? [`no episode of ${namespace} runs`] : lines;
  }

  async #logs(): Promise<string[]> {
    const processes = this.#headroom?.processes ?? [];
    return await Promise.all(
      processes.map(async ({ name, logFile }) => `the end of the log of the ${name}:\n${await logTail(logFile, 8)}`),
    );
  }

  /** The last things that were done to a namespace, and what broke meanwhile. */
  #historyOf(namespace: string | null, most: number): string[] {
    return this.done
      .map((operation, index) => ({ operation, index }))
      .filter(({ operation }) => operation.kind === 'fault' || namespaceOf(operation) === namespace)
      .slice(-most)
      .map(({ operation, index }) => `  ${index}: ${operation.words}`);
  }
}

function inWords({ user, verb, objectRef }: AuditEvent): string {
  const { apiGroup, resource, subresource } = objectRef ?? {};
  return `${user.username} ${verb} ${[resource, apiGroup].filter(Boolean).join('.')}${subresource ? `/${subresource}` : ''}`;
}
