import { V1Lease, V1MicroTime, V1ObjectMeta } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import {
  type Companion,
  type Decision,
  decidedLimits,
  leaseHolder,
  type Refusal,
} from '../../domain/quota-resize/model/decision.ts';
import {
  fileKey,
  fileLeaseAnnotations,
  fileLeaseLabels,
  fileLeaseName,
  carrierOfLease,
  filesOfLease,
  isFileLease,
  type LeaseMemory,
  leaseNames,
  leaseRelation,
  type LockedFile,
  pullRequestNumberOf,
  quotaLeaseLabels,
  readLeaseMemory,
  targetOfLease,
  withLocks,
  withMemory,
} from '../../domain/quota-resize/model/lease.ts';
import type { LeaseRecord } from '../../domain/quota-resize/model/observation.ts';
import { failure } from '../kernel/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull, statusCode } from '../kubernetes/failure.ts';
import type { LeaseOutcome } from './interface.ts';

interface LeaseOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  /** Whether the pull request of an earlier tool's holder `pr-N` is closed. Without it such a holder is respected. */
  readonly abandonedHolder?: ((pullRequest: number) => Promise<boolean>) | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** A write that lost against another one reads again and tries again, this often in one attempt of an activity. */
const WRITE_ATTEMPTS = 5;

/** A quota's Lease as it stands in the cluster; `lease` is null where there is none yet and `name` is free for it. */
interface Found {
  readonly name: string;
  readonly lease: V1Lease | null;
}

interface LeaseState {
  readonly holder: string | null;
  readonly memory: LeaseMemory;
  /** The files whose locks belong to the decision. */
  readonly files: readonly LockedFile[];
  /** The quota whose decision holds this quota's Lease as well. */
  readonly carriedBy: string | null;
}

/** What a Lease says that nobody holds. */
const UNLOCKED: Omit<LeaseState, 'memory'> = { holder: null, files: [], carriedBy: null };

/**
 * The Leases of quotas and files in Headroom's own namespace. Every write carries the resourceVersion of what was read, so
 * two writers never overwrite each other.
 */
export class LeaseStore {
  readonly #options: LeaseOptions;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The quota's Lease; one that does not exist yet reads as an unlocked one without memory. */
  async read(target: QuotaTarget): Promise<LeaseRecord> {
    const found = await this.#find(target);
    const { holder, memory, carriedBy } = this.#stateOf(found.lease);
    return { name: found.name, holder, carriedBy, holderIsAbandoned: await this.#isAbandoned(holder), ...memory };
  }

  /**
   * Locks the files and then the quota for a decision, and writes the decision down; then its companions, of which those
   * in other hands are left out. A decision that holds them already keeps them. On `held` and `fileBusy` nothing is locked
   * that was not before.
   */
  async acquire(target: QuotaTarget, decision: Decision, files: readonly LockedFile[]): Promise<LeaseOutcome> {
    const ours = leaseHolder(decision.id);
    const before = this.#stateOf((await this.#find(target)).lease);
    if (await this.#isForeign(before.holder, ours)) return { kind: 'held', by: before.holder ?? '' };

    const taken: LockedFile[] = [];
    const unlockTaken = async (): Promise<void> => {
      for (const file of taken) await this.#unlockFile(ours, file);
    };
    // Always in one order, so that two decisions with two files each cannot wait for each other.
    for (const file of files.toSorted((a, b) => (fileKey(a) < fileKey(b) ? -1 : 1))) {
      const lock = await this.#lockFile(target, ours, file);
      if (lock.kind === 'busy') {
        await unlockTaken();
        return { kind: 'fileBusy', path: file.path, by: lock.by };
      }
      if (lock.kind === 'taken') taken.push(file);
    }

    let heldBy: string | null = null;
    let earlier: readonly LockedFile[] = [];
    await this.#change(target, async (state) => {
      heldBy = (await this.#isForeign(state.holder, ours)) ? state.holder : null;
      if (heldBy !== null) return null;
      earlier = state.holder === ours ? state.files : [];
      return {
        holder: ours,
        files,
        carriedBy: null,
        memory: { ...state.memory, decision: knownProgress(decision, state.memory.decision) },
      };
    });
    if (heldBy !== null) {
      await unlockTaken();
      return { kind: 'held', by: heldBy };
    }
    // The quota moved to another file since this decision first locked one.
    const current = new Set(files.map(fileKey));
    for (const file of earlier) if (!current.has(fileKey(file))) await this.#unlockFile(ours, file);
    return { kind: 'acquired', companions: await this.#acquireCompanions(target, decision) };
  }

  /** Locks the companions' Leases; the decision is written again without those that are in other hands. */
  async #acquireCompanions(target: QuotaTarget, decision: Decision): Promise<readonly string[]> {
    const ours = leaseHolder(decision.id);
    const { companions = [] } = decision;
    const locked: Companion[] = [];
    for (const companion of companions.toSorted((a, b) => (a.quota < b.quota ? -1 : 1))) {
      let isOurs = false;
      await this.#change({ ...target, quota: companion.quota }, async (state) => {
        const isBusy = state.memory.decision !== null && state.holder !== ours;
        isOurs = !isBusy && !(await this.#isForeign(state.holder, ours));
        return isOurs ? { ...state, holder: ours, files: [], carriedBy: target.quota } : null;
      });
      if (isOurs) locked.push(companion);
    }
    if (locked.length < companions.length) {
      const { companions: _, ...alone } = decision;
      await this.update(target, locked.length === 0 ? alone : { ...alone, companions: locked });
    }
    return locked.map(({ quota }) => quota);
  }

