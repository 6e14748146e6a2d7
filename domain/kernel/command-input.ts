/** What comes with an operator's command, whichever workflow it is sent to. */
import { oneLine } from './sentence.ts';

/** Every field may be missing: people type it into a form. */
export interface CommandInput {
  /** Who sends it; "unknown" when it is not said. */
  readonly by?: string;
  readonly reason?: string;
  /** Of `approve`: the head that was looked at, from its first seven digits on; another one by then is not approved. */
  readonly head?: string;
}

/** A command's input as it was read. */
export type ReadInput = Required<Omit<CommandInput, 'head'>> & Pick<CommandInput, 'head'>;

/** Longer than any name or reason; details and comments hold a few of them. */
const MAX_TEXT = 500;

/**
 * Reads what came with a command. Anything that is not an object with texts is taken as nothing said, because a signal that
 * people type must never fail a workflow.
 */
export function readCommandInput(raw: unknown): ReadInput {
  const fields = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  const text = (value: unknown) => (typeof value === 'string' ? shortLine(value) : '');
  const by = typeof raw === 'string' ? shortLine(raw) : text(fields['by']);
  const head = text(fields['head']);
  const read = { by: by === '' ? 'unknown' : by, reason: text(fields['reason']) };
  return head === '' ? read : { ...read, head };
}

/** What people type becomes part of a sentence in the details: one line, and not a novel. */
function shortLine(text: string): string {
  return oneLine(text).slice(0, MAX_TEXT);
}
