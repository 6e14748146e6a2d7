/** Selects the quotas of a patch's target. */
import { RE2JS } from 're2js';
import type { PatchTarget } from './kustomization.ts';
import type { RenderedQuota } from '../resolve/rendered-quota.ts';

/**
 * Whether a patch's target matches a quota; `perhaps` when it depends on labels or annotations that are not evaluated.
 */
export type Selector = (quota: RenderedQuota) => boolean | 'perhaps';

export function selectorOf(target: PatchTarget): Selector {
  let matchesName: (text: string) => boolean;
  let matchesNamespace: (text: string) => boolean;
  let matchesKind: boolean;
  try {
    matchesName = matcherOf(target.name);
    matchesNamespace = matcherOf(target.namespace);
    matchesKind =
      matcherOf(target.group)('') && matcherOf(target.version)('v1') && matcherOf(target.kind)('ResourceQuota');
  } catch {
    return () => 'perhaps';
  }
  const byLabels = target.labelSelector !== undefined || target.annotationSelector !== undefined;
  return ({ names }) => {
    const plain =
      matchesKind && names.some(({ name, namespace }) => matchesName(name) && matchesNamespace(namespace ?? ''));
    return plain && byLabels ? 'perhaps' : plain;
  };
}

/**
 * An expression of Go may repeat its parts a thousand times, so its cost is a multiple of its length. Names have at most
 * 253 characters, and expressions for them are shorter still.
 */
const MAX_PATTERN_LENGTH = 512;

/**
 * Matches as kustomize does: an expression of Go's `regexp` package, which must match completely; an empty one matches
 * everything. The time grows in proportion to the text, whatever the expression is.
 *
 * @throws {Error} for an expression that Go does not accept, or that is too long.
 */
function matcherOf(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) {
    return () => true;
  }
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`an expression of more than ${MAX_PATTERN_LENGTH} characters`);
  }
  const expression = RE2JS.compile(`^(?:${pattern})$`);
  return (text) => expression.test(text);
}
