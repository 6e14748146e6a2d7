import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import type { Forge as GitForge } from '../../../activities/forge/forge.ts';
import type { GitHubOptions } from '../../../activities/forge/github/connection.ts';
import { tokenCredentials } from '../../../activities/forge/github/credentials.ts';
import type { WritePermits } from '../../../activities/forge/write-permits.ts';
import { connectRepositories } from '../../../activities/forge/github/repositories.ts';
import type { Repositories } from '../../../activities/forge/repositories.ts';
import type { DeliveryOfBranch } from '../../../activities/quota-resize/source/deliveries.ts';
import type { MergeMethod, ReadLimits, RepositoryName } from '../../../domain/kernel/forge.ts';
import {
  createQuotaResizeForgeActivities,
  type QuotaResizeForgeOptions,
  type QuotaResizeForgeActivities,
} from '../../../activities/quota-resize/forge-activities.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { MergeOutcome, QuotaCandidates } from '../../../activities/quota-resize/interface.ts';
import type { FileLocks } from '../../../activities/quota-resize/lease/file-lock.ts';
import type { PullRequestDependencies } from '../../../activities/quota-resize/pull-request/own-work.ts';
import type { CheckedDecision } from '../../../activities/quota-resize/pull-request/checked-merge.ts';
import type { MergeGate } from '../../../activities/quota-resize/pull-request/merge-gate.ts';
import {
  type BatchedQuota,
  decidedLimits,
  type Decision,
  isHeldIn,
  type LimitChange,
  type OpenDecision,
  type PullRequestRef,
} from '../../../domain/quota-resize/model/decision.ts';
import { pullRequestTexts, type TextTemplates } from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import type { SourceCandidate } from '../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { resolve } from '../../domain/quota-resize/policy/policies.ts';
import { createBareRepository } from '../../kernel/forge/git/bare-repository.ts';
import { type Forge, type ForgeOptions, startForge } from '../../kernel/forge/forge.ts';

export const target: QuotaTarget = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
export const PATH = 'managed-resources/prod/team-a/quota.yaml';

/** Where the worker looks when nothing but the path template says it. */
export const candidates: readonly SourceCandidate[] = [
  {
    from: 'template',
    path: 'managed-resources/prod/team-a',
    learntFrom: 'the path template `managed-resources/{{ .Cluster }}/{{ .Namespace }}`',
  },
];

/** Where it looks when an annotation of the namespace names the path. */
export function annotated(path: string, more: Partial<SourceCandidate> = {}): readonly SourceCandidate[] {
  return [{ from: 'annotation', path, learntFrom: 'the annotation resizer.io/git-path of namespace team-a', ...more }];
}

export const candidatesByQuota = [{ quota: target.quota, candidates }];
export const { policy } = resolve({}, {}, { mode: 'propose' });

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
  return {
    resource,
    from,
    to,
    used: from,
    demand: '0',
    reason: `Usage is ${from} of ${from} (100 %), and the threshold is 80 %.`,
  };
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
    evidence: ['ReplicaSet web still needs 2 pods.'],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: null,
    merge: null,
    ...overrides,
  };
}

/** A worker process: its own caches, its own view. */
export interface Worker {
  readonly repositories: Repositories;
  /** The first repository. */
  readonly github: GitForge;
  /** Its Leases record what the workflow says. */
  readonly activities: Omit<QuotaResizeForgeActivities, 'ensureMerged'> & {
    ensureMerged(input: {
      target: QuotaTarget;
      decision: Decision;
      entersQueue?: boolean;
      isQueued?: boolean;
    }): Promise<MergeOutcome>;
  };
  /** Lines of the log, parsed. */
  readonly lines: readonly Record<string, unknown>[];
}

interface WorkerOptions extends Partial<Omit<GitHubOptions, 'credentials'>> {
  readonly token?: () => string;
  readonly guard?: () => Promise<void>;
  readonly policyGuard?: () => Promise<void>;
  /** Absent: the guardrail that the activities are told. */
  readonly guardrailOf?: PullRequestDependencies['guardrailOf'];
  readonly mergeGate?: MergeGate;
  readonly fileLocks?: FileLocks;
  readonly decisions?: PullRequestDependencies['decisions'];
  readonly permits?: WritePermits;
  /** The cluster and Temporal, for searches, and for the record of what was opened. */
  readonly orphans?: Partial<QuotaSide>;
  readonly templates?: Partial<TextTemplates>;
  readonly mergeMethod?: MergeMethod;
  /** Besides the first one. */
  readonly repositories?: readonly RepositoryName[];
  /** The most bytes that are read. */
  readonly limits?: ReadLimits;
  /** What the cluster shows to be applied from the repository. */
  readonly deliveries?: readonly DeliveryOfBranch[];
}

