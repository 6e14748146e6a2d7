/** What the commands of `headroom node-groups` are given, and what is wrong with that. */
import { InvalidArgumentError } from 'commander';
import { isNamespaceName, isObjectName } from '../names.ts';

/** What `explain` is about. */
export type ExplainArgument =
  | { readonly kind: 'pod'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'node'; readonly name: string };

export function explainArgument(text: string): ExplainArgument {
  const [first = '', name, ...rest] = text.split('/');
  if (rest.length === 0) {
    if (name === undefined && isObjectName(first)) return { kind: 'node', name: first };
    if (name !== undefined && isNamespaceName(first) && isObjectName(name))
      return { kind: 'pod', namespace: first, name };
  }
  throw new InvalidArgumentError(
    `"${text}" is neither a pod, as <namespace>/<name>, nor the name of a node, such as pool-1-3f9a`,
  );
}

export function nodeArgument(text: string): string {
  if (!isObjectName(text)) throw new InvalidArgumentError(`"${text}" is not the name of a node, such as pool-1-3f9a`);
  return text;
}
