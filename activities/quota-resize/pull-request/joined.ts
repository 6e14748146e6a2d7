/** The commits of decisions that joined the pull request of another one. */
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import {
  type DecisionRef,
  isHeldIn,
  type JoinedDecision,
  type OpenDecision,
} from '../../../domain/quota-resize/model/decision.ts';
import { joinedDecision } from '../../../domain/quota-resize/decide/joined.ts';
import type { Placement } from '../../../domain/quota-resize/model/placement.ts';
import { BUILT_IN_GUARDRAIL } from '../../../domain/quota-resize/policy/guardrail.ts';
import type { Repositories } from '../../forge/repositories.ts';
import type { PullRequestOutcome, QuotaCandidates } from '../interface.ts';
import type { LockOwner } from '../lease/file-lock.ts';
import { type DecisionEdit, editDecision } from '../source/edit.ts';
import type { GitTrees } from '../source/git-tree.ts';
import type { ProposalTask } from './description.ts';
import type { ForgeActivityDependencies } from './own-work.ts';
import type { JoinedCommit, SharedEdit } from './shared-edit.ts';

type Reading = Pick<ForgeActivityDependencies, 'decisions'> & { readonly target: QuotaTarget };

/** What a decision that joined changes on the commits before; null where it cannot be written there as it was decided. */
export async function joinedCommit(
  repositories: Repositories,
  { target, decision }: LockOwner,
  {
    edit,
    before,
    trees,
  }: { readonly edit: DecisionEdit; readonly before: readonly JoinedCommit[]; readonly trees: GitTrees },
): Promise<JoinedCommit | null> {
  const own = await editDecision(
    repositories,
    // Its own guardrail is asked when it is opened, and by the gate of the merge.
    { target, decision, policy: { guardrail: BUILT_IN_GUARDRAIL }, candidatesByQuota: placedBy(target, decision) },
    { at: edit.tree.base, trees },
  );
  if (own.kind === 'blocked') return null;
  const written = new Map(
    [edit, ...before].flatMap(({ files }) => files.map(({ path, text }) => [path, text] as const)),
  );
  const files = own.files.filter(({ path, text }) => written.get(path) !== text);
  return files.length === 0 ? null : { target, decision, files, quotas: own.quotas };
}

/**
 * The edit with the commits of those that joined. Their files are locked for them; who cannot be written, or does not wait
 * for the files any more, is left out.
 *
 * @param isOpen whether a decision has an open pull request.
 */
export async function withJoined(
  task: ProposalTask,
  { edit, trees }: { readonly edit: DecisionEdit; readonly trees: GitTrees },
  isOpen: (owner: LockOwner) => Promise<boolean>,
): Promise<{ readonly edit: SharedEdit; readonly joined: readonly JoinedDecision[] }> {
  const commits: JoinedCommit[] = [];
  const all: JoinedDecision[] = [];
  for (const joined of task.decision.joined ?? []) {
    const joining = isHeldIn(joined) ? await decisionOf(task, joined) : null;
    const added = joining === null ? null : await task.fileLocks.join(task, joining, isOpen);
    if (joining === null || added === null) {
      all.push({ ...joined, leftOut: true });
      continue;
    }
    const commit = await joinedCommit(task.repositories, joining, { edit, before: commits, trees });
    if (commit === null) await task.fileLocks.part(task, joining, added);
    else commits.push(commit);
    // It may have grown since it was asked to join.
    const now = joinedDecision(joining.target, joining.decision);
    all.push(commit === null ? { ...now, leftOut: true } : now);
  }
  return { edit: { ...edit, joined: commits }, joined: all };
}

/**
 * What a decision that joined another's pull request records of it, once it is there.
 *
 * @param path the file with its own values.
 */
export async function joinedOutcome(task: ProposalTask, owner: DecisionRef, path: string): Promise<PullRequestOutcome> {
  const { forge, decision, fileLocks } = task;
  const other = (await decisionOf(task, owner))?.decision ?? null;
  const name = targetName(owner);
  const recorded = other?.pullRequest ?? null;
  const waits = (where: string): PullRequestOutcome => ({
    kind: 'blocked',
    reason: 'FileBusy',
    message: `${path} is being changed for ${name}, and this quota joins ${where}`,
  });
  if (other === null || recorded === null) {
    // Nobody writes it there any more: it asks for the file itself, the next time.
    await fileLocks.unlock(task);
    return {
      kind: 'blocked',
      reason: 'FileBusy',
      message: `the pull request of ${name} that changed ${path} has ended`,
    };
  }
  const where = `the pull request of ${name} ([#${recorded.number}](${recorded.url}))`;
  const joined = (other.joined ?? []).find((one) => one.decision === decision.id);
  if (joined !== undefined && !isHeldIn(joined)) {
    await fileLocks.unlock(task);
    return {
      kind: 'blocked',
      reason: 'FileBusy',
      message: `${path} is being changed by ${where}, which goes on without this quota`,
    };
  }
  if (joined === undefined || recorded.headSha === '') return waits(where);
  const pull = await forge.pullRequests.get(recorded.number);
  if (pull.state !== 'open' || pull.headSha !== recorded.headSha) return waits(where);
  return { kind: 'open', pullRequest: { ...recorded, path, joinedTo: owner } };
}

async function decisionOf(
  { target: { cluster }, decisions }: Reading,
  { namespace, quota, decision: id }: DecisionRef,
): Promise<LockOwner | null> {
  const target = { cluster, namespace, quota };
  const { decision } = await decisions.read(target);
  return decision?.id === id ? { target, decision } : null;
}

/** The quotas of a decision with the candidates that led to their places, each at its rank. */
export function placedBy(
  target: QuotaTarget,
  { source, batchedQuotas = [] }: Pick<OpenDecision, 'source' | 'batchedQuotas'>,
): readonly QuotaCandidates[] {
  const placements: readonly (readonly [string, Placement | undefined])[] = [
    [target.quota, source?.placement],
    ...batchedQuotas.map(({ quota, placement }) => [quota, placement] as const),
  ];
  return placements.flatMap(([quota, placement]) =>
    placement === undefined
      ? []
      : [{ quota, candidates: Array.from({ length: placement.tried + 1 }, () => placement.candidate) }],
  );
}