export interface GitOps extends AsyncDisposable {
  readonly forge: Forge;
  worker(options?: WorkerOptions): Worker;
  /** Writes that changed something, as `METHOD path` without the repository. */
  effects(): readonly string[];
}

/** A repository with the files on a forge that runs. */
export async function startGitOps(
  files: Readonly<Record<string, string>> = { [PATH]: MANIFEST, 'README.md': '# gitops\n' },
  { links = {}, ...options }: Partial<ForgeOptions> & { readonly links?: Readonly<Record<string, string>> } = {},
  /** More repositories of the same owner, by name. */
  others: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<GitOps> {
  const folder = await mkdtemp(join(tmpdir(), 'headroom-gitops-'));
  const gitDir = join(folder, 'gitops.git');
  await createBareRepository(gitDir, files, { links });
  const repositories: { gitDir: string; owner: string; repo: string }[] = [];
  for (const [repo, content] of Object.entries(others)) {
    const other = { gitDir: join(folder, `${repo}.git`), owner: 'acme', repo };
    await createBareRepository(other.gitDir, content);
    repositories.push(other);
  }
  const forge = await startForge({
    gitDir,
    owner: 'acme',
    repo: 'gitops',
    repositories,
    token: 'first-token',
    mergeableDelayMs: 0,
    ...options,
  });
  return {
    forge,
    worker({
      guard = () => Promise.resolve(),
      policyGuard = () => Promise.resolve(),
      guardrailOf,
      mergeGate,
      fileLocks = freeFiles,
      decisions,
      permits,
      token = () => 'first-token',
      templates,
      mergeMethod,
      orphans = {},
      repositories: others = [],
      owner = 'acme',
      repo = 'gitops',
      baseBranch,
      deliveries,
      ...overrides
    } = {}) {
      const lines: Record<string, unknown>[] = [];
      const log = pino(
        { level: 'debug' },
        { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
      );
      const apiUrl = overrides.apiUrl ?? forge.apiUrl;
      const connected = connectRepositories({
        apiUrl,
        credentials: tokenCredentials({ apiUrl, token }),
        repositories: [{ owner, repo, baseBranch: baseBranch ?? undefined }, ...others],
        log,
        writeSpacingMs: 0,
        // Longer than in production: a read that takes longer is sent again, and tests count requests. The forge is in this
        // very process, and in its first exchanges it compiles GitHub's description, for half a minute where all cores are busy.
        requestTimeoutMs: 90_000,
        ...overrides,
      });
      const repositories =
        deliveries === undefined ? connected : { ...connected, deliveriesOf: () => Promise.resolve(deliveries) };
      const timings = { checksPollMin: 1000, checksPollMax: 11_000, checksPollRamp: 100_000 };
      let recorded: Decision | null = null;
      let told = policy.guardrail;
      const leases = decisions ?? { read: () => Promise.resolve({ decision: recorded }) };
      const activities = createQuotaResizeForgeActivities({
        repositories,
        permits: permits ?? null,
        guard,
        policyGuard,
        guardrailOf: guardrailOf ?? (() => Promise.resolve(told)),
        fileLocks,
        ...unasked,
        ...orphans,
        decisions: leases,
        mergeGate: mergeGate ?? openGate(() => Promise.resolve(asOpen(recorded)), leases),
        log,
        config: { timings, texts: pullRequestTexts(templates), temporalUi: null, mergeMethod },
      });
      const recording: Worker['activities'] = {
        ...activities,
        ensurePullRequest: async (input) => {
          candidatesOf.set(input.decision.id, input.candidatesByQuota);
          told = input.policy.guardrail;
          return await activities.ensurePullRequest(input);
        },
        ensureComment: async (input) => {
          recorded = input.decision;
          await activities.ensureComment(input);
        },
        ensureMerged: async (input) => {
          recorded = await placed(activities, input.decision);
          return await activities.ensureMerged(input);
        },
      };
      return { repositories, github: repositories.of(`${owner}/${repo}`), activities: recording, lines };
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

/** With which candidates the pull request of a decision was opened. */
const candidatesOf = new Map<string, readonly QuotaCandidates[]>();

/** The decision with its places in Git, as the workflow looks them up before it decides. */
async function placed(activities: QuotaResizeForgeActivities, decision: Decision): Promise<Decision> {
  if (decision.source === null || decision.source?.placement !== undefined) return decision;
  const find = async (quota: string, changes: readonly LimitChange[]) => {
    const given = candidatesOf.get(decision.id)?.find((one) => one.quota === quota);
    const found = await activities.observeSource({
      target: { ...target, quota },
      limits: decidedLimits({ changes }),
      candidates: given?.candidates ?? candidates,
      ...(given?.current === undefined ? {} : { current: given.current }),
    });
    if (found.kind === 'blocked') throw new Error(found.message);
    return found;
  };
  const source = await find(target.quota, decision.changes);
  const batchedQuotas: BatchedQuota[] = [];
  for (const batchedQuota of decision.batchedQuotas ?? []) {
    const { placement } = await find(batchedQuota.quota, batchedQuota.changes);
    batchedQuotas.push({ ...batchedQuota, placement });
  }
  return { ...decision, source, ...(batchedQuotas.length === 0 ? {} : { batchedQuotas }) };
}

/** A gate that lets everything pass, with the decision that a Lease would record, and those that joined it. */
export function openGate(
  recorded: () => Promise<OpenDecision>,
  decisions: PullRequestDependencies['decisions'] = noDecisions,
): MergeGate {
  return {
    recorded,
    async merging(owner, decision, merge) {
      const { pullRequest } = decision;
      const joined: CheckedDecision[] = [];
      for (const { namespace, quota, decision: id } of (decision.joined ?? []).filter(isHeldIn)) {
        const target = { ...owner, namespace, quota };
        const { decision: theirs } = await decisions.read(target);
        if (theirs?.id !== id) throw new Error(`the Lease of ${namespace}/${quota} has no decision that joined`);
        joined.push({ target, decision: { ...theirs, pullRequest, merge: null }, raises: [] });
      }
      const own = { target: owner, decision, raises: [] };
      return await merge({ own, joined }, () => Promise.resolve({ raises: [] }));
    },
    ended: () => Promise.resolve(),
    refused: () => Promise.resolve(),
  };
}

type QuotaSide = Pick<
  QuotaResizeForgeOptions,
  | 'observeQuota'
  | 'ensureLeaseUpdated'
  | 'ensureLeaseReleased'
  | 'recordedPullRequests'
  | 'isOfEpisode'
  | 'requestEpisode'
>;

/** A cluster that nothing is asked of. */
export const unasked: QuotaSide = {
  observeQuota: () => Promise.reject(new Error('no quota is to be observed')),
  ensureLeaseUpdated: () => Promise.reject(new Error('no pull request is to be recorded')),
  ensureLeaseReleased: () => Promise.reject(new Error('no Lease is to be released')),
  recordedPullRequests: () => Promise.resolve(new Set<string>()),
  isOfEpisode: () => Promise.resolve(false),
  requestEpisode: () => Promise.reject(new Error('no episode is to be started')),
};

/** Locks of a worker that nobody else competes with. */
export const freeFiles: FileLocks = {
  lock: () => Promise.resolve({ kind: 'locked', added: [] }),
  assertLocked: () => Promise.resolve(),
  unlock: () => Promise.resolve(),
  join: () => Promise.resolve(null),
  part: () => Promise.resolve(),
};

/** No Lease has a decision. */
export const noDecisions = { read: () => Promise.resolve({ decision: null }) };

function asOpen(decision: Decision | null): OpenDecision {
  const pullRequest = decision?.pullRequest ?? null;
  if (decision === null || pullRequest === null) throw new Error('the decision has no pull request yet');
  return { ...decision, pullRequest, merge: null };
}

/** Runs something as the n-th attempt of an activity that was scheduled so many milliseconds ago. */
export function asAttempt<T>(attempt: number, run: () => Promise<T>, ageMs = 0): Promise<T> {
  const info = { attempt, scheduledTimestampMs: Date.now() - ageMs };
  return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR', () => {}) }).run(run);
}

/**
 * How many requests it may take to open pull requests: so many, and no more unless it took so long that a look at the base is
 * too old by then (10 s), or the decision not surely new (30 s). A busy machine may stand still for that.
 */
export function requestsFor(expected: number, tookMs: number): readonly number[] {
  return tookMs < 10_000 ? [expected] : [expected, expected + 1, expected + 2];
}

/** Asks a worker for the pull request of a decision, with the usual policy and candidates. */
export async function ensureOpen(worker: Worker, decision: Decision) {
  return await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
}

/** The decision with its pull request open. */
export async function open(
  worker: Worker,
  decision: Decision = decide(),
): Promise<Decision & { pullRequest: PullRequestRef }> {
  const outcome = await ensureOpen(worker, decision);
  if (outcome.kind !== 'open') throw new Error(`expected an open pull request, got ${JSON.stringify(outcome)}`);
  return { ...decision, pullRequest: outcome.pullRequest };
}
