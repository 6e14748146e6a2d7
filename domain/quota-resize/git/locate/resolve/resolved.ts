/** The quotas of a set of files as they reach a cluster. */
import type { Delivery } from '../delivery/delivery.ts';
import type { NamePattern } from '../helm/name-pattern.ts';
import type { LocatedValue } from '../location/location.ts';
import type { SourceNote } from '../location/limit-location.ts';
import type { ValueEdit } from '../../yaml/value-edit.ts';

/** A limit in a values file that nothing assigns to the chart. */
export interface RivalValue extends LocatedValue {
  readonly key: string;
}

export interface ResolvedQuota {
  /** Empty when a chart computes it. */
  readonly name: string;
  /** Which names a computed name may be. */
  readonly namePattern?: NamePattern;
  /** Undefined when neither the object nor a kustomization names it. */
  readonly namespace: string | undefined;
  /** What set the namespace; absent when the object names it or nothing does. */
  readonly namespaceBy?: string;
  readonly path: string;
  readonly line: number;
  readonly layout: 'manifest' | 'kustomize' | 'helm';
  readonly values: ReadonlyMap<
    string,
    {
      readonly value: LocatedValue;
      readonly edit: ValueEdit;
      /** Why it may not be a limit of this quota alone, a clause. */
      readonly doubt?: string;
    }
  >;
  /** Keys whose value is not a quantity. */
  readonly unreadable: readonly { readonly key: string; readonly note: SourceNote }[];
  /** Reasons why it cannot be located with certainty. */
  readonly obstacles: readonly SourceNote[];
  /** Limits in values files that may belong to its chart, although nothing says so. */
  readonly rivals?: readonly RivalValue[];
  /** The paths it is applied from, the outermost first: the namespace or the cluster can be derived from them. */
  readonly paths: readonly string[];
  /** What applies it, where that is known. */
  readonly delivery?: Delivery;
}

export interface Resolution {
  readonly quotas: readonly ResolvedQuota[];
  readonly notes: readonly SourceNote[];
}
