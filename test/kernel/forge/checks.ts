import type { CheckConclusion, CheckMode, CheckRun, CommitState, CommitStatus } from './model.ts';
import { isoSeconds } from './git/objects.ts';
import type { Store } from './store.ts';
import type { Events } from './webhooks/event.ts';

/** One thing that was said about a commit, by a check run or a commit status. */
export interface Verdict {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'pending';
}

// The CI that the forge plays is an app.
const CI = 'ci[bot]';

/** The check runs and commit statuses, and the CI that `--checks` plays. */
export class Checks {
  mode: CheckMode;
  readonly #store: Store;
  readonly #events: Events;
  readonly #delayMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(store: Store, events: Events, mode: CheckMode, delayMs: number) {
    this.#store = store;
    this.#events = events;
    this.mode = mode;
    this.#delayMs = delayMs;
  }

  /** Carries on with the check runs that a stopped forge left unfinished. */
  resume(): void {
    if (this.mode !== 'pass' && this.mode !== 'fail') return;
    for (const run of this.#store.state.checkRuns) {
      if (run.name === 'ci' && run.externalId === 'forge' && run.status !== 'completed') this.#play(run, this.mode);
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** A pull request has this head now: CI takes it up, once for each SHA. */
  onNewHead(sha: string): void {
    if (this.mode === 'none') return;
    if (this.#store.state.checkRuns.some((run) => run.headSha === sha && run.name === 'ci')) return;
    const run = this.addRun({ name: 'ci', headSha: sha, externalId: 'forge' });
    this.reported(run, 'new', CI);
    if (this.mode !== 'pending') this.#play(run, this.mode);
  }

  /** Adds a check run; who adds it says so with `reported` once it is as it should be. */
  addRun(run: Partial<CheckRun> & Pick<CheckRun, 'name' | 'headSha'>): CheckRun {
    const made: CheckRun = {
      status: 'queued',
      conclusion: null,
      externalId: '',
      detailsUrl: null,
      title: null,
      summary: null,
      text: null,
      startedAt: isoSeconds(new Date()),
      completedAt: null,
      ...run,
      id: this.#store.nextId(),
    };
    this.#store.state.checkRuns.push(made);
    return made;
  }

  /** Tells the webhooks what became of a run: it is new, it is completed now, and with it all of its commit's. */
  reported(run: CheckRun, before: CheckRun['status'] | 'new', sender: string): void {
    if (before === 'new') this.#events.emit({ name: 'check_run', action: 'created', run, sender });
    if (run.status !== 'completed' || before === 'completed') return;
    this.#events.emit({ name: 'check_run', action: 'completed', run, sender });
    const runs = this.latestRuns(run.headSha);
    if (runs.every(({ status }) => status === 'completed')) {
      this.#events.emit({ name: 'check_suite', action: 'completed', runs, sender });
    }
  }

  /** The newest run of each name on a commit, in the order of their names' first run. */
  latestRuns(sha: string): CheckRun[] {
    const latest = new Map<string, CheckRun>();
    for (const run of this.#store.state.checkRuns) if (run.headSha === sha) latest.set(run.name, run);
    return [...latest.values()];
  }

  addStatus(status: Omit<CommitStatus, 'id' | 'createdAt'>): CommitStatus {
    const made = { ...status, id: this.#store.nextId(), createdAt: isoSeconds(new Date()) };
    this.#store.state.statuses.push(made);
    this.#events.emit({ name: 'status', status: made, sender: made.creator });
    return made;
  }

  /** The newest status of each context on a commit. */
  latestStatuses(sha: string): CommitStatus[] {
    const latest = new Map<string, CommitStatus>();
    for (const status of this.#store.state.statuses) if (status.sha === sha) latest.set(status.context, status);
    return [...latest.values()];
  }

  /** What check runs and statuses say about a commit, taken together as branch protection takes them. */
  verdicts(sha: string): Verdict[] {
    return [
      ...this.latestRuns(sha).map((run) => ({ name: run.name, result: runResult(run) })),
      ...this.latestStatuses(sha).map((status) => ({ name: status.context, result: statusResult(status.state) })),
    ];
  }

  #play(run: CheckRun, mode: 'pass' | 'fail'): void {
    this.#later(this.#delayMs / 2, () => {
      if (run.status === 'queued') run.status = 'in_progress';
    });
    this.#later(this.#delayMs, () => {
      // Somebody may have finished it in the meantime; their word holds.
      if (run.status !== 'completed') {
        const { status } = run;
        finishRun(run, mode === 'pass' ? 'success' : 'failure');
        this.reported(run, status, CI);
      }
      // The next write saves it as well; a run that is lost is played again after the restart.
      void this.#store.save().catch(() => {});
    });
  }

  #later(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      task();
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }
}

export function finishRun(run: CheckRun, conclusion: CheckConclusion): void {
  run.status = 'completed';
  run.conclusion = conclusion;
  run.completedAt = isoSeconds(new Date());
}

function runResult(run: CheckRun): Verdict['result'] {
  if (run.status !== 'completed') return 'pending';
  // GitHub counts neutral and skipped as passed.
  return run.conclusion === 'success' || run.conclusion === 'neutral' || run.conclusion === 'skipped'
    ? 'passed'
    : 'failed';
}

function statusResult(state: CommitState): Verdict['result'] {
  if (state === 'success') return 'passed';
  return state === 'pending' ? 'pending' : 'failed';
}
