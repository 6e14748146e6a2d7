import { scopeDigest } from '../../domain/lights-out/decide/scope-digest.ts';
import { workloadsInScope } from '../../domain/lights-out/decide/survey.ts';
import { approvedWith } from '../../domain/lights-out/workload/approved.ts';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';
import { evaluationContext } from './evaluation-context.ts';
import type { ApprovalInput, ApprovalOutcome } from './interface.ts';
import { listView } from './observe-schedule.ts';
import { listCalendars, readScheduleObject } from './read-cluster.ts';
import { scheduleWith } from './read-schedule-object.ts';
import { memoryOf, type ScaleOptions } from './scale.ts';

/**
 * Keeps what the schedule is about now as approved. The names are kept and not the UIDs: a workload that is deployed anew
 * under its name is still approved.
 */
export async function ensureApproved(options: ScaleOptions, input: ApprovalInput): Promise<ApprovalOutcome> {
  const { kubernetes, systemNamespace, now, protectedNamespaces, gitopsManagers } = options;
  const { observeInput, scheduleUid, at, digest } = input;
  const { schedule } = observeInput.target;
  const memory = memoryOf(options, schedule, scheduleUid);
  const [object, { others, namespaces, workloads }, kept] = await Promise.all([
    readScheduleObject(kubernetes, schedule),
    listView(kubernetes, options.ownerKinds, schedule),
    memory.all(),
  ]);
  const own = await scheduleWith(object, now(), async () => await listCalendars(kubernetes, systemNamespace));
  if (own === null || own.seen.uid !== scheduleUid || own.seen.spec === null) {
    return { kind: 'outdated', digest: '', workloads: 0 };
  }
  const context = evaluationContext(observeInput, own, others, {
    now: now(),
    protectedNamespaces,
    gitopsManagers,
    kept,
  });
  const inScope = workloadsInScope(context, namespaces, workloads);
  const scope = scopeDigest(inScope);
  if (digest !== null && digest !== scope.digest) return { kind: 'outdated', ...scope };
  const existing = new Set(workloads.map(workloadName));
  await memory.approve(approvedWith(kept.approved, { inScope, existing, at }));
  return { kind: 'approved', ...scope };
}
