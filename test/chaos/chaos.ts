/** A random run on real servers: things break and people meddle, and afterwards everything must be as it should be. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { commandSignals } from '../../workflows/quota-resize/messages.ts';
import { namespaceFiles, pathOf, QUOTA, quickTimings, statusOf, targetOf } from '../faults/pressed-namespaces.ts';
import type { FaultAction } from '../kernel/forge/http/faults.ts';
import { logTail, type SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { keepLogs } from './keep-logs.ts';
import { limitsOverTime, stepsDown } from './limits.ts';
import { limitIn, notAtRest, quotaOf, workflowAccount } from './not-at-rest.ts';
import { doubleWrites, pullRequestsOf } from './pull-request-journal.ts';
import { type Random, seededRandom } from './random.ts';
import { refusedRights, rolesOf } from '../activities/refused-rights.ts';
import { NothingToDo, Tally } from './tally.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long things break, in milliseconds; what follows takes as long as the recovery. */
  readonly forMs: number;
  /** How many things break at least, however long they take on a machine under load. Default: none. */
  readonly atLeast?: number;
  readonly quotas: number;
  /** Called with a line of text for everything that is done. */
  readonly log: (what: string) => void;
}

export interface ChaosReport {
  readonly actions: number;
  readonly pullRequests: number;
  /** From the last thing that broke to the last quota at rest, in milliseconds. */
  readonly recoveryMs: number;
}

/** No retry waits longer than 30 s, and a recovery may need several of them in a row. */
const RECOVERY_MS = 180_000;

/** From a quota that is used up to its pull request, where nothing is in the way. */
const PULL_REQUEST_MS = 20_000;

/** How often an action that never came about is tried after the others: a pull request may be merged while it is tried. */
const MAKE_UP_TRIES = 20;

/** How often a recovery that takes long says what it waits for. */
const LOG_EVERY_MS = 15_000;

/** Waits are short, so that one decision soon follows another. */
const timings = {
  ...quickTimings,
  COOLDOWN_MINUTES: '0',
  'timings.needGone': '1s',
  'timings.updateInterval': '1s',
  'timings.holdRetry': '2s',
  HEADROOM_REJECTION_COOLDOWN: '1s',
  'starter.resyncInterval': '5s',
  'timings.requestTimeout': '3s',
} as const;

/**
 * Runs the chaos.
 *
 * @throws Error with the seed when an invariant does not hold afterwards: two pull requests, commits or merges for one
 * decision, two open pull requests for one quota, a limit that went down, pressure that is not resolved, a lock that is
 * left, a request that a role does not allow, a process that ended by itself or did not get up, a kind of action that never
 * came about.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const namespaces = Array.from({ length: options.quotas }, (_, index) => `chaos-${index}`);
  const stack = await startStack({
    ownServers: true,
    files: namespaceFiles(namespaces),
    env: timings,
    durableTemporal: true,
    workers: 0,
    starters: 0,
  });
  const chaos = new Chaos(stack, namespaces, options);
  try {
    await chaos.start();
    const actions = await chaos.breakThings();
    const calmAt = Date.now();
    await chaos.recover();
    const problems = await chaos.problems();
    if (problems.length > 0) throw new Error(`afterwards:\n- ${problems.join('\n- ')}`);
    const pullRequests = pullRequestsOf(stack.forge.writes, new Map()).length;
    return { actions, pullRequests, recoveryMs: Date.now() - calmAt };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const kept = await keepLogs(stack, { seed: options.seed, namespaces });
    throw new Error(`chaos with the seed ${options.seed}: ${reason}\nThe logs are kept in ${kept}`, { cause });
  } finally {
    await stack.stop();
  }
}

type Kind = 'worker' | 'starter';

interface Action {
  readonly kind: string;
  /** Says in words what it did. @throws NothingToDo, or what kept it from being done: whoever acts while a server is away fails. */
  readonly act: () => Promise<string | void>;
  /** How often it happens, compared with the others. Default: 1. */
  readonly weight?: number;
  /** Waits until there is something that the action can be done to. */
  readonly needs?: () => Promise<void>;
}

class Chaos {
  readonly #stack: Stack;
  readonly #namespaces: readonly string[];
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #running: Record<Kind, SupervisedProcess[]> = { worker: [], starter: [] };
  readonly #killed = new Set<SupervisedProcess>();
  /** Processes that are starting. */
  readonly #starting = new Set<Promise<void>>();
  /** Pull requests that people ended, and when. */
  readonly #endedByPeople = new Map<number, string>();
  /** The errors of processes that did not start. */
  readonly #failedStarts: string[] = [];
  readonly #actions: readonly Action[];
  readonly #tally: Tally;
  #secrets = 0;

