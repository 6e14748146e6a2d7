/**
 * The Lease of a quota: the lock of its decision, and the memory that outlives a workflow run. This module defines its
 * name, its ownership and its annotations; it does not access a cluster.
 */
import * as z from 'zod';
import { digestOf } from '../../kernel/digest.ts';
import type { QuotaTarget } from '../../kernel/target.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { RecordedRaise } from '../policy/recorded-raise.ts';
import type { Decision } from './decision.ts';
import { writtenDecision } from './decision-schema.ts';
import { type FileLock, readFileLock, writeFileLock } from './file-lock.ts';
import { instant, rfc3339 } from './lease-instant.ts';
import { neededLimits, raise, recommendation, rejection } from './lease-schema.ts';
import { approvalRemoval, type LeaseApproval, readLeaseApproval } from './lease-approval.ts';
import type { LeaseRecord } from './observation.ts';
import type { NeededLimits } from '../sizing/needed.ts';
import { keptRejections } from './rejections.ts';

const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
const MANAGED_BY = 'namespace-resizer';
const KIND_LABEL = 'headroom.io/kind';

/** Selects all Leases of the resizer and no others. */
export const leaseSelector = `${MANAGED_BY_LABEL}=${MANAGED_BY}`;

const annotation = {
  targetCluster: 'resizer.io/target-cluster',
  targetNamespace: 'resizer.io/target-namespace',
  targetQuota: 'resizer.io/target-quota',
  lastModified: 'resizer.io/last-modified',
  lastWithdrawal: 'resizer.io/last-withdrawal',
  lastRecommendation: 'resizer.io/last-recommendation',
  rejections: 'resizer.io/refusals',
  raises: 'resizer.io/unattended-raises',
  decision: 'resizer.io/decision',
  needed: 'resizer.io/needed',
  /**
   * Lines of `<repository>:<path>`: on a quota's Lease the files that its decision locks, or waits for; on a file's
   * Lease that file.
   */
  file: 'resizer.io/file',
  /** On a file's Lease: further decisions whose pull requests change the file. */
  alsoLockedBy: 'resizer.io/also-locked-by',
  /** On a file's Lease: the quotas that wait for the file. */
  waiting: 'resizer.io/waiting',
  /** The quota of the same namespace whose decision also holds this Lease. */
  carriedBy: 'resizer.io/carried-by',
} as const;

/** Kubernetes' limit for object names that are DNS subdomains. */
const MAX_NAME_LENGTH = 253;

/** 64 bits: a collision becomes likely at 2³² Leases, far more than a cluster has. */
const HASH_LENGTH = 16;

/** The annotations of an object share 256 KiB; the complete evidence is in the pull request. */
const MAX_EVIDENCE = 100;

/** The fields of a Lease that are used, in the shape of Kubernetes' JSON. */
export interface LeaseObject {
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly labels?: Readonly<Record<string, string>> | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec?: { readonly holderIdentity?: string | undefined } | undefined;
}

/** A file of a GitOps repository, by `owner/name` and path. Only one open pull request at a time may change it. */
export interface LockedFile {
  readonly repository: string;
  readonly path: string;
}

/** What a Lease stores about its quota. */
export type LeaseMemory = Pick<
  LeaseRecord,
  'lastModified' | 'lastWithdrawal' | 'lastRecommendation' | 'rejections' | 'decision'
> & {
  /** What Headroom merged, or is about to merge, as far as anything is still counted from it. */
  readonly raises: readonly RecordedRaise[];
  /** What the quotas of the decision needed when it was stored, as far as that was read; absent without a decision. */
  readonly needed?: NeededLimits;
  /** Annotations that cannot be parsed, by name: they are kept until they are overwritten. */
  readonly unread?: Readonly<Record<string, string>>;
};

function hash(text: string): string {
  return digestOf(text, HASH_LENGTH);
}

/**
 * The possible names of a quota's Lease, in the order in which they are tried: `state-<namespace>-<quota>` if it is
 * short enough, then the same with a hash. The second is used when the first belongs to another quota ("team-a" with
 * "b" and "team" with "a-b" have the same first name) and for names that are too long.
 */
