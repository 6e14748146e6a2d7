import type { ReadInput } from '../../kernel/command-input.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { type Approval, approvedPlaces, approvedValues, type OperatorWord } from '../model/decision.ts';
import { approverName } from './sentences.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import { isUnmerged, NO_ATTEMPT, type ResizeMemory, type ResizeState, withApproval } from '../model/memory.ts';

/** Commands that an operator may send to an episode besides `pause` and `resume`, as a signal or as an update. */
export type EpisodeCommand = 'approve' | 'reject' | 'reconcileNow' | 'skipCooldown';

/** What a command did, or why it was rejected, as a sentence. */
export type CommandOutcome =
  | { readonly kind: 'done'; readonly memory: ResizeMemory; readonly message: string }
  | { readonly kind: 'rejected'; readonly message: string };

/**
 * Applies an operator's command to the memory. Pure; a rejected command changes nothing.
 *
 * @param verifiedFor the guardrail that takes only words of people whose names are verified; null: none does.
 */
export function command(
  memory: ResizeMemory,
  name: EpisodeCommand,
  input: ReadInput,
  now: EpochMs,
  verifiedFor: string | null = null,
): CommandOutcome {
  const word: OperatorWord = { by: input.by, reason: input.reason, at: now };
  switch (name) {
    case 'approve':
      return approve(memory, word, input.head);
    case 'reject':
      return reject(memory, word);
    case 'reconcileNow':
      return done(
        { ...memory, attempt: NO_ATTEMPT, state: checkedAnew(memory.state) },
        `checking again now, as asked by ${input.by}`,
      );
    case 'skipCooldown':
      return skipCooldown(memory, word, verifiedFor);
  }
}

/** Where only verified names count, it brings forward what is proposed, and nothing that is merged without a person. */
function skipCooldown(memory: ResizeMemory, { by, at }: OperatorWord, verifiedFor: string | null): CommandOutcome {
  const skipped = { ...memory, cooldownSkippedAt: at };
  if (verifiedFor === null) {
    const acts = 'Headroom acts on a demand now, also on one that was rejected before';
    return done(skipped, `cooldown skipped by ${by}: ${acts}`);
  }
  const { state } = memory;
  if (isUnmerged(state)) {
    const { id, pullRequest } = state.decision;
    const what = pullRequest === null ? `decision ${id}` : `pull request #${pullRequest.number}`;
    return rejected(
      `${what} is not merged any sooner: ${unverified(verifiedFor)}. A person may merge it during the cooldown`,
    );
  }
  const proposes = 'Headroom proposes what is needed now, also what was rejected before';
  const merges = `${unverified(verifiedFor)}, so what needs no approval is merged after the cooldown, or by a person`;
  return done(skipped, `cooldown skipped by ${by}: ${proposes}. But ${merges}`);
}

function unverified(guardrail: string): string {
  return `nobody has verified the name of who sent it, and guardrail ${guardrail} takes only verified ones`;
}

function approve(memory: ResizeMemory, word: OperatorWord, head = ''): CommandOutcome {
  const { state } = memory;
  if (!isUnmerged(state) || (state.kind === 'Locked' && !isBeforePullRequest(state.decision.approvalRequirement))) {
    return rejected('there is no open pull request to approve');
  }
  const { decision, rejection } = state;
  if (rejection !== null) return alreadyRejected(rejection);
  const { pullRequest } = decision;
  if (decision.approvalRequirement === null) {
    const within = `pull request #${pullRequest?.number} needs no approval: its steps are within the policy`;
    return rejected(`${within}. Where something else holds it, a person may merge it`);
  }
  const headSha = pullRequest?.headSha ?? '';
  if (head !== '' && (head.length < 7 || !headSha.startsWith(head.toLowerCase()))) {
    const now = headSha === '' ? 'there is no pull request yet' : `its head is ${headSha.slice(0, 12)}`;
    return rejected(`${now}, not "${head}". Check the pull request again before you approve it`);
  }
  const approval: Approval = {
    ...word,
    limits: approvedValues(decision),
    headSha,
    places: approvedPlaces(decision),
  };
  const what =
    pullRequest === null
      ? `decision ${decision.id}, its pull request is opened`
      : `pull request #${pullRequest.number} at ${headSha.slice(0, 12)}`;
  return done(
    { ...memory, state: withApproval(state, approval) },
    `approved by ${approverName(approval)}: ${what}, for these values only`,
  );
}

function reject(memory: ResizeMemory, word: OperatorWord): CommandOutcome {
  const { state } = memory;
  if (!isUnmerged(state)) return rejected('there is no open pull request to reject');
  if (state.rejection !== null) return alreadyRejected(state.rejection);
  const consequence =
    state.kind === 'Locked'
      ? `decision ${state.decision.id} gets no pull request`
      : state.decision.pullRequest.joinedTo === undefined
        ? `pull request #${state.decision.pullRequest.number} is closed`
        : `pull request #${state.decision.pullRequest.number}, which raises other quotas too, goes on without it`;
  return done(
    { ...memory, state: { ...state, rejection: word, approval: null } },
    `rejected by ${word.by}: ${consequence}`,
  );
}

function alreadyRejected({ by }: OperatorWord): CommandOutcome {
  return rejected(`already rejected by ${by}, the pull request is closed`);
}

/** If the sync is overdue, Git is read again at once. */
function checkedAnew(state: ResizeState): ResizeState {
  if (state.kind !== 'Merged' || state.overdue === null) return state;
  return { ...state, overdue: { ...state.overdue, checkedAt: null } };
}

function done(memory: ResizeMemory, message: string): CommandOutcome {
  return { kind: 'done', memory, message };
}

function rejected(message: string): CommandOutcome {
  return { kind: 'rejected', message };
}
