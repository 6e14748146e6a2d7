/** The input of an operator command, for every workflow. */
import { oneLine } from './sentence.ts';

/** Every field may be missing, because people fill in a form. */
export interface CommandInput {
  /** The sender; default "unknown". */
  readonly by?: string;
  readonly reason?: string;
  /** For `approve`: the head that the person saw, at least its first seven digits; a different head is not approved. */
  readonly head?: string;
}

/** A command's input as it was read. */
export type ReadInput = Required<Omit<CommandInput, 'head'>> & Pick<CommandInput, 'head'>;

/** Longer than any real name or reason; details and comments contain a few of them. */
const MAX_TEXT = 500;

/**
 * Reads a command's input. Anything that is not an object with texts counts as empty, because a signal typed by a
 * person must never fail a workflow.
 */
export function readCommandInput(raw: unknown): ReadInput {
  const fields = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  const text = (value: unknown) => (typeof value === 'string' ? shortLine(value) : '');
  const by = typeof raw === 'string' ? shortLine(raw) : text(fields['by']);
  const head = text(fields['head']);
  const read = { by: by === '' ? 'unknown' : by, reason: text(fields['reason']) };
  return head === '' ? read : { ...read, head };
}

/** A name that its owner typed, as people read it: nobody has verified it. */
export function claimedName(by: string): string {
  return `"${by}" (a claimed name)`;
}

/** Typed text becomes part of a sentence in the details, so it is limited to one line of moderate length. */
function shortLine(text: string): string {
  return oneLine(text).slice(0, MAX_TEXT);
}
