/**
 * The Leases of files that open pull requests change. A file is locked from the opening of a pull request to its end; a
 * decision that waits before that locks none.
 */
import type { V1Lease } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { equalTexts } from '../../../domain/kernel/record.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import {
  type Decision,
  type DecisionRef,
  leaseHolder,
  unrecordedDecision,
} from '../../../domain/quota-resize/model/decision.ts';
import {
  askForFile,
  joinFile,
  busyDetail,
  type FileLock,
  type LockAnswer,
  type LockHolder,
  type LockRequest,
  NO_LOCK,
  queueDetail,
  type QueueTimings,
  urgencyOf,
  withoutHolder,
} from '../../../domain/quota-resize/model/file-lock.ts';
import {
  decisionIdOf,
  fileKey,
  fileLeaseAnnotations,
  fileLeaseLabels,
  fileLeaseName,
  fileLockOf,
  type LockedFile,
} from '../../../domain/quota-resize/model/lease.ts';
import { failure } from '../../kernel/failure.ts';
import { withKubernetesFailures } from '../../kubernetes/failure.ts';
import {
  acquiredAt,
  annotateLease,
  createLease,
  deleteLease,
  type LeaseNamespace,
  readLease,
  replaceLease,
  replaceLeaseHeldSince,
} from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';

/** A decision, and the quota whose it is. */
export interface LockOwner {
  readonly target: QuotaTarget;
  readonly decision: Decision;
}

export type FileLockOutcome =
  /** `added`: those that the decision had not locked before. */
  | { readonly kind: 'locked'; readonly added: readonly LockedFile[] }
  /** The decision has joined the pull request of another one, which holds the files. */
  | { readonly kind: 'joined'; readonly owner: DecisionRef }
  /** Nothing is locked that was not before; `message` says who has the file, and how long this quota waits in the queue. */
  | { readonly kind: 'fileBusy'; readonly path: string; readonly message: string };

interface LockOptions {
  /** Whether a decision has an open pull request on the forge, whatever its Lease records. */
  readonly hasOpenPullRequest: (owner: LockOwner) => Promise<boolean>;
  /** How to take a file; `inQueue` unless given. */
  readonly take?: (file: LockedFile) => LockRequest['take'];
}

export interface FileLocks {
  /** Locks all files or none. Files that the decision has already stay locked. */
  lock(owner: LockOwner, files: readonly LockedFile[], options: LockOptions): Promise<FileLockOutcome>;
  /**
   * Checks right before the pull request is opened that nobody else has taken over the files meanwhile.
   *
   * @throws {ApplicationFailure} KubernetesUnavailable, so that the opening begins anew.
   */
  assertLocked(owner: LockOwner, files: readonly LockedFile[]): Promise<void>;
  /** Unlocks the files of a decision that has no pull request. */
  unlock(owner: LockOwner): Promise<void>;
  /**
   * Lets a decision that waits for files join the pull request of the owner, who holds them.
   *
   * @returns those of its files that the owner had not locked before; null where it does not wait for them any more, or
   *   others change them as well: then nothing is locked that was not before.
   */
  join(
    owner: LockOwner,
    joining: LockOwner,
    hasOpenPullRequest: LockOptions['hasOpenPullRequest'],
  ): Promise<readonly LockedFile[] | null>;
  /** Takes a join back. */
  part(owner: LockOwner, joined: LockOwner, added: readonly LockedFile[]): Promise<void>;
}

/** What the Leases of quotas say of decisions, and which files they record. */
interface DecisionLeases {
  read(target: QuotaTarget): Promise<{ readonly decision: Decision | null }>;
  recordFiles(target: QuotaTarget, decision: Decision, files: readonly LockedFile[]): Promise<void>;
  unlockFiles(target: QuotaTarget, decision: Decision): Promise<void>;
  /** The files that a decision has locked, or waits for. */
  lockedFiles(target: QuotaTarget, decision: Decision): Promise<readonly LockedFile[]>;
}

interface FileLocksOptions extends LeaseNamespace {
  readonly leases: DecisionLeases;
  readonly timings: { readonly holdRetry: number; readonly fileWait: number };
  readonly log: Pick<Logger, 'info'>;
}

/**
 * An attempt to open a pull request ends before (activities have five minutes): a lock that is older, of a decision
 * without an open pull request, was left by one that died.
 */
const OPENING_MS = 10 * 60_000;

export function createFileLocks(options: FileLocksOptions): FileLocks {
  return {
    lock: withKubernetesFailures((owner, files, given) => lockFiles(options, owner, files, given)),
    assertLocked: withKubernetesFailures((owner, files) => assertLocked(options, owner, files)),
    unlock: withKubernetesFailures(({ target, decision }) => options.leases.unlockFiles(target, decision)),
    join: withKubernetesFailures(async (owner, joining, hasOpenPullRequest) => {
      const files = await options.leases.lockedFiles(joining.target, joining.decision);
      const lock = await lockFiles(options, owner, files, { hasOpenPullRequest, take: () => 'ifFree' });
      if (lock.kind !== 'locked') return null;
      if (await joinFiles(options, owner, joining, files)) return lock.added;
      for (const file of lock.added) await unlockFile(options, owner, file);
      return null;
    }),
    part: withKubernetesFailures(async (owner, joined, added) => {
      await options.leases.unlockFiles(joined.target, joined.decision);
      for (const file of added) await unlockFile(options, owner, file);
    }),
  };
}

