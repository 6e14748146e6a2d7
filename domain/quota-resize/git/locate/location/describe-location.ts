/** Describes the location of a resolved quota, or why it has none. */
import type { IdentifiedNamespace } from '../search/identify.ts';
import type { Candidate, QuotaLocation } from './location.ts';
import type { ResolvedQuota } from '../resolve/resolved.ts';

/** A quota with the namespace it belongs to, if that is known. */
export interface IdentifiedQuota {
  readonly quota: ResolvedQuota;
  readonly identity: IdentifiedNamespace | undefined;
}

export function candidateOf({ quota, identity }: IdentifiedQuota): Candidate {
  const name = quota.name === '' ? null : quota.name;
  return { path: quota.path, line: quota.line, namespace: identity?.namespace ?? null, name };
}

/** @param from the path from which each candidate is applied. */
export function twiceMessage(candidates: readonly Candidate[], from: readonly string[]): string {
  const [first] = candidates;
  const locations = candidates.map(({ path, line }, index) => {
    const root = from[index] ?? path;
    return root === path ? `${path}:${line}` : `${path}:${line} (through ${root})`;
  });
  return `ResourceQuota ${first?.namespace ?? '?'}/${first?.name ?? '?'} is in ${candidates.length} places: ${locations.join(', ')}; keep one, or name its file or folder with the annotation resizer.io/git-path on the namespace`;
}

/** Why the values of a quota cannot be located with certainty; undefined where they can. */
export function obstacleOf(quota: ResolvedQuota): string | undefined {
  const [note] = quota.obstacles;
  if (note !== undefined) {
    return `what ${labelOf(quota)} says is not certain: ${note.path} ${note.message}`;
  }
  const rival = quota.rivals?.[0];
  if (rival !== undefined) {
    const own = quota.values.get(rival.key)?.value;
    const where = own === undefined ? quota.path : `${own.path}:${own.line} (${own.text})`;
    return `the value of ${rival.key} of ${labelOf(quota)} may be that of ${where} or of ${rival.path}:${rival.line} (${rival.text}), which nothing names as values of its chart`;
  }
  const edits = [...quota.values.values()].map(({ edit }) => edit);
  const [first] = edits;
  if (first?.kind === 'none' && edits.every(({ kind }) => kind === 'none')) {
    return first.message;
  }
  return quota.values.size === 0 && quota.unreadable.length === 0
    ? `${labelOf(quota)} sets no limit: write spec.hard`
    : undefined;
}

export function labelOf({ name }: Pick<ResolvedQuota, 'name'>): string {
  return name === '' ? 'the ResourceQuota' : `ResourceQuota ${name}`;
}

export function locationOf(quota: ResolvedQuota, identity: IdentifiedNamespace, where?: string): QuotaLocation {
  return {
    namespace: identity.namespace,
    name: quota.name,
    path: quota.path,
    line: quota.line,
    layout: quota.layout,
    values: Object.fromEntries([...quota.values].map(([key, { value }]) => [key, value])),
    edits: Object.fromEntries([...quota.values].map(([key, { edit }]) => [key, edit])),
    how: howLocated(quota, identity, where),
  };
}

function howLocated(quota: ResolvedQuota, identity: IdentifiedNamespace, where: string | undefined): string {
  const by = where === undefined ? '' : ` by ${where}`;
  const root = quota.paths[0];
  const through =
    root === undefined || root === quota.path
      ? ''
      : quota.layout === 'helm'
        ? ` with the values of \`${root}\``
        : ` through \`${root}\``;
  const namespace =
    identity.by !== ''
      ? `. Its namespace is ${identity.by}`
      : quota.namespaceBy === undefined
        ? ''
        : `. Its namespace is set by ${quota.namespaceBy}`;
  return `found in \`${quota.path}:${quota.line}\`${through}${by}${namespace}`;
}