  /** Unlocks companions that the decision does not raise after all. */
  async releaseUnraised(target: QuotaTarget, decision: Decision, quotas: readonly string[]): Promise<void> {
    const ours = leaseHolder(decision.id);
    for (const quota of quotas) {
      await this.#changeExisting({ ...target, quota }, (state) =>
        state.holder === ours ? { ...state, ...UNLOCKED } : null,
      );
    }
  }

  /** Unlocks the companions of a decision that is merged or given up; a merge and a refusal are remembered for them too. */
  async #releaseCompanions(target: QuotaTarget, decision: Decision, refusal: Refusal | null): Promise<void> {
    const ours = leaseHolder(decision.id);
    for (const companion of decision.companions ?? []) {
      await this.#changeExisting({ ...target, quota: companion.quota }, (state) => {
        if (state.holder !== ours) return null;
        const { lastModified, refusals } = state.memory;
        const no = refusal === null ? [] : [{ ...refusal, limits: decidedLimits(companion) }];
        return {
          ...UNLOCKED,
          memory: {
            ...state.memory,
            lastModified: decision.merge === null ? lastModified : Math.max(lastModified ?? 0, decision.merge.at),
            refusals: [...refusals, ...no],
          },
        };
      });
    }
  }

  /**
   * Writes the decision into the Lease that it holds. A Lease that was unlocked or deleted under it is taken again.
   *
   * @throws ApplicationFailure `InvalidInput` when somebody else holds the Lease.
   */
  async update(target: QuotaTarget, decision: Decision): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#change(target, async (state, name) => {
      if (await this.#isForeign(state.holder, ours)) {
        throw failure({
          type: 'InvalidInput',
          nonRetryable: true,
          message: `decision ${decision.id} for ${targetName(target)} cannot go on: its Lease ${name} is held by ${state.holder}`,
        });
      }
      return { ...state, holder: ours, memory: { ...state.memory, decision } };
    });
  }

  /**
   * Unlocks the file and the quota where the decision holds them. A merge sets last-modified and stays in the Lease, so
   * that its sync can be awaited by a later run; any other decision is forgotten; a refusal is remembered.
   */
  async release(target: QuotaTarget, decision: Decision, refusal: Refusal | null): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#unlockFiles(target, decision);
    await this.#releaseCompanions(target, decision, refusal);
    await this.#changeExisting(target, (state) => {
      // Garbage collection may have unlocked it in the meantime; the decision in it is still ours to end.
      const unlockedOurs = state.holder === null && state.memory.decision?.id === decision.id;
      if (state.holder !== ours && !unlockedOurs) return null;
      const { lastModified, refusals } = state.memory;
      return {
        ...UNLOCKED,
        memory: {
          ...state.memory,
          lastModified: decision.merge === null ? lastModified : Math.max(lastModified ?? 0, decision.merge.at),
          refusals: refusal === null ? refusals : [...refusals, refusal],
          decision: decision.merge === null ? null : decision,
        },
      };
    });
  }

  /** The cluster followed the merge: the decision is forgotten and last-modified is at least `at`. Without a Lease, nothing. */
  async synced(target: QuotaTarget, decision: Decision, at: EpochMs): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#unlockFiles(target, decision);
    await this.#changeExisting(target, (state) => {
      const { memory } = state;
      const known = memory.decision;
      return {
        ...(state.holder === ours ? { ...state, ...UNLOCKED } : state),
        memory: {
          ...memory,
          lastModified: Math.max(memory.lastModified ?? 0, at),
          decision: known === null || known.id === decision.id ? null : known,
        },
      };
    });
  }

  /** Remembers what was recommended when, in a Lease that need not exist or be ours. */
  async rememberRecommendation(
    target: QuotaTarget,
    recommendation: NonNullable<LeaseMemory['lastRecommendation']>,
  ): Promise<void> {
    await this.#change(target, (state) => {
      const known = state.memory.lastRecommendation;
      if (known !== null && known.at >= recommendation.at) return null;
      return { ...state, memory: { ...state.memory, lastRecommendation: recommendation } };
    });
  }

  async #find(target: QuotaTarget): Promise<Found> {
    let free: string | null = null;
    let legacy: Found | null = null;
    for (const name of leaseNames(target)) {
      const lease = await this.#get(name);
      if (lease === null) {
        free ??= name;
        continue;
      }
      const relation = leaseRelation(lease, target);
      if (relation === 'own') return { name, lease };
      if (relation === 'legacy') legacy ??= { name, lease };
    }
    if (legacy !== null) return legacy;
    if (free !== null) return { name: free, lease: null };
    throw failure({
      type: 'InvalidInput',
      nonRetryable: true,
      message: `no Lease name is left for ${targetName(target)}: ${leaseNames(target).join(' and ')} in ${this.#options.systemNamespace} are Leases of others`,
    });
  }

  async #get(name: string): Promise<V1Lease | null> {
    const { kubernetes, systemNamespace } = this.#options;
    return await orNull(kubernetes.coordination.readNamespacedLease({ name, namespace: systemNamespace }));
  }

  #stateOf(lease: V1Lease | null): LeaseState {
    if (lease === null) {
      const memory = { lastModified: null, lastRecommendation: null, refusals: [], decision: null };
      return { ...UNLOCKED, memory };
    }
    const { memory, problems } = readLeaseMemory(lease);
    for (const problem of problems) this.#options.log.warn({ lease: lease.metadata?.name }, problem);
    return { holder: holderOf(lease), files: filesOfLease(lease), carriedBy: carrierOfLease(lease), memory };
  }

  /** Whether somebody else holds the lock. An earlier tool's `pr-N` does not, once its pull request is closed. */
  async #isForeign(holder: string | null, ours: string): Promise<boolean> {
    return holder !== null && holder !== ours && !(await this.#isAbandoned(holder));
  }

  async #isAbandoned(holder: string | null): Promise<boolean> {
    const { abandonedHolder, log } = this.#options;
    const number = pullRequestNumberOf(holder);
    if (number === null || abandonedHolder === undefined) return false;
    try {
      return await abandonedHolder(number);
    } catch (error) {
      // GitHub may be away; until it says otherwise the lock is respected.
      log.warn({ holder, error: String(error) }, 'cannot tell whether the pull request of a Lease holder is closed');
      return false;
    }
  }

  async #changeExisting(target: QuotaTarget, change: (state: LeaseState) => LeaseState | null): Promise<void> {
    await this.#change(target, (state, _name, exists) => (exists ? change(state) : null));
  }

  /** Reads, lets `change` say how it should be (null: as it is), and writes; again when another write came first. */
  async #change(
    target: QuotaTarget,
    change: (state: LeaseState, name: string, exists: boolean) => LeaseState | null | Promise<LeaseState | null>,
  ): Promise<void> {
    const { kubernetes, systemNamespace: namespace } = this.#options;
    await retryOnConflict(`the Lease of ${targetName(target)}`, async () => {
      const { name, lease } = await this.#find(target);
      const next = await change(this.#stateOf(lease), name, lease !== null);
      if (next === null) return;
      const annotations = withMemory(
        withLocks(lease?.metadata?.annotations ?? {}, next.files, next.carriedBy),
        target,
        next.memory,
      );
      if (lease !== null && holderOf(lease) === next.holder && isSame(annotations, lease.metadata?.annotations)) return;
      if (lease === null) {
        const metadata = { name, namespace, labels: { ...quotaLeaseLabels }, annotations: { ...annotations } };
        const spec = specWith(undefined, next.holder);
        await kubernetes.coordination.createNamespacedLease({ namespace, body: { metadata, spec } });
      } else {
        await replaceLease(this.#options, lease, next.holder, annotations);
      }
    });
  }

  async #lockFile(
    target: QuotaTarget,
    ours: string,
    file: LockedFile,
  ): Promise<{ kind: 'taken' } | { kind: 'kept' } | { kind: 'busy'; by: string }> {
    const { kubernetes, systemNamespace: namespace } = this.#options;
    const name = fileLeaseName(file);
    return await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
      const lease = await this.#get(name);
      const annotations = { ...fileLeaseAnnotations(target, file) };
      if (lease === null) {
        const metadata = { name, namespace, labels: { ...fileLeaseLabels }, annotations };
        await kubernetes.coordination.createNamespacedLease({
          namespace,
          body: { metadata, spec: specWith(undefined, ours) },
        });
        return { kind: 'taken' };
      }
      const lockedFor = targetOfLease(lease);
      const [locked] = filesOfLease(lease);
      if (!isFileLease(lease) || locked === undefined || fileKey(locked) !== fileKey(file)) {
        return { kind: 'busy', by: `the Lease ${namespace}/${name}` };
      }
      const holder = holderOf(lease);
      if (holder === ours) return { kind: 'kept' };
      // A quota has one decision at a time, so an earlier one's lock is left over from a run that was terminated.
      const isOwn = lockedFor?.namespace === target.namespace && lockedFor.quota === target.quota;
      if (holder !== null && !isOwn) {
        return { kind: 'busy', by: lockedFor === null ? holder : `${lockedFor.namespace}/${lockedFor.quota}` };
      }
      await replaceLease(this.#options, lease, ours, { ...lease.metadata?.annotations, ...annotations });
      return { kind: 'taken' };
    });
  }

  /** The files that the Lease names, and the one that the decision knows of: after a crash either may be the only trace. */
  async #unlockFiles(target: QuotaTarget, decision: Decision): Promise<void> {
    const ours = leaseHolder(decision.id);
    const { lease } = await this.#find(target);
    const known = decision.pullRequest === null ? [] : [decision.pullRequest];
    const files = [...(lease === null ? [] : filesOfLease(lease)), ...known];
    const byKey = new Map(files.map((file) => [fileKey(file), file]));
    for (const file of byKey.values()) await this.#unlockFile(ours, file);
  }

  async #unlockFile(ours: string, file: LockedFile): Promise<void> {
    const name = fileLeaseName(file);
    await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
      const lease = await this.#get(name);
      if (lease === null || !isFileLease(lease) || holderOf(lease) !== ours) return;
      await deleteLease(this.#options, lease);
    });
  }
}

