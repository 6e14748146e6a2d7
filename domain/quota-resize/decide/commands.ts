import type { ReadInput } from '../../kernel/command-input.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { approvedValues } from '../model/decision.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import type { ResizeMemory } from '../model/memory.ts';

/** What an operator may send to an episode besides `pause` and `resume`, as a signal or as an update. */
export type EpisodeCommand = 'approve' | 'reject' | 'reconcileNow' | 'skipCooldown';

/** What a command did, in a sentence; or why it did nothing. */
export type CommandOutcome =
  | { readonly kind: 'done'; readonly memory: ResizeMemory; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

/** Applies an operator's command to the memory. Pure; a refused command changes nothing. */
export function command(memory: ResizeMemory, name: EpisodeCommand, input: ReadInput, now: EpochMs): CommandOutcome {
  const said = { by: input.by, reason: input.reason, at: now };
  switch (name) {
    case 'approve': {
      const { decision } = memory;
      if (decision === null || decision.merge !== null) return refused('there is no open pull request to approve');
      if (decision.pullRequest === null && !isBeforePullRequest(decision.gate)) {
        return refused('there is no open pull request to approve');
      }
      if (memory.rejection !== null)
        return refused(`already rejected by ${memory.rejection.by}, the pull request is closed`);
      const { pullRequest } = decision;
      if (decision.gate === null) {
        return refused(`pull request #${pullRequest?.number} needs no approval: its steps are within the policy`);
      }
      const headSha = pullRequest?.headSha ?? '';
      const { head = '' } = input;
      if (head !== '' && (head.length < 7 || !headSha.startsWith(head.toLowerCase()))) {
        const now = headSha === '' ? 'there is no pull request yet' : `its head is ${headSha.slice(0, 12)}`;
        return refused(`${now}, and not "${head}", which was looked at: look again`);
      }
      const approval = { ...said, limits: approvedValues(decision), headSha };
      const what =
        pullRequest === null
          ? `decision ${decision.id}, its pull request is opened`
          : `pull request #${pullRequest.number} at ${approval.headSha.slice(0, 12)}`;
      return done(
        { ...memory, approval, decision: { ...decision, approvedBy: input.by } },
        `approved by ${input.by}: ${what}, for these values only`,
      );
    }
    case 'reject': {
      const { decision } = memory;
      if (decision === null || decision.merge !== null) return refused('there is no open pull request to reject');
      if (memory.rejection !== null)
        return refused(`already rejected by ${memory.rejection.by}, the pull request is closed`);
      const { pullRequest } = decision;
      const consequence =
        pullRequest === null
          ? `decision ${decision.id} gets no pull request`
          : `pull request #${pullRequest.number} is closed`;
      return done({ ...memory, rejection: said, approval: null }, `rejected by ${input.by}: ${consequence}`);
    }
    case 'reconcileNow':
      return done(
        { ...memory, blocked: null, tried: null, syncCheckedAt: null },
        `looking again now, asked by ${input.by}`,
      );
    case 'skipCooldown':
      return done(
        { ...memory, cooldownSkippedAt: now },
        `cooldown skipped by ${input.by}: a need is acted on now, also one that was refused before`,
      );
  }
}

function done(memory: ResizeMemory, message: string): CommandOutcome {
  return { kind: 'done', memory, message };
}

function refused(message: string): CommandOutcome {
  return { kind: 'refused', message };
}
