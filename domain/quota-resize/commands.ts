import { type EpochMs, formatInstant } from '../kernel/time.ts';
import { decidedLimits } from './decision.ts';
import type { ResizeMemory } from './memory.ts';

/** What an operator may send to an episode, as a signal or as an update. */
export type OperatorCommand = 'pause' | 'resume' | 'approve' | 'reject' | 'reconcileNow' | 'skipCooldown';

/** What comes with a command. Every field may be missing: people type it into a form. */
export interface CommandInput {
  /** Who sends it; "unknown" when it is not said. */
  readonly by?: string;
  readonly reason?: string;
}

/** Longer than any name or reason; details and comments hold a few of them. */
const MAX_TEXT = 500;

/** What a command did, in a sentence; or why it did nothing. */
export type CommandOutcome =
  | { readonly kind: 'done'; readonly memory: ResizeMemory; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Reads what came with a command. Anything that is not an object with texts is taken as nothing said, because a signal that
 * people type must never fail a workflow.
 */
export function readCommandInput(raw: unknown): Required<CommandInput> {
  const fields = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  const text = (value: unknown) => (typeof value === 'string' ? oneLine(value) : '');
  const by = typeof raw === 'string' ? oneLine(raw) : text(fields['by']);
  return { by: by === '' ? 'unknown' : by, reason: text(fields['reason']) };
}

/** What people type becomes part of a sentence in the details: one line, and not a novel. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}

/** Applies an operator's command to the memory. Pure; a refused command changes nothing. */
export function command(
  memory: ResizeMemory,
  name: OperatorCommand,
  input: Required<CommandInput>,
  now: EpochMs,
): CommandOutcome {
  const said = { by: input.by, reason: input.reason, at: now };
  switch (name) {
    case 'pause':
      if (memory.paused !== null)
        return refused(`already paused by ${memory.paused.by} since ${formatInstant(memory.paused.at)}`);
      return done({ ...memory, paused: said }, `paused by ${input.by}: nothing is written until resume`);
    case 'resume':
      if (memory.paused === null) return refused('not paused, so there is nothing to resume');
      return done({ ...memory, paused: null }, `resumed by ${input.by}`);
    case 'approve': {
      const { decision } = memory;
      if (!decision?.pullRequest || decision.merge !== null) return refused('there is no open pull request to approve');
      if (memory.rejection !== null)
        return refused(`already rejected by ${memory.rejection.by}, the pull request is closed`);
      if (decision.gate === null) {
        return refused(
          `pull request #${decision.pullRequest.number} needs no approval: its steps are within the policy`,
        );
      }
      const approval = { ...said, limits: decidedLimits(decision), headSha: decision.pullRequest.headSha };
      const at = approval.headSha.slice(0, 12);
      return done(
        { ...memory, approval },
        `approved by ${input.by}: pull request #${decision.pullRequest.number} at ${at}, for these values only`,
      );
    }
    case 'reject': {
      const { decision } = memory;
      if (!decision?.pullRequest || decision.merge !== null) return refused('there is no open pull request to reject');
      if (memory.rejection !== null)
        return refused(`already rejected by ${memory.rejection.by}, the pull request is closed`);
      return done(
        { ...memory, rejection: said, approval: null },
        `rejected by ${input.by}: pull request #${decision.pullRequest.number} is closed`,
      );
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