/**
 * Deletes exactly the Lease that was read, or throws the API server's 409 when it changed since.
 */
export async function deleteLease(
  { kubernetes, systemNamespace }: Pick<LeaseOptions, 'kubernetes' | 'systemNamespace'>,
  lease: V1Lease,
): Promise<void> {
  const { name = '', uid, resourceVersion } = lease.metadata ?? {};
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  await orNull(
    kubernetes.coordination.deleteNamespacedLease({ name, namespace: systemNamespace, body: { preconditions } }),
  );
}

/** The holder of a Lease; none and an empty one are both unlocked. */
function holderOf(lease: V1Lease): string | null {
  return lease.spec?.holderIdentity || null;
}

/**
 * Writes a Lease that was read with another holder (null: unlocked), and with other annotations where they are given.
 *
 * @throws ApiException 409 when the Lease changed since it was read.
 */
export async function replaceLease(
  { kubernetes, systemNamespace: namespace }: Pick<LeaseOptions, 'kubernetes' | 'systemNamespace'>,
  lease: V1Lease,
  holder: string | null,
  annotations: Readonly<Record<string, string>> = lease.metadata?.annotations ?? {},
): Promise<void> {
  const metadata = Object.assign(new V1ObjectMeta(), lease.metadata, { annotations });
  const body = Object.assign(new V1Lease(), lease, { metadata, spec: specWith(lease.spec, holder) });
  const name = lease.metadata?.name ?? '';
  await kubernetes.coordination.replaceNamespacedLease({ name, namespace, body });
}

