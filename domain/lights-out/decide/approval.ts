/** What becomes of an approval when its workloads are kept, or are others than were seen. */
import type { Approving } from '../workload/approved.ts';
import { type LightsOutMemory, withPendingEvents } from './memory.ts';
import { approvedSentence, outdatedApprovalSentence } from './sentences.ts';
import type { ScopeDigest } from './scope-digest.ts';

export function afterApproval(
  memory: LightsOutMemory,
  { by, at }: Approving,
  { kind, digest, workloads }: ScopeDigest & { readonly kind: 'approved' | 'outdated' },
): LightsOutMemory {
  // Somebody may have approved again meanwhile.
  const approving = memory.approving?.at === at ? null : (memory.approving ?? null);
  if (kind === 'approved') {
    const message = approvedSentence(by, { digest, workloads });
    return withPendingEvents({ ...memory, approving, approved: { by, at, digest, workloads } }, [
      { type: 'Normal', reason: 'Approved', message, key: `Approved ${at}` },
    ]);
  }
  const message = outdatedApprovalSentence(by);
  return withPendingEvents({ ...memory, approving }, [
    { type: 'Warning', reason: 'ApprovalOutdated', message, key: `ApprovalOutdated ${at}` },
  ]);
}