export function leaseNames(target: Pick<QuotaTarget, 'namespace' | 'quota'>): readonly string[] {
  const { namespace, quota } = target;
  const plain = `state-${namespace}-${quota}`;
  const suffix = `-${hash(`${namespace}/${quota}`)}`;
  // A segment of an object name may not end with a dot or a dash, so the cut name is cleaned up.
  const head = plain.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[.-]+$/, '');
  return plain.length <= MAX_NAME_LENGTH ? [plain, head + suffix] : [head + suffix];
}

/** The name of the Lease that locks a file. */
export function fileLeaseName(file: LockedFile): string {
  return `file-${hash(fileKey(file))}`;
}

/** The name of the Lease under which merges of one guardrail are checked one at a time. */
export function guardrailLeaseName(guardrail: string): string {
  return `guardrail-${hash(guardrail)}`;
}

/** `<repository>:<path>`. */
export function fileKey(file: LockedFile): string {
  return `${file.repository}:${file.path}`;
}

/** The files that a Lease locks. */
export function filesOfLease(lease: LeaseObject): readonly LockedFile[] {
  const keys = lease.metadata?.annotations?.[annotation.file]?.split('\n') ?? [];
  return keys.flatMap((key) => {
    const colon = key.indexOf(':');
    return colon < 0 ? [] : [{ repository: key.slice(0, colon), path: key.slice(colon + 1) }];
  });
}

/** The quota of the same namespace whose decision also holds this quota's Lease; null when there is none. */
export function carrierOfLease(lease: LeaseObject): string | null {
  return lease.spec?.holderIdentity ? (lease.metadata?.annotations?.[annotation.carriedBy] ?? null) : null;
}

/** Whether the Lease locks a file and is not the Lease of a quota. */
export function isFileLease(lease: LeaseObject): boolean {
  return isManaged(lease) && lease.metadata?.labels?.[KIND_LABEL] === 'file';
}

/** The namespace and quota in a Lease's annotations; null when there are none, as with an earlier tool. */
export function targetOfLease(lease: LeaseObject): Pick<QuotaTarget, 'namespace' | 'quota'> | null {
  const annotations = lease.metadata?.annotations;
  const namespace = annotations?.[annotation.targetNamespace];
  const quota = annotations?.[annotation.targetQuota];
  return namespace && quota ? { namespace, quota } : null;
}

/**
 * Who owns a Lease that was found under one of a quota's names. `legacy`: the earlier tool, which stored the target
 * only in the name; such a Lease is taken over.
 */
export function leaseRelation(lease: LeaseObject, target: QuotaTarget): 'own' | 'legacy' | 'other' {
  if (!isManaged(lease) || isFileLease(lease)) return 'other';
  const named = targetOfLease(lease);
  if (named === null) return lease.metadata?.name === `state-${target.namespace}-${target.quota}` ? 'legacy' : 'other';
  return named.namespace === target.namespace && named.quota === target.quota ? 'own' : 'other';
}

/**
 * All namespaces that the name of an earlier tool's Lease may refer to: `state-team-a-compute` is compute in team-a, or
 * a-compute in team. Empty for a name in another format.
 */
export function legacyNamespaces(name: string): readonly string[] {
  const rest = name.startsWith('state-') ? name.slice('state-'.length) : '';
  const dashes = [...rest.matchAll(/-/g)].map((match) => match.index);
  return dashes.filter((dash) => dash > 0 && dash < rest.length - 1).map((dash) => rest.slice(0, dash));
}

/** The decision id in a holder `headroom/<decision id>`; null for any other holder. */
export function decisionIdOf(holder: string | null): string | null {
  return /^headroom\/(.+)$/.exec(holder ?? '')?.[1] ?? null;
}

/** What the Lease of a quota says of it. */
export interface QuotaLease {
  readonly target: Pick<QuotaTarget, 'namespace' | 'quota'>;
  readonly memory: LeaseMemory;
  /** The decision that holds it; null where another one holds the Lease, or nobody. */
  readonly decision: Decision | null;
  readonly approval: LeaseApproval | null;
}

/** Null for the Lease of something else. */
export function quotaOfLease(lease: LeaseObject): QuotaLease | null {
  const target = isFileLease(lease) ? null : targetOfLease(lease);
  if (target === null) return null;
  const { memory } = readLeaseMemory(lease);
  const holder = decisionIdOf(lease.spec?.holderIdentity ?? null);
  const decision = memory.decision?.id === holder ? memory.decision : null;
  return { target, memory, decision, approval: readLeaseApproval(lease.metadata?.annotations).approval };
}

