/** The branch of a revision; without a revision it is the default branch. */
export function branchOf(
  revision: string | undefined,
): { readonly kind: 'branch'; readonly name?: string } | { readonly kind: 'none'; readonly what: string } {
  if (revision === undefined || revision === '' || revision === 'HEAD') return { kind: 'branch' };
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(revision)) return { kind: 'none', what: `the commit ${revision}` };
  if (revision.startsWith('refs/heads/')) return { kind: 'branch', name: revision.slice('refs/heads/'.length) };
  if (revision.startsWith('refs/')) return { kind: 'none', what: `the tag ${revision.replace('refs/tags/', '')}` };
  // A range of versions, such as `1.*` or `>=1.2`: git forbids these characters in names.
  if (/[*^~<>=\s]/.test(revision)) return { kind: 'none', what: `the versions ${revision}` };
  return { kind: 'branch', name: revision };
}
