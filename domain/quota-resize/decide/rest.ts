/** How long a quota rests after a decision has ended: one rule for what is proposed, and for what is merged. */
import type { EpochMs } from '../../kernel/time.ts';

/**
 * When the cooldown after the last of these moments ends; null where it is over, or where an operator skipped it since.
 *
 * @param cooldown in milliseconds.
 */
export function restUntil(
  cooldown: number,
  ends: readonly (EpochMs | null | undefined)[],
  { skippedAt, now }: { readonly skippedAt: EpochMs | null; readonly now: EpochMs },
): EpochMs | null {
  const last = ends.reduce<EpochMs | null>((a, b) => (b == null ? a : Math.max(a ?? b, b)), null);
  if (last === null || (skippedAt !== null && skippedAt >= last)) return null;
  const until = last + cooldown;
  return now < until ? until : null;
}
