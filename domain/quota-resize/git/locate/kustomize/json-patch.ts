/** Applies JSON patches (RFC 6902) to quotas. */
import { isMap } from 'yaml';
import { type Leaf, leavesOf, type ManifestDocument, nodeAt, type Pointer, textAt } from '../../yaml/documents.ts';
import { type PatchDocument, valueLocationOf, uncertain } from './patch-document.ts';
import type { RenderedQuota } from '../resolve/rendered-quota.ts';

export function jsonPatched(
  patch: PatchDocument,
  quota: RenderedQuota,
  operations: number,
  selected: true | 'perhaps',
): RenderedQuota {
  let result = quota;
  for (let at = 0; at < operations; at += 1) {
    result = jsonOperation(patch, result, at);
  }
  const note = uncertain(patch, selected, false);
  return note === undefined ? result : { ...result, opaque: [...result.opaque, note] };
}

function jsonOperation(patch: PatchDocument, quota: RenderedQuota, at: number): RenderedQuota {
  const { document, owner, entry } = patch;
  const operation = textAt(document, [at, 'op']);
  const steps = (textAt(document, [at, 'path']) ?? '').split('/').slice(1).map(unescaped);
  const [first, second, key] = steps;
  const about = first === 'spec' ? 'spec' : steps.join('.');
  if (operation === 'test' || (about !== 'spec' && about !== 'metadata.name' && about !== 'metadata.namespace')) {
    return quota;
  }
  const opaque = (message: string): RenderedQuota => ({
    ...quota,
    opaque: [...quota.opaque, { path: owner, line: entry.line, message }],
  });
  if (operation !== 'add' && operation !== 'replace' && operation !== 'remove') {
    return opaque(`has a JSON patch with ${operation ?? 'no operation'} of ${steps.join('/')}`);
  }
  if (first === 'metadata') {
    const text = textAt(document, [at, 'value']);
    if (text === undefined) {
      return opaque(`has a JSON patch of ${about} that cannot be followed`);
    }
    const now = second === 'name' ? { name: text, namespace: quota.namespace } : { name: quota.name, namespace: text };
    return {
      ...quota,
      ...now,
      ...(second === 'namespace' ? { namespaceBy: owner } : {}),
      names: [...quota.names, now],
    };
  }
  if (second !== undefined && second !== 'hard') {
    return quota;
  }
  if (steps.length > 3) {
    return opaque(`has a JSON patch of ${steps.join('/')}`);
  }
  const values = new Map(key === undefined ? [] : quota.values);
  if (operation === 'remove') {
    if (key !== undefined) {
      values.delete(key);
    }
    return { ...quota, values };
  }
  for (const leaf of jsonLeaves(document, at, second, key)) {
    values.set(leaf.key, valueLocationOf(patch, leaf, quota.chain.length));
  }
  return { ...quota, values };
}

/** RFC 6901: `~1` is a slash, `~0` a tilde. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The limits that an operation writes: one limit, or all of spec.hard. */
function jsonLeaves(
  document: ManifestDocument,
  at: number,
  second: string | undefined,
  key: string | undefined,
): readonly Leaf[] {
  const pointer: Pointer = second === undefined ? [at, 'value', 'hard'] : [at, 'value'];
  const operation = nodeAt(document, [at]);
  if (key === undefined) {
    const map = nodeAt(document, pointer);
    return isMap(map) ? leavesOf(document, map, pointer) : [];
  }
  return isMap(operation)
    ? leavesOf(document, operation, [at]).flatMap((leaf) => (leaf.key === 'value' ? [{ ...leaf, key }] : []))
    : [];
}
