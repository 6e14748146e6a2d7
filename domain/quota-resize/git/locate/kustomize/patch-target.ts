/** Selects the quotas of a patch's target. */
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
 * Matches as kustomize does: a regular expression that must match completely; an empty one matches everything.
 *
 * @throws {SyntaxError} for an expression that JavaScript cannot parse.
 */
function matcherOf(pattern: string | undefined): (text: string) => boolean {
  const expression = pattern === undefined ? undefined : new RegExp(`^(?:${pattern})$`);
  return (text) => expression?.test(text) ?? true;
}