async function lockFiles(
  options: FileLocksOptions,
  owner: LockOwner,
  files: readonly LockedFile[],
  given: LockOptions,
): Promise<FileLockOutcome> {
  const { target, decision } = owner;
  // Before they are locked: whoever releases the quota's Lease knows the files then, wherever this process dies.
  await options.leases.recordFiles(target, decision, files);
  const acquired: LockedFile[] = [];
  // Always in the same order, so that two decisions with two files each cannot take turns for ever.
  for (const file of files.toSorted((a, b) => (fileKey(a) < fileKey(b) ? -1 : 1))) {
    const lock = await lockFile(options, owner, file, given);
    if (lock.kind === 'joined') return lock;
    if (lock.kind === 'waits') {
      for (const taken of acquired) await unlockFile(options, owner, taken);
      return { kind: 'fileBusy', path: file.path, message: lock.message };
    }
    if (!lock.wasHeld) acquired.push(file);
  }
  return { kind: 'locked', added: acquired };
}

async function lockFile(
  options: FileLocksOptions,
  owner: LockOwner,
  file: LockedFile,
  { take, hasOpenPullRequest }: LockOptions,
): Promise<
  | { readonly kind: 'taken'; readonly wasHeld: boolean }
  | { readonly kind: 'waits'; readonly message: string }
  | Extract<FileLockOutcome, { kind: 'joined' }>
> {
  const { target, decision } = owner;
  const { namespace, quota } = target;
  const { log } = options;
  const request = {
    namespace,
    quota,
    holder: leaseHolder(decision.id),
    ...urgencyOf(decision),
    take: take?.(file) ?? 'inQueue',
  };
  const name = fileLeaseName(file);
  return await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
    const lease = await readLease(options, name);
    const lock = lease === null ? NO_LOCK : fileLockOf(lease, file, acquiredAt(lease));
    if (lock === null) {
      return {
        kind: 'waits',
        message: `${file.path} cannot be locked: ${options.systemNamespace}/${name} is the Lease of something else.`,
      };
    }
    const now = Date.now();
    const holders = await activeHolders(options, target, lock.holders, hasOpenPullRequest);
    const answer = askForFile({ ...lock, holders }, request, now, timingsOf(options));
    if (answer.kind === 'joined') {
      const { namespace: ofNamespace, quota: ofQuota, holder } = answer.owner;
      const id = decisionIdOf(holder) ?? '';
      return { kind: 'joined', owner: { namespace: ofNamespace, quota: ofQuota, decision: id } };
    }
    if (answer.kind === 'taken' && answer.lock.holders.length > 1 && !answer.wasHeld) {
      const others = holders.map((holder) => `${holder.namespace}/${holder.quota}`);
      const fields = { namespace, quota, file: fileKey(file), others };
      log.info(fields, `${file.path} is changed by more than one pull request: this quota has waited for long enough`);
    }
    await writeAnswer(options, owner, { file, lease, before: lock }, answer);
    if (answer.kind === 'taken') return { kind: 'taken', wasHeld: answer.wasHeld };
    const changedBy = await describeHolders(options, target, holders);
    const busy = busyDetail(file.path, answer.place, changedBy);
    return { kind: 'waits', message: request.take === 'ifFree' ? busy : `${busy}. ${queueDetail(answer.place)}` };
  });
}

/** A file's Lease as it was read. */
interface ReadLock {
  readonly file: LockedFile;
  readonly lease: V1Lease | null;
  readonly before: FileLock;
}

async function writeAnswer(
  options: FileLocksOptions,
  { target: { cluster }, decision }: LockOwner,
  { file, lease, before }: ReadLock,
  answer: Exclude<LockAnswer, { kind: 'joined' }>,
): Promise<void> {
  // Nothing is new about a file whose pull request is open.
  if (answer.kind === 'taken' && answer.wasHeld && decision.pullRequest !== null) return;
  await writeLock(options, cluster, { file, lease, before }, answer.lock);
}

async function writeLock(
  options: FileLocksOptions,
  cluster: string,
  { file, lease, before }: ReadLock,
  lock: FileLock,
): Promise<void> {
  const annotations = fileLeaseAnnotations(lease?.metadata?.annotations ?? {}, file, lock, cluster);
  const [first] = lock.holders;
  const holder = first?.holder ?? null;
  if (lease === null) {
    await createLease(options, { name: fileLeaseName(file), labels: fileLeaseLabels, annotations }, holder);
  } else if (first?.holder !== before.holders[0]?.holder || first?.at !== before.holders[0]?.at) {
    await (first === undefined
      ? replaceLease(options, lease, null, annotations)
      : replaceLeaseHeldSince(options, lease, { holder: first.holder, since: first.at }, annotations));
  } else if (!equalTexts(annotations, lease.metadata?.annotations)) {
    // Whoever waits does not make the lock look younger than it is.
    await annotateLease(options, lease, annotations);
  }
}

