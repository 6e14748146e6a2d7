/**
 * Whether git takes this full ref name, `refs/heads/x`: the rules of `git check-ref-format`.
 */
export function isRefName(ref: string): boolean {
  if (!/^refs\/[^/]+\/./.test(ref)) return false;
  // oxlint-disable-next-line no-control-regex -- control characters are what the rule forbids
  if (/[\0-\x20\x7f~^:?*[\\]/.test(ref)) return false;
  if (ref.includes('..') || ref.includes('@{') || ref.includes('//')) return false;
  if (ref.endsWith('/') || ref.endsWith('.')) return false;
  return ref.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}
