const DIGITS = /^[0-9]+$/;

/**
 * Whether a cache at version `a` has seen what happened at `b`. Kubernetes 1.35 guarantees that the resourceVersions of
 * one resource are increasing decimal numbers. Other versions cannot be compared, so nothing waits for them.
 */
export function isAtLeast(a: string, b: string): boolean {
  if (!DIGITS.test(a) || !DIGITS.test(b)) return true;
  return a.length === b.length ? a >= b : a.length > b.length;
}

/** As `isAtLeast`, where something is to be proved: versions that cannot be compared prove nothing. */
export function isProvenAtLeast(a: string, b: string): boolean {
  return DIGITS.test(a) && DIGITS.test(b) && isAtLeast(a, b);
}
