/** One sequence: its steps one after the other, and after each of them a look whether everything is as the table says. */
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { LightsOutCluster } from '../cluster.ts';
import { Model, type Row } from './model.ts';
import type { Processes } from './processes.ts';
import { type Action, inWords, type ScheduleName, SCHEDULES, type Step, WORKLOADS } from './step.ts';
import { laterSecond, type Seen, World } from './world.ts';

/** A process that is away, or the ten seconds between two looks at workloads, on a busy machine. */
const REST_WITHIN_MS = 180_000;
/** How often all schedules look before they must have come to rest: one may take over from the other. */
const PASSES = 6;
/** Of a schedule that has nothing to do. */
const AT_REST = ['AsScheduled', 'Suspended'];

export interface Counts {
  steps: number;
  actions: number;
  faults: number;
}

export class Sequence {
  readonly #cluster: LightsOutCluster;
  readonly #processes: Processes;
  readonly #world: World;
  readonly #model = new Model();
  readonly #counts: Counts;
  readonly #done: string[] = [];
  #restedAt = 0;

  constructor(cluster: LightsOutCluster, processes: Processes, prefix: string, counts: Counts) {
    this.#cluster = cluster;
    this.#processes = processes;
    this.#world = new World(cluster, prefix);
    this.#counts = counts;
  }

