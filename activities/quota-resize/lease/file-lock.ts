/** The Lease of a file that an open pull request changes: only one decision at a time may change it. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import {
  fileKey,
  fileLeaseAnnotations,
  fileLeaseLabels,
  fileLeaseName,
  filesOfLease,
  isFileLease,
  type LockedFile,
  targetOfLease,
} from '../../../domain/quota-resize/model/lease.ts';
import {
  createLease,
  deleteLease,
  holderOf,
  type LeaseNamespace,
  readLease,
  replaceLease,
} from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';

/** `kept`: the holder already had it; `busy`: another decision has it. */
type LockOutcome =
  | { readonly kind: 'acquired' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'busy'; readonly by: string };

/** Locks a file for the decision of a quota; `holder` is the decision's name in Leases. */
async function lockFile(
  leases: LeaseNamespace,
  target: QuotaTarget,
  holder: string,
  file: LockedFile,
): Promise<LockOutcome> {
  const name = fileLeaseName(file);
  return await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
    const lease = await readLease(leases, name);
    const annotations = fileLeaseAnnotations(target, file);
    if (lease === null) {
      await createLease(leases, { name, labels: fileLeaseLabels, annotations }, holder);
      return { kind: 'acquired' };
    }
    const lockedFor = targetOfLease(lease);
    const [locked] = filesOfLease(lease);
    if (!isFileLease(lease) || locked === undefined || fileKey(locked) !== fileKey(file)) {
      return { kind: 'busy', by: `the Lease ${leases.systemNamespace}/${name}` };
    }
    const before = holderOf(lease);
    if (before === holder) return { kind: 'kept' };
    // A quota has one decision at a time, so an earlier lock of its own is left over from a terminated run.
    const isOwn = lockedFor?.namespace === target.namespace && lockedFor.quota === target.quota;
    if (before !== null && !isOwn) {
      return { kind: 'busy', by: lockedFor === null ? before : `${lockedFor.namespace}/${lockedFor.quota}` };
    }
    await replaceLease(leases, lease, holder, { ...lease.metadata?.annotations, ...annotations });
    return { kind: 'acquired' };
  });
}

/**
 * Locks all files or none: when one is busy, those that were locked here are released, and those that the holder had
 * before stay locked.
 */
export async function lockFiles(
  leases: LeaseNamespace,
  target: QuotaTarget,
  holder: string,
  files: readonly LockedFile[],
): Promise<
  | { readonly kind: 'locked'; readonly acquired: readonly LockedFile[] }
  | { readonly kind: 'fileBusy'; readonly path: string; readonly by: string }
> {
  const acquired: LockedFile[] = [];
  // Always in the same order, so that two decisions with two files each cannot wait for each other.
  for (const file of files.toSorted((a, b) => (fileKey(a) < fileKey(b) ? -1 : 1))) {
    const lock = await lockFile(leases, target, holder, file);
    if (lock.kind === 'busy') {
      await unlockFiles(leases, holder, acquired);
      return { kind: 'fileBusy', path: file.path, by: lock.by };
    }
    if (lock.kind === 'acquired') acquired.push(file);
  }
  return { kind: 'locked', acquired };
}

/** Unlocks the files that the holder has locked; others are left alone. */
export async function unlockFiles(leases: LeaseNamespace, holder: string, files: readonly LockedFile[]): Promise<void> {
  for (const file of files) {
    const name = fileLeaseName(file);
    await retryOnConflict(`the Lease ${name} of ${file.path}`, async () => {
      const lease = await readLease(leases, name);
      if (lease === null || !isFileLease(lease) || holderOf(lease) !== holder) return;
      await deleteLease(leases, lease);
    });
  }
}
