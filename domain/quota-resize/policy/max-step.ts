/** The largest raise without an approval, as a factor of the limit: a canonical decimal such as "2" or "1.5". */

/** A larger factor would not limit anything in practice. */
export const MAX_STEP_FACTOR = 1000;

/**
 * Reads a factor such as "2", "1.5" or "2x" as a canonical decimal ("2", "1.5").
 *
 * @throws {RangeError} for any other text, and for a factor below 1 or above 1000.
 */
export function parseMaxStep(text: string): string {
  const match = /^([0-9]{1,9})(?:\.([0-9]{1,9}))?[x×]?$/i.exec(text.trim());
  if (match !== null) {
    const [, whole = '', fraction = ''] = match;
    const canonicalFraction = fraction.replace(/0+$/, '');
    const factor = `${BigInt(whole)}${canonicalFraction === '' ? '' : `.${canonicalFraction}`}`;
    const { numerator, denominator } = factorRatio(factor);
    if (numerator >= denominator && numerator <= BigInt(MAX_STEP_FACTOR) * denominator) {
      return factor;
    }
  }
  throw new RangeError(
    `"${text}" is not a factor from 1 to ${MAX_STEP_FACTOR}: write a number such as "2", "1.5" or "2x"`,
  );
}

/** The exact fraction of a canonical factor. */
export function factorRatio(factor: string): { readonly numerator: bigint; readonly denominator: bigint } {
  const [whole = '0', fraction = ''] = factor.split('.');
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) };
}
