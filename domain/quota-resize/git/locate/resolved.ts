/** The quotas of a set of files as they reach a cluster. */
import type { Delivery } from './delivery.ts';
import type { LocatedValue } from './location.ts';
import type { SourceNote } from './limit-location.ts';
import type { ValueEdit } from '../yaml/value-edit.ts';

/** A limit in a values file that nobody names for the chart. */
export interface RivalValue extends LocatedValue {
  readonly key: string;
}

export interface ResolvedQuota {
  /** Empty where a chart computes it. */
  readonly name: string;
  /** What a computed name can be. */
  readonly namePattern?: RegExp;
  /** Undefined where neither the object nor a kustomization says it. */
  readonly namespace: string | undefined;
  /** Where the namespace is from; absent where the object says it, or nothing does. */
  readonly namespaceBy?: string;
  readonly path: string;
  readonly line: number;
  readonly layout: 'manifest' | 'kustomize' | 'helm';
  readonly values: ReadonlyMap<string, { readonly value: LocatedValue; readonly edit: ValueEdit }>;
  /** Keys whose value is no quantity. */
  readonly unreadable: readonly { readonly key: string; readonly note: SourceNote }[];
  /** What keeps it from being placed with certainty. */
  readonly obstacles: readonly SourceNote[];
  /** What files that may be values of its chart, though nobody says so, set in their place. */
  readonly rivals?: readonly RivalValue[];
  /** Where it is applied from, the outermost first: what a namespace or a cluster can be read from. */
  readonly paths: readonly string[];
  /** Who applies it, where that is known. */
  readonly delivery?: Delivery;
}

export interface Resolution {
  readonly quotas: readonly ResolvedQuota[];
  readonly notes: readonly SourceNote[];
}
