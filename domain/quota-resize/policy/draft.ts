/** A policy while its layers are read. */
import type { PolicyLayer, PolicySource, ResizePolicy } from './policy.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The settings of the layers so far. */
export interface Draft
  extends Writable<
    Omit<ResizePolicy, 'autoMerge' | ResourceValues | 'sources' | 'guardrail' | 'unattended' | 'rejectionTolerance'>
  > {
  readonly thresholds: Map<string, string>;
  readonly increments: Map<string, string>;
  readonly minimums: Map<string, string>;
  /** By layer, because no layer may raise the maximum of one before it. */
  readonly maximums: Readonly<Record<PolicyLayer, Map<string, string>>>;
  readonly sources: Map<string, PolicySource>;
  mergeSwitchedOff: boolean;
}

type ResourceValues = 'thresholds' | 'increments' | 'minimums' | 'maximums';
