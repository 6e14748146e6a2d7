/** KEDA's annotation `paused`, by which a ScaledJob is suspended. */
import { KEDA_PAUSED, ORIGINAL_PAUSED } from '../schedule/names.ts';

/** KEDA reads it with Go's `strconv.ParseBool`, and takes what that cannot read for true. */
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE']);

type Annotations = Readonly<Record<string, string>>;

export function isPaused({ [KEDA_PAUSED]: text }: Annotations): boolean {
  return text !== undefined && !FALSE.has(text);
}

/** The annotations of a merge patch that pauses a ScaledJob, with a mark of what was written before, or undoes that. */
export function pausing(annotations: Annotations, isToPause: boolean): Readonly<Record<string, string | null>> {
  const { [KEDA_PAUSED]: written, [ORIGINAL_PAUSED]: original } = annotations;
  // Whatever somebody has made of the mark, it is woken.
  if (!isToPause) return { [KEDA_PAUSED]: original !== undefined && FALSE.has(original) ? original : null };
  const isMarked = written !== undefined || original !== undefined;
  return { [KEDA_PAUSED]: 'true', ...(isMarked ? { [ORIGINAL_PAUSED]: written ?? null } : {}) };
}