/** The holders without those whose opening died, and those whose pull request is over while nobody has released it. */
async function activeHolders(
  { leases }: FileLocksOptions,
  target: QuotaTarget,
  holders: readonly LockHolder[],
  hasOpenPullRequest: LockOptions['hasOpenPullRequest'],
): Promise<readonly LockHolder[]> {
  const active: LockHolder[] = [];
  for (const holder of holders) {
    const { namespace, quota, at } = holder;
    // Those that joined a pull request are there for as long as its owner is.
    if (holder.joins !== undefined) {
      active.push(holder);
      continue;
    }
    const isOwn = namespace === target.namespace && quota === target.quota;
    const id = decisionIdOf(holder.holder);
    if (isOwn || id === null || Date.now() < at + OPENING_MS) {
      active.push(holder);
      continue;
    }
    const other = { ...target, namespace, quota };
    const { decision: recorded } = await leases.read(other);
    // Of a decision that its Lease has lost, the id says by which branch or commit a pull request can be found.
    const decision = recorded?.id === id ? recorded : unrecordedDecision(id);
    if (await hasOpenPullRequest({ target: other, decision })) active.push(holder);
  }
  return active;
}

async function joinFiles(
  options: FileLocksOptions,
  owner: LockOwner,
  joining: LockOwner,
  files: readonly LockedFile[],
): Promise<boolean> {
  const { cluster, namespace, quota } = joining.target;
  const holder = leaseHolder(joining.decision.id);
  const added: LockedFile[] = [];
  let wasAsking = false;
  let isPossible = true;
  for (const file of files) {
    const name = fileLeaseName(file);
    isPossible &&= await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
      const lease = await readLease(options, name);
      const before = lease === null ? null : fileLockOf(lease, file, acquiredAt(lease));
      if (before === null) return false;
      const joined = joinFile(before, { namespace, quota, holder }, leaseHolder(owner.decision.id), Date.now());
      if (joined === null) return false;
      wasAsking ||= joined.wasAsking;
      if (joined.lock === before) return true;
      await writeLock(options, cluster, { file, lease, before }, joined.lock);
      added.push(file);
      return true;
    });
  }
  if (isPossible && wasAsking) return true;
  for (const file of added) await unlockFile(options, joining, file);
  return false;
}

/** Who changes a file, with their pull requests; null: nobody. */
async function describeHolders(
  { leases }: FileLocksOptions,
  target: QuotaTarget,
  holders: readonly LockHolder[],
): Promise<string | null> {
  const described: string[] = [];
  for (const { namespace, quota, holder } of holders) {
    const { decision } = await leases.read({ ...target, namespace, quota });
    const pullRequest = decision !== null && leaseHolder(decision.id) === holder ? decision.pullRequest : null;
    described.push(
      pullRequest === null
        ? `the pull request that ${namespace}/${quota} is opening`
        : `the pull request of ${namespace}/${quota} ([#${pullRequest.number}](${pullRequest.url}), open since ${formatInstant(pullRequest.openedAt)})`,
    );
  }
  return described.length === 0 ? null : described.join(' and ');
}

async function assertLocked(
  options: FileLocksOptions,
  { target, decision }: LockOwner,
  files: readonly LockedFile[],
): Promise<void> {
  const ours = leaseHolder(decision.id);
  for (const file of files) {
    const lease = await readLease(options, fileLeaseName(file));
    const lock = lease === null ? null : fileLockOf(lease, file, acquiredAt(lease));
    if (lock?.holders.some(({ holder }) => holder === ours)) continue;
    throw failure({
      type: 'KubernetesUnavailable',
      message: `${file.path} is not locked for ${target.namespace}/${target.quota} any more, so no pull request is opened; it is asked for again`,
    });
  }
}

function timingsOf({ timings: { holdRetry, fileWait } }: FileLocksOptions): QueueTimings {
  // Who waits asks again after `holdRetry`; an entry survives one such moment that is missed.
  // What begins before half of the time is over ends before all of it is.
  return { renewWithin: 2 * holdRetry + 60_000, longestWait: fileWait, refreshAfter: OPENING_MS / 2 };
}

/** Unlocks a file that the decision has locked or waits for; locks of others are left alone. */
export async function unlockFile(
  leases: LeaseNamespace,
  { target: { cluster, namespace, quota }, decision }: LockOwner,
  file: LockedFile,
): Promise<void> {
  const name = fileLeaseName(file);
  const left = { namespace, quota, holder: leaseHolder(decision.id) };
  await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
    const lease = await readLease(leases, name);
    const before = lease === null ? null : fileLockOf(lease, file, acquiredAt(lease));
    if (lease === null || before === null) return;
    const after = withoutHolder(before, left, Date.now());
    if (after === null) {
      await deleteLease(leases, lease);
      return;
    }
    if (after.holders.length === before.holders.length && after.queue.length === before.queue.length) return;
    const annotations = fileLeaseAnnotations(lease.metadata?.annotations ?? {}, file, after, cluster);
    await replaceLease(leases, lease, after.holders[0]?.holder ?? null, annotations);
  });
}
