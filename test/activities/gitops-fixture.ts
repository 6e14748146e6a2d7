import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { GitHub, type GitHubOptions } from '../../activities/ports/github.ts';
import {
  createQuotaResizeGitHubActivities,
  type QuotaResizeGitHubActivities,
} from '../../activities/quota-resize/github.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Decision, LimitChange, PullRequestRef } from '../../domain/quota-resize/decision.ts';
import { createBareRepository } from '../kernel/forge/git/bare-repository.ts';
import { type Forge, type ForgeOptions, startForge } from '../kernel/forge/forge.ts';

export const target: QuotaTarget = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
export const PATH = 'managed-resources/prod/team-a/quota.yaml';

/** A file with everything that re-printing YAML would change. */
export const MANIFEST = [
  '# owned by the platform team',
  'apiVersion: v1',
  'kind:   ResourceQuota',
  'metadata: {name: compute, namespace: "team-a"}',
  'spec:',
  '    hard:',
  "        requests.cpu:   '2'  # two, for now",
  '        limits.memory: 4Gi',
  '        pods: 10',
  '---',
  'apiVersion: v1',
  'kind: ResourceQuota',
  'metadata:',
  '  name: compute-large',
  'spec: {hard: {requests.cpu: 2}} # no newline at the end',
].join('\r\n');

export function change(resource: string, from: string, to: string): LimitChange {
  return { resource, from, to, used: from, demand: '0', reason: `used ${from} of ${from} is 100 %, threshold 80 %` };
}

let decisions = 0;

/** A decision of a moment ago; every call makes another one. */
export function decide(
  changes: readonly LimitChange[] = [change('requests.cpu', '2', '3600m')],
  overrides: Partial<Decision> = {},
): Decision {
  decisions += 1;
  return {
    id: decisions.toString(16).padStart(8, '0'),
    quotaUid: 'uid-1',
    decidedAt: Date.now(),
    changes,
    evidence: ['ReplicaSet web misses 2 pods'],
    demandByMessage: false,
    gate: null,
    pullRequest: null,
    merge: null,
    ...overrides,
  };
}

/** A worker process: its own caches, its own view. */
export interface Worker {
  readonly github: GitHub;
  readonly activities: QuotaResizeGitHubActivities;
  /** Lines of the log, parsed. */
  readonly lines: readonly Record<string, unknown>[];
}

export interface GitOps extends AsyncDisposable {
  readonly forge: Forge;
  worker(
    options?: Partial<GitHubOptions> & { guard?: () => Promise<void>; pathTemplate?: string; labels?: string[] },
  ): Worker;
  /** Writes that changed something, as `METHOD path` without the repository. */
  effects(): readonly string[];
}

/** A repository with the files on a forge that runs. */
export async function startGitOps(
  files: Readonly<Record<string, string>> = { [PATH]: MANIFEST, 'README.md': '# gitops\n' },
  options: Partial<ForgeOptions> = {},
): Promise<GitOps> {
  const folder = await mkdtemp(join(tmpdir(), 'headroom-gitops-'));
  const gitDir = join(folder, 'gitops.git');
  await createBareRepository(gitDir, files);
  const forge = await startForge({
    gitDir,
    owner: 'acme',
    repo: 'gitops',
    token: 'first-token',
    mergeableDelayMs: 0,
    ...options,
  });
  return {
    forge,
    worker({
      guard = () => Promise.resolve(),
      pathTemplate = 'managed-resources/{{ .Cluster }}/{{ .Namespace }}',
      labels,
      ...overrides
    } = {}) {
      const lines: Record<string, unknown>[] = [];
      const log = pino(
        { level: 'debug' },
        { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
      );
      const github = new GitHub({
        apiUrl: forge.url,
        owner: 'acme',
        repo: 'gitops',
        token: () => 'first-token',
        log,
        writeSpacingMs: 0,
        requestTimeoutMs: 5000,
        ...overrides,
      });
      const timings = { checksPollMin: 1000, checksPollMax: 11_000, checksPollRamp: 100_000 };
      const activities = createQuotaResizeGitHubActivities({
        github,
        guard,
        log,
        config: { pathTemplate, timings, ...(labels === undefined ? {} : { labels }) },
      });
      return { github, activities, lines };
    },
    effects: () =>
      forge.writes
        .filter(({ effect }) => effect)
        .map(({ method, path }) => `${method} ${path.replace('/repos/acme/gitops', '')}`),
    async [Symbol.asyncDispose]() {
      try {
        await forge.stop();
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Runs something as the n-th attempt of an activity that was scheduled so many milliseconds ago. */
export function asAttempt<T>(attempt: number, run: () => Promise<T>, ageMs = 0): Promise<T> {
  const info = { attempt, scheduledTimestampMs: Date.now() - ageMs };
  return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR', () => {}) }).run(run);
}

/** The decision with its pull request open. */
export async function open(
  worker: Worker,
  decision: Decision = decide(),
): Promise<Decision & { pullRequest: PullRequestRef }> {
  const outcome = await worker.activities.ensurePullRequest({ target, decision, gitPath: null });
  if (outcome.kind !== 'open') throw new Error(`expected an open pull request, got ${JSON.stringify(outcome)}`);
  return { ...decision, pullRequest: outcome.pullRequest };
}