  /**
   * Does so many of the steps; those that cannot be are left out and not counted.
   *
   * @throws Error with the steps so far and what differs.
   */
  async run(steps: Iterator<Step, never>, count: number): Promise<void> {
    try {
      await this.#world.begin();
      for (let done = 0; done < count; ) if (await this.#step(steps.next().value)) done += 1;
      for (const schedule of SCHEDULES) {
        await this.#step({ actions: [{ what: 'delete', schedule }], fault: null, isAlone: true });
      }
      await this.#verifyEnd();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error([reason, ...(await this.#statuses()), 'the steps:', ...this.#done].join('\n'), { cause });
    } finally {
      await this.#leave();
    }
  }

  /** False where nothing of it can be now. */
  async #step(step: Step): Promise<boolean> {
    await laterSecond(this.#restedAt);
    this.#done.push(`  ${this.#done.length}: ${inWords(step)}`);
    const before = new Set(this.#model.keepers.map(({ name }) => name));
    const did = await this.#do(step);
    if (did === 0) {
      this.#done.pop();
      return false;
    }
    this.#counts.steps += 1;
    this.#counts.actions += did;
    if (step.fault !== null) this.#counts.faults += 1;
    const gone = [...before].filter((name) => this.#model.keeper(name) === undefined);
    await this.#rest(gone, step.isAlone);
    this.#restedAt = Date.now();
    return true;
  }

  /** Does the actions, with the fault. Returns how many could be done. */
  async #do({ actions, fault }: Step): Promise<number> {
    let did = 0;
    const act = async (action: Action, isHeard: boolean): Promise<void> => {
      // What comes after a command would be noticed with it, although nobody tells of it.
      const isCommand = ['wake', 'sleep', 'cancel'].includes(action.what);
      if (fault === 'starterAway' && isCommand) return;
      if (did > 0) await laterSecond(Date.now());
      if (!this.#model.act(action, isHeard)) return;
      await this.#world.act(action, this.#model, isHeard);
      did += 1;
    };
    const actAll = async (isHeard: boolean): Promise<void> => {
      for (const action of actions) await act(action, isHeard);
    };
    if (fault === 'workerAway') await this.#processes.without('worker', async () => await actAll(false));
    else if (fault === 'starterAway') await this.#processes.without('starter', async () => await actAll(true));
    else await actAll(true);
    if (did === 0) return 0;
    const seen = await this.#world.observeInput();
    this.#model.rest();
    if (fault === 'apiServer') await this.#processes.restartApiServer();
    if (fault === 'workerMidway') {
      const due = [...this.#model.rows.values()].filter((row) => this.#difference(row, seen.get(row.key)) !== null);
      if (due.length > 0)
        await eventually('something of it is done', async () => await this.#isBegun(due), REST_WITHIN_MS);
      await this.#processes.without('worker');
    }
    return did;
  }

  async #isBegun(due: readonly Row[]): Promise<boolean> {
    const seen = await this.#world.observeInput();
    return due.some((row) => this.#difference(row, seen.get(row.key)) === null);
  }

  /** Waits until nothing is left to be done, and compares. */
  async #rest(gone: readonly ScheduleName[], isAlone: boolean): Promise<void> {
    if (isAlone) {
      let different: readonly string[] = [];
      await eventually(
        'it is as the table says',
        async () => {
          different = await this.#differences();
          return different.length === 0;
        },
        REST_WITHIN_MS,
      ).catch(() => {
        throw new Error(
          ['nobody asked for a look, and it does not become as the table says:', ...different].join('\n'),
        );
      });
    }
    for (const name of gone) await this.#untilGone(name);
    let before: ReadonlyMap<string, unknown> | null = null;
    for (let passes = 0; ; passes += 1) {
      const now = values(await this.#world.observeInput());
      if (isDeepStrictEqual(now, before)) break;
      if (passes === PASSES) throw new Error(`after ${PASSES} passes there is still something to be done`);
      before = now;
      for (const { name } of this.#model.keepers) await this.#reconcileAgain(name);
    }
    const different = await this.#differences();
    if (different.length > 0) throw new Error(['it is not as the table says:', ...different].join('\n'));
    let silent: readonly string[] = [];
    await eventually(
      'the controllers have answered',
      async () => {
        silent = [...(await this.#world.observeInput())].flatMap(([key, { isAnswered }]) => (isAnswered ? [] : [key]));
        return silent.length === 0;
      },
      REST_WITHIN_MS,
    ).catch(() => {
      throw new Error(`Kubernetes' own controllers do not answer the last change of ${silent.join(', ')}`);
    });
  }

  async #untilGone(name: ScheduleName): Promise<void> {
    await eventually(`${name} is gone`, async () => (await this.#world.schedule(name)) === null, REST_WITHIN_MS);
    const handle = this.#cluster.handle(this.#world.name(name));
    await eventually(
      `the workflow of ${name} has ended`,
      async () => (await handle.describe()).status.name !== 'RUNNING',
      REST_WITHIN_MS,
    );
  }

  /** Has a schedule look, and waits until it has done what it found. */
  async #reconcileAgain(name: ScheduleName): Promise<void> {
    const schedule = this.#world.name(name);
    // Its workflow begins when the starter has heard of it.
    await eventually(`${name} is told to look`, () => this.#cluster.command(schedule, 'reconcileNow'), REST_WITHIN_MS);
    await eventually(
      `${name} has looked`,
      async () => {
        // The look began with the answer. Whatever is pending is in what the server knows, together with what is not.
        const { raw } = await this.#cluster.handle(schedule).describe();
        const underWay = (raw.pendingActivities ?? []).filter(
          ({ activityType }) => activityType?.name !== 'awaitResume',
        );
        const isBusy = underWay.length > 0 || raw.pendingWorkflowTask != null;
        return !isBusy && AT_REST.includes((await this.#cluster.status(schedule)).reason);
      },
      REST_WITHIN_MS,
    );
  }

  async #differences(): Promise<readonly string[]> {
    const seen = await this.#world.observeInput();
    const existing = [...this.#model.rows.values()].flatMap((row) => this.#difference(row, seen.get(row.key)) ?? []);
    const unknown = [...seen.keys()].filter((key) => !this.#model.rows.has(key));
    return [...existing, ...unknown.map((key) => `  ${key} should not be there`)];
  }

  #difference({ key, kind, value, owner, full }: Row, seen: Seen | undefined): string | null {
    const isAsleep = owner !== null;
    const original = kind === 'CronJob' ? { 'original-suspend': 'lightsout' } : { 'original-replicas': `${full}` };
    const by = owner === null ? null : this.#world.name(owner);
    const expected = { value, savedState: by === null ? {} : { ...original, 'managed-by': by }, label: by };
    const { 'down-since': since, ...savedState } = seen?.savedState ?? {};
    const actual = seen === undefined ? null : { value: seen.value, savedState, label: seen.label };
    if (isDeepStrictEqual(actual, expected) && isAsleep === (since !== undefined)) return null;
    return `  ${kind} ${key}: expected ${JSON.stringify(expected)}, is ${JSON.stringify(actual)}, down since ${since ?? 'never'}`;
  }

  /** What holds whatever the table says: nothing is annotated, and everything has what somebody wanted it to have. */
  async #verifyEnd(): Promise<void> {
    const seen = await this.#world.observeInput();
    const problems = [...this.#model.rows.values()].flatMap(({ key, wants }) => {
      const { value = -1, savedState = {}, label = null } = seen.get(key) ?? {};
      return [
        ...(Object.keys(savedState).length > 0 || label !== null ? [`  ${key} is marked`] : []),
        ...(wants.has(value) ? [] : [`  ${key} has ${value}, which nobody ever wanted: ${[...wants].join(', ')}`]),
        ...(wants.size === 1 && value !== WORKLOADS[key]?.value ? [`  ${key} is not what it was`] : []),
      ];
    });
    if (problems.length > 0) throw new Error(['in the end:', ...problems].join('\n'));
  }

  /** What the schedules say of themselves. */
  async #statuses(): Promise<readonly string[]> {
    const lines = SCHEDULES.map(async (name) => {
      try {
        const { phase, reason, detail, facts } = await this.#cluster.status(this.#world.name(name));
        return `${name} says: ${phase} (${reason}): ${detail}${facts.map((fact) => `\n    ${fact}`).join('')}`;
      } catch (error) {
        return `${name} says nothing: ${error instanceof Error ? error.message : String(error)}`;
      }
    });
    return await Promise.all(lines);
  }

  /** Whatever is still there of a sequence that failed is taken away by force. */
  async #leave(): Promise<void> {
    for (const schedule of SCHEDULES) {
      const left = await this.#world.schedule(schedule).catch(() => null);
      if (left !== null) await this.#world.act({ what: 'vanish', schedule }, this.#model, true).catch(() => {});
    }
    await this.#world.end().catch(() => {});
  }
}

/** What schedules change of workloads. */
function values(seen: ReadonlyMap<string, Seen>): ReadonlyMap<string, unknown> {
  return new Map([...seen].map(([key, { value, savedState, label }]) => [key, { value, savedState, label }]));
}