/** The pull request number in an earlier tool's holder `pr-<number>`; null for any other holder. */
export function pullRequestNumberOf(holder: string | null): number | null {
  const digits = /^pr-([0-9]{1,15})$/.exec(holder ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The quotas whose decisions lock a file besides the holder of its Lease. */
export function otherHoldersOf(lease: LeaseObject): readonly Pick<QuotaTarget, 'namespace' | 'quota'>[] {
  const others = lease.metadata?.annotations?.[annotation.alsoLockedBy];
  const first = { namespace: '', quota: '', holder: '', at: 0 };
  const { holders } = readFileLock(first, { others, queue: undefined });
  return holders.slice(1).map(({ namespace, quota }) => ({ namespace, quota }));
}

/** The quotas that wait for a file's Lease. */
export function waitersOf(lease: LeaseObject): readonly {
  readonly namespace: string;
  readonly quota: string;
  /** In milliseconds. */
  readonly until: EpochMs;
}[] {
  const queue = lease.metadata?.annotations?.[annotation.waiting];
  return readFileLock(null, { others: undefined, queue }).queue.map(({ namespace, quota, until }) => ({
    namespace,
    quota,
    until,
  }));
}

/** The labels of a quota's Lease. */
export const quotaLeaseLabels: Readonly<Record<string, string>> = { [MANAGED_BY_LABEL]: MANAGED_BY };

/** The labels of a file's Lease. */
export const fileLeaseLabels: Readonly<Record<string, string>> = { ...quotaLeaseLabels, [KIND_LABEL]: 'file' };

/**
 * The annotations of a file's Lease: the file, the quota whose decision locks it, further ones, and who waits.
 * Annotations of others are kept.
 */
export function fileLeaseAnnotations(
  annotations: Readonly<Record<string, string>>,
  file: LockedFile,
  lock: FileLock,
  cluster: string,
): Readonly<Record<string, string>> {
  const { others, queue } = writeFileLock(lock);
  // A free file that others wait for belongs to the first of them, for the garbage collection.
  const [owner] = [...lock.holders, ...lock.queue];
  return withValues(
    {
      ...annotations,
      ...(owner === undefined ? {} : targetAnnotations({ cluster, namespace: owner.namespace, quota: owner.quota })),
      [annotation.file]: fileKey(file),
    },
    { [annotation.alsoLockedBy]: others, [annotation.waiting]: queue },
  );
}

/**
 * The lock in a file's Lease; null where it is the Lease of something else.
 *
 * @param acquiredAt when its holder acquired it.
 */
export function fileLockOf(lease: LeaseObject, file: LockedFile, acquiredAt: EpochMs): FileLock | null {
  const [locked] = filesOfLease(lease);
  if (!isFileLease(lease) || locked === undefined || fileKey(locked) !== fileKey(file)) return null;
  const holder = lease.spec?.holderIdentity || null;
  const { namespace, quota } = targetOfLease(lease) ?? { namespace: '', quota: '' };
  const annotations = lease.metadata?.annotations;
  return readFileLock(holder === null ? null : { namespace, quota, holder, at: acquiredAt }, {
    others: annotations?.[annotation.alsoLockedBy],
    queue: annotations?.[annotation.waiting],
  });
}

/** The annotations with the locked files and the carrying quota set, or removed when they are absent. */
export function withLocks(
  annotations: Readonly<Record<string, string>>,
  files: readonly LockedFile[],
  carriedBy: string | null,
): Readonly<Record<string, string>> {
  const keys = files.map(fileKey).join('\n');
  return withValues(annotations, { [annotation.file]: keys === '' ? null : keys, [annotation.carriedBy]: carriedBy });
}

/**
 * The annotations with the target and the memory written over them; annotations of others are kept.
 *
 * Times are RFC 3339 in UTC. The decision is stored with the version of its format, for later releases. An approval is
 * left as it is, and removed with its decision.
 */
export function withMemory(
  annotations: Readonly<Record<string, string>>,
  target: QuotaTarget,
  memory: LeaseMemory,
): Readonly<Record<string, string>> {
  const { lastModified, lastWithdrawal, lastRecommendation, rejections, raises, decision, needed, unread } = memory;
  const kept = keptRejections(rejections);
  const values = {
    [annotation.lastModified]: lastModified === null ? null : rfc3339(lastModified),
    [annotation.lastWithdrawal]: lastWithdrawal === undefined ? null : rfc3339(lastWithdrawal),
    [annotation.lastRecommendation]:
      lastRecommendation === null
        ? null
        : JSON.stringify({ limits: lastRecommendation.limits, at: rfc3339(lastRecommendation.at) }),
    [annotation.rejections]:
      kept.length === 0 ? null : JSON.stringify(kept.map((rejection) => ({ ...rejection, at: rfc3339(rejection.at) }))),
    [annotation.raises]:
      raises.length === 0 ? null : JSON.stringify(raises.map((raise) => ({ ...raise, at: rfc3339(raise.at) }))),
    [annotation.decision]:
      decision === null
        ? null
        : JSON.stringify({ v: 2, decision: { ...decision, evidence: decision.evidence.slice(0, MAX_EVIDENCE) } }),
    [annotation.needed]:
      decision === null || needed === undefined ? null : JSON.stringify({ decision: decision.id, limits: needed }),
  };
  const entries = Object.entries(values).map(([key, value]) => [key, value ?? unread?.[key] ?? null] as const);
  const approval = readLeaseApproval(annotations).approval;
  const isOver = approval !== null && !hasUnreadDecision(memory) && approval.decision !== decision?.id;
  return withValues(
    { ...annotations, ...targetAnnotations(target) },
    { ...Object.fromEntries(entries), ...(isOver ? approvalRemoval : {}) },
  );
}

/**
 * Whether the Lease has a decision that this release cannot parse, such as one of a later release, whose writer may be
 * active.
 */
export function hasUnreadDecision({ unread }: LeaseMemory): boolean {
  return unread !== undefined && Object.hasOwn(unread, annotation.decision);
}

/** The memory without the decision, even one that cannot be parsed; only for a holder of the Lease. */
export function withoutDecision({ unread = {}, ...memory }: LeaseMemory): LeaseMemory {
  const { [annotation.decision]: _, ...others } = unread;
  return { ...memory, decision: null, unread: others };
}

/**
 * What a Lease stores about its quota. An annotation that cannot be parsed counts as absent and is listed in
 * `problems`, because a typo must not stop a controller. A decision that cannot be parsed may still be in progress.
 */
export function readLeaseMemory(lease: LeaseObject): {
  readonly memory: LeaseMemory;
  readonly problems: readonly string[];
} {
  const annotations = lease.metadata?.annotations ?? {};
  const problems: string[] = [];
  const unread: Record<string, string> = {};
  const read = <T>(key: string, schema: z.ZodType<T>, json: boolean): T | null => {
    const text = annotations[key];
    if (text === undefined) return null;
    const value = json ? parseJson(text) : text;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    unread[key] = text;
    const consequence = key === annotation.decision ? 'cannot be read, so the Lease counts as held' : 'is ignored';
    problems.push(
      `the annotation ${key} of the Lease ${lease.metadata?.name ?? ''} ${consequence}: ${z.prettifyError(result.error)}`,
    );
    return null;
  };
  const lastWithdrawal = read(annotation.lastWithdrawal, instant, false);
  const decision = read(annotation.decision, writtenDecision, true)?.decision ?? null;
  const needed = read(annotation.needed, neededLimits, true);
  const memory = {
    lastModified: read(annotation.lastModified, instant, false),
    ...(lastWithdrawal === null ? {} : { lastWithdrawal }),
    lastRecommendation: read(annotation.lastRecommendation, recommendation, true),
    rejections: read(annotation.rejections, z.array(rejection), true) ?? [],
    raises: read(annotation.raises, z.array(raise), true) ?? [],
    decision,
    ...(needed?.decision === decision?.id && needed !== null ? { needed: needed.limits } : {}),
  };
  return { memory: problems.length === 0 ? memory : { ...memory, unread }, problems };
}

function isManaged(lease: LeaseObject): boolean {
  return lease.metadata?.labels?.[MANAGED_BY_LABEL] === MANAGED_BY;
}

function targetAnnotations(target: QuotaTarget): Readonly<Record<string, string>> {
  return {
    [annotation.targetCluster]: target.cluster,
    [annotation.targetNamespace]: target.namespace,
    [annotation.targetQuota]: target.quota,
  };
}

function withValues(
  annotations: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> {
  const merged = Object.entries({ ...annotations, ...values });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