  constructor(stack: Stack, namespaces: readonly string[], options: ChaosOptions) {
    this.#stack = stack;
    this.#namespaces = namespaces;
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const needs = async () => await this.#untilPullRequest();
    const isUp = async () => void (await Promise.all(this.#starting));
    this.#actions = [
      { kind: 'a team uses more', act: () => this.#useMore(), weight: 6 },
      { kind: 'a team uses less', act: () => this.#useLess() },
      { kind: 'a worker is killed', act: () => this.#killOne('worker'), weight: 2, needs: isUp },
      { kind: 'a starter is killed', act: () => this.#killOne('starter'), needs: isUp },
      { kind: 'the API server is away', act: () => this.#restartApiServer() },
      { kind: 'Temporal is away', act: () => this.#restartTemporal() },
      { kind: 'GitHub fails', act: () => this.#failGitHub(), weight: 4 },
      { kind: 'somebody closes a pull request', act: () => this.#endPullRequest('closed'), needs },
      { kind: 'somebody merges a pull request', act: () => this.#endPullRequest('merged'), needs },
      { kind: 'somebody pushes to a pull request', act: () => this.#pushToPullRequest(), needs },
      { kind: 'somebody pushes to main', act: () => this.#pushToMain() },
      { kind: 'an operator pauses and resumes', act: () => this.#pause(), needs },
    ];
    this.#tally = new Tally(this.#actions.map(({ kind }) => kind));
  }

  async start(): Promise<void> {
    for (const kind of ['worker', 'starter', 'worker', 'starter'] as const) this.#startOne(kind);
    await Promise.all(this.#starting);
    for (const namespace of this.#namespaces) {
      await eventually(`${namespace} is there`, async () => await quotaOf(this.#stack, namespace));
    }
  }

  /** Breaks one thing after the other until the time is over and there were enough; returns how many. */
  async breakThings(): Promise<number> {
    const { forMs, atLeast = 0, log } = this.#options;
    const often = this.#actions.flatMap(({ kind, act, weight = 1 }) =>
      Array.from({ length: weight }, () => ({ kind, act })),
    );
    const until = Date.now() + forMs;
    let count = 0;
    while (Date.now() < until || count < atLeast) {
      const { kind, act } = this.#random.pick(often);
      const pauseMs = this.#random.between(50, 400);
      await this.#do(kind, act());
      count += 1;
      await sleep(pauseMs);
    }
    count += await this.#makeUp();
    for (const line of this.#tally.lines()) log(line);
    return count;
  }

  /** Does what never came about, because it was never drawn or because there was nothing to do it to. */
  async #makeUp(): Promise<number> {
    let count = 0;
    for (const { kind, act, needs } of this.#actions) {
      for (let tries = 0; tries < MAKE_UP_TRIES && this.#tally.missing.includes(kind); tries += 1) {
        await needs?.();
        await this.#do(kind, act());
        count += 1;
      }
    }
    return count;
  }

  async #do(kind: string, action: Promise<string | void>): Promise<void> {
    const detail = await this.#tally.count(kind, action);
    this.#options.log(detail === '' ? kind : `${kind} (${detail})`);
  }

  /** Lets everything come back, and waits until every quota is at rest. */
  async recover(): Promise<void> {
    this.#stack.forge.clearFaults();
    await Promise.all(this.#starting);
    this.#options.log('nothing breaks any more');
    let left: ReadonlyMap<string, readonly string[]> = new Map();
    let loggedAt = Date.now();
    try {
      await eventually(
        'every quota is at rest',
        async () => {
          await this.#helpPeopleOut();
          left = await notAtRest(this.#stack, this.#namespaces, () => this.#openPullRequests());
          if (left.size > 0 && Date.now() - loggedAt > LOG_EVERY_MS) {
            loggedAt = Date.now();
            this.#options.log(`not at rest yet: ${inWords(left).join('; ')}`);
          }
          return left.size === 0;
        },
        RECOVERY_MS,
      );
    } catch (cause) {
      throw new Error(await this.#whyNotAtRest(cause, left), { cause });
    }
  }

  /** Which quotas are not at rest, what is left to be done for each, and what its workflow says of it. */
  async #whyNotAtRest(cause: unknown, left: ReadonlyMap<string, readonly string[]>): Promise<string> {
    const lines = [cause instanceof Error ? cause.message : String(cause)];
    for (const [namespace, what] of left) {
      lines.push(`- ${namespace}: ${what.join('; ')}`);
      for (const line of await workflowAccount(this.#stack, namespace)) lines.push(`  ${line}`);
    }
    for (const [kind, processes] of Object.entries(this.#running)) {
      lines.push(`- ${kind}s that are up: ${processes.filter((process) => process.exit() === undefined).length}`);
    }
    lines.push(...this.#failedStarts.map((what) => `- ${what}`));
    return lines.join('\n');
  }

  /** Does what only people can do: resumes what is paused, and ends pull requests that were handed over to them. */
  async #helpPeopleOut(): Promise<void> {
    for (const namespace of this.#namespaces) {
      const seen = await statusOf(this.#stack, namespace);
      if (seen?.paused) await this.#signal(namespace, 'resume');
      const number = seen?.decision?.pullRequest?.number;
      // Handed over to people, who merge it or, when it conflicts, give it up.
      if (seen?.reason === 'ForeignCommit' && number !== undefined) await this.#endByPeople(number, 'merged');
    }
  }

  async problems(): Promise<readonly string[]> {
    const { forge, controlPlane } = this.#stack;
    const problems = [
      ...doubleWrites(forge.writes, this.#endedByPeople),
      ...this.#failedStarts,
      ...this.#tally.missing.map((kind) => `it never came about: ${kind}`),
    ];
    for (const namespace of this.#namespaces) {
      const { hard } = await quotaOf(this.#stack, namespace);
      const inGit = limitIn(await forge.readFile('main', pathOf(namespace)));
      if (inGit !== hard) problems.push(`${namespace}: ${inGit} in Git and ${hard} in the cluster`);
      const limits = await limitsOverTime(this.#stack.gitDir, pathOf(namespace));
      problems.push(...stepsDown(limits).map((step) => `${namespace}: ${step} (of ${limits.join(', ')})`));
      const merged = forge.writes.filter(({ path, effect, branch }) => {
        return effect && path.endsWith('/merge') && branch?.includes(`/${namespace}/`);
      });
      this.#options.log(`${namespace}: ${hard} secrets, ${merged.length} merges by Headroom`);
    }
    for (const process of [...this.#running.worker, ...this.#running.starter]) {
      const exit = process.exit();
      if (exit !== undefined && !this.#killed.has(process)) {
        problems.push(`a ${process.name} ended with ${exit.code ?? exit.signal}:\n${await logTail(process.logFile)}`);
      }
    }
    problems.push(...(await refusedRights(await controlPlane.auditEvents(), rolesOf(controlPlane.adminKubeconfig))));
    return problems;
  }

  #startOne(kind: Kind): void {
    const started = (kind === 'worker' ? this.#stack.startWorker() : this.#stack.startStarter())
      .then((process) => {
        this.#running[kind].push(process);
      })
      // A process waits for whatever is away at its start, so one that ends instead is a defect.
      .catch((error: unknown) => {
        this.#failedStarts.push(`a ${kind} did not get up: ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => this.#starting.delete(started));
    this.#starting.add(started);
  }

  async #killOne(kind: Kind): Promise<string> {
    const running = this.#running[kind].filter((process) => process.exit() === undefined);
    if (running.length === 0) throw new NothingToDo('none is up');
    const victim = this.#random.pick(running);
    this.#killed.add(victim);
    await victim.kill();
    this.#startOne(kind);
    return `process ${victim.pid}`;
  }

  async #restartApiServer(): Promise<void> {
    await this.#stack.controlPlane.killApiServer();
    await sleep(this.#random.between(0, 1_500));
    await this.#stack.controlPlane.startApiServer();
  }

  async #restartTemporal(): Promise<void> {
    await this.#stack.temporal.kill();
    await sleep(this.#random.between(0, 1_500));
    await this.#stack.temporal.restart();
  }

  async #failGitHub(): Promise<string> {
    const endpoint = this.#random.pick(ENDPOINTS);
    const action = this.#random.pick(FAILURES);
    const times = this.#random.between(1, 3);
    this.#stack.forge.fail({ ...endpoint, action, times });
    return `${action.kind} for ${endpoint.method} ${endpoint.path} × ${times}`;
  }

  async #useMore(): Promise<string> {
    const namespace = this.#random.pick(this.#namespaces);
    this.#secrets += 1;
    const body = { metadata: { name: `secret-${this.#secrets}` } };
    await this.#stack.core.createNamespacedSecret({ namespace, body });
    return namespace;
  }

  async #useLess(): Promise<string> {
    const namespace = this.#random.pick(this.#namespaces);
    const { items } = await this.#stack.core.listNamespacedSecret({ namespace });
    const name = items[0]?.metadata?.name;
    if (name === undefined) throw new NothingToDo(`${namespace} has nothing`);
    await this.#stack.core.deleteNamespacedSecret({ namespace, name });
    return namespace;
  }

  #openPullRequests() {
    return pullRequestsOf(this.#stack.forge.writes, this.#endedByPeople).filter((pull) => pull.endedAt === undefined);
  }

  /** Uses quotas up until a pull request is open, or gives up after a while: the action says then that there is none. */
  async #untilPullRequest(): Promise<void> {
    await Promise.all(this.#starting);
    const isOpen = async (): Promise<boolean> => {
      if (this.#openPullRequests().length > 0) return true;
      await this.#useMore();
      return false;
    };
    await eventually('a pull request is open', isOpen, PULL_REQUEST_MS).catch(() => {});
  }

  async #endPullRequest(how: 'closed' | 'merged'): Promise<string> {
    const open = this.#openPullRequests();
    if (open.length === 0) throw new NothingToDo('none is open');
    const { number } = this.#random.pick(open);
    await this.#endByPeople(number, how);
    return `#${number}`;
  }

  async #endByPeople(number: number, how: 'closed' | 'merged'): Promise<void> {
    const { forge } = this.#stack;
    // The moment before the request: what follows from it may happen before its answer is here.
    const at = new Date().toISOString();
    if (how === 'merged') {
      const merged = await forge.mergePullRequest(number, 'alice').catch(() => undefined);
      if (merged === undefined) await forge.closePullRequest(number, 'alice');
    } else {
      await forge.closePullRequest(number, 'alice');
    }
    this.#endedByPeople.set(number, at);
  }

  async #pushToPullRequest(): Promise<string> {
    const open = this.#openPullRequests();
    if (open.length === 0) throw new NothingToDo('none is open');
    const { number, namespace, decision } = this.#random.pick(open);
    const branch = `headroom/${this.#stack.cluster}/${namespace}/${QUOTA}/${decision}`;
    await this.#stack.forge.pushCommit({ branch, files: { [`notes/${number}.md`]: 'Looks fine.\n' }, author: 'bob' });
    return `#${number}`;
  }

  async #pushToMain(): Promise<void> {
    await this.#stack.forge.pushCommit({ files: { 'README.md': `Edited ${this.#random.next()}\n` }, author: 'bob' });
  }

  async #pause(): Promise<string> {
    const namespace = this.#random.pick(this.#namespaces);
    await this.#signal(namespace, 'pause');
    await sleep(this.#random.between(0, 1_000));
    await this.#signal(namespace, 'resume');
    return namespace;
  }

  async #signal(namespace: string, command: 'pause' | 'resume'): Promise<void> {
    const handle = this.#stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace)));
    await handle.signal(commandSignals[command], { by: 'carol' });
  }
}

function inWords(left: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...left].map(([namespace, what]) => `${namespace}: ${what.join(', ')}`);
}

const ENDPOINTS = [
  { method: 'GET', path: '/branches/*' },
  { method: 'GET', path: '/git/**' },
  { method: 'GET', path: '/contents/**' },
  { method: 'GET', path: '/pulls*' },
  { method: 'GET', path: '/pulls/*' },
  { method: 'GET', path: '/compare/*' },
  { method: 'POST', path: '/graphql' },
  { method: 'POST', path: '/git/refs' },
  { method: 'PATCH', path: '/git/refs/**' },
  { method: 'DELETE', path: '/git/refs/**' },
  { method: 'PUT', path: '/contents/**' },
  { method: 'POST', path: '/pulls' },
  { method: 'PATCH', path: '/pulls/*' },
  { method: 'PUT', path: '/pulls/*/merge' },
] as const;

const FAILURES: readonly FaultAction[] = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'answer-lost' },
  { kind: 'connection-reset' },
  { kind: 'slow', ms: 1_000 },
  { kind: 'secondary-rate-limit', retryAfterSeconds: 1 },
];