/** The spec of a Lease with this holder from now on. */
function specWith(spec: V1Lease['spec'], holder: string | null): NonNullable<V1Lease['spec']> {
  const now = new V1MicroTime(Date.now());
  const { holderIdentity, acquireTime, ...rest } = spec ?? {};
  const kept = acquireTime === undefined ? {} : { acquireTime: new V1MicroTime(acquireTime) };
  if (holder === null) return { ...rest, ...kept, renewTime: now };
  if (holder === holderIdentity) return { ...rest, ...kept, holderIdentity: holder, renewTime: now };
  const leaseTransitions = (rest.leaseTransitions ?? 0) + 1;
  return { ...rest, holderIdentity: holder, acquireTime: now, renewTime: now, leaseTransitions };
}

/** A run that was reset asks again with the decision as it first was: what came of it since is not forgotten. */
function knownProgress(decision: Decision, known: Decision | null): Decision {
  if (known?.id !== decision.id) return decision;
  return {
    ...decision,
    pullRequest: decision.pullRequest ?? known.pullRequest,
    merge: decision.merge ?? known.merge,
  };
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>> | undefined): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b ?? {}).length && keys.every((key) => a[key] === b?.[key]);
}

async function retryOnConflict<T>(what: string, write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (statusCode(error) !== 409) throw error;
      if (attempt < WRITE_ATTEMPTS) continue;
      throw failure({
        type: 'KubernetesUnavailable',
        message: `${what} was changed by others ${WRITE_ATTEMPTS} times in a row while it was being written`,
        cause: error as Error,
      });
    }
  }
}
