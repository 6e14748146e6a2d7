const DIGITS = /^[0-9]+$/;

/**
 * Whether a cache at version `a` has seen what happened at `b`. Kubernetes 1.35 guarantees that the resourceVersions of one
 * resource are decimal numbers that grow; of an API server that has others nothing can be said, so nothing is waited for.
 */
export function isAtLeast(a: string, b: string): boolean {
  if (!DIGITS.test(a) || !DIGITS.test(b)) return true;
  return a.length === b.length ? a >= b : a.length > b.length;
}
