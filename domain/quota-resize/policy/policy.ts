/**
 * The policy of one quota, from three layers: the process's defaults, the namespace's annotations, the quota's annotations.
 *
 * A later layer wins over an earlier one for the same setting. Between settings of different reach the most specific wins,
 * in whatever layer it stands: `requests.cpu-threshold` over `cpu-threshold` over `threshold`.
 */
import type { Percent } from '../../kernel/percent.ts';
import { compareQuantities, parseQuantity } from '../../kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { factorRatio } from './max-step.ts';
import { resourceFamily } from './annotations.ts';

/** observe: recommend only. propose: open pull requests. */
export type ResizeMode = 'observe' | 'propose';

/** settle: unmet demand is raised so far that the threshold is not reached again at once. fill: just what is missing. */
export type Burst = 'settle' | 'fill';

/** Before what a person has to approve every raise. */
export type Approval = 'none' | 'before-pull-request' | 'before-merge';

/** The lowest layer, from the configuration of the process. */
export interface PolicyDefaults {
  readonly mode: ResizeMode;
  /** Nothing is written to the forge, whatever the annotations say. */
  readonly dryRun: boolean;
  readonly threshold: Percent;
  readonly increment: Percent;
  readonly cooldownMinutes: number;
  /** Whether Headroom may merge at all. */
  readonly autoMerge: boolean;
  /** The largest step without an approval, as a factor of the limit: "2", "1.5". */
  readonly maxStep: string;
  readonly burst: Burst;
  readonly steps: ResourceList;
  readonly approval: Approval;
  readonly approvalReminder: number | null;
  readonly approvalTimeout: number | null;
  readonly freezeUntil: EpochMs | null;
  readonly mergeWindows: readonly MergeWindow[];
  readonly rejectionCooldown: number;
}

/** The object whose annotation says something. */
export type PolicyLayer = 'namespace' | 'quota';

/** Where a setting comes from; default: the process. */
export type PolicySource = 'default' | PolicyLayer;

/** A span in which merging is allowed. */
export interface MergeWindow {
  /** Five fields of cron: when it opens. */
  readonly cron: string;
  /** How long it stays open, in milliseconds. */
  readonly duration: number;
  /** An IANA time zone. */
  readonly zone: string;
}

/** What holds for one quota. JSON-safe. */
export interface ResizePolicy {
  readonly enabled: boolean;
  readonly mode: ResizeMode;
  /** For resources that have none of their own; see `thresholdFor`. */
  readonly threshold: Percent;
  readonly increment: Percent;
  /** By family (`cpu`) or by quota key (`requests.cpu`). */
  readonly thresholds: Readonly<Record<string, Percent>>;
  readonly increments: Readonly<Record<string, Percent>>;
  readonly cooldownMinutes: number;
  /** NamespaceOff: an annotation of the namespace or of the quota says so. */
  readonly autoMerge: { readonly allowed: boolean; readonly reason: 'GlobalOff' | 'NamespaceOff' | 'On' };
  /** A canonical decimal, at least 1. */
  readonly maxStep: string;
  readonly burst: Burst;
  /** By family (`cpu`) or by quota key: no limit is proposed below; see `minimumFor`. */
  readonly minimums: ResourceList;
  /** As `minimums`: no limit is proposed above. */
  readonly maximums: ResourceList;
  /** As `minimums`: proposed limits are rounded up to a multiple. */
  readonly steps: ResourceList;
  readonly approval: Approval;
  /** Milliseconds between two reminders of a missing approval; null: nobody is reminded. */
  readonly approvalReminder: number | null;
  /** After so many milliseconds without an answer it is taken as a no; null: never. */
  readonly approvalTimeout: number | null;
  /** Nothing is merged before this moment: the latest that any layer says. */
  readonly freezeUntil: EpochMs | null;
  /** Merging is allowed in these windows only; none: always. */
  readonly mergeWindows: readonly MergeWindow[];
  /** How long, in milliseconds, a person's no is respected. */
  readonly rejectionCooldown: number;
  /** Who is asked to review, as the forge names them: `alice`, `platform/quota-owners`. Null: CODEOWNERS decides. */
  readonly reviewers: readonly string[] | null;
  /** Where the quota lives in Git, as annotations say; `path` may have the fields of a path template. */
  readonly git: {
    readonly repository?: string;
    readonly path?: string;
    readonly ref?: string;
    readonly field?: string;
  };
  /** Where each setting came from, by the annotation's name without its prefix (`cooldown-minutes`, `cpu-threshold`). */
  readonly sources: Readonly<Record<string, PolicySource>>;
}

/** An annotation that is not understood. */
export interface PolicyWarning {
  /** With its prefix. */
  readonly key: string;
  /** As it was written, shortened when it is long. */
  readonly value: string;
  readonly layer: PolicyLayer;
  /** What would be right, to follow "write". */
  readonly wanted: string;
  /** All of it as a sentence. */
  readonly message: string;
}

/** The share of the limit, in percent, from which on a resource is under pressure. */
export function thresholdFor(policy: ResizePolicy, resource: string): Percent {
  return mostSpecific(policy.thresholds, resource) ?? policy.threshold;
}

/** By how much of the limit, in percent, a resource is raised. */
export function incrementFor(policy: ResizePolicy, resource: string): Percent {
  return mostSpecific(policy.increments, resource) ?? policy.increment;
}

/** The least limit to propose, a quantity; a minimum above the maximum is none. */
export function minimumFor(policy: ResizePolicy, resource: string): string | undefined {
  const minimum = mostSpecific(policy.minimums, resource);
  const maximum = maximumFor(policy, resource);
  if (minimum === undefined || maximum === undefined) return minimum;
  return compareQuantities(parseQuantity(minimum), parseQuantity(maximum)) > 0 ? undefined : minimum;
}

/** The greatest limit to propose, a quantity. */
export function maximumFor(policy: ResizePolicy, resource: string): string | undefined {
  return mostSpecific(policy.maximums, resource);
}

/** What proposed limits are rounded up to a multiple of, a quantity. */
export function stepFor(policy: ResizePolicy, resource: string): string | undefined {
  return mostSpecific(policy.steps, resource);
}

/** The setting of a resource that is in force, by the annotation's name without its prefix, and where it comes from. */
export function settingFor(
  policy: ResizePolicy,
  setting: 'threshold' | 'increment' | 'min' | 'max',
  resource: string,
): { readonly name: string; readonly source: PolicySource } {
  const values = {
    threshold: policy.thresholds,
    increment: policy.increments,
    min: policy.minimums,
    max: policy.maximums,
  }[setting];
  const key = mostSpecificKey(values, resource);
  const name = key === undefined ? setting : `${key}-${setting}`;
  return { name, source: policy.sources[name] ?? 'default' };
}

function mostSpecific(values: Readonly<Record<string, string>>, resource: string): string | undefined {
  const key = mostSpecificKey(values, resource);
  return key === undefined ? undefined : values[key];
}

function mostSpecificKey(values: Readonly<Record<string, string>>, resource: string): string | undefined {
  return [resource, resourceFamily(resource)].find((name) => name !== undefined && Object.hasOwn(values, name));
}

/** A raise that a person has to approve. */
export interface ExceededStep {
  readonly resource: string;
  readonly from: string;
  readonly to: string;
  /** to ÷ from, rounded up to hundredths ("2.01"); "infinite" from a limit of 0. */
  readonly factor: string;
}

/**
 * The raises that go beyond the policy's largest step, and every raise from 0 (or from a limit that is not there).
 *
 * @param from the limits as they are. @param to the limits as proposed; a resource that is not raised is no step.
 * @throws {QuantityError} when one of the texts is not a quantity.
 */
export function maxStepExceeded(policy: ResizePolicy, from: ResourceList, to: ResourceList): readonly ExceededStep[] {
  const { numerator, denominator } = factorRatio(policy.maxStep);
  return Object.entries(to).flatMap(([resource, proposed]) => {
    const before = quantityIn(from, resource).nano;
    const after = parseQuantity(proposed).nano;
    if (after <= before || after * denominator <= before * numerator) {
      return [];
    }
    return { resource, from: from[resource] ?? '0', to: proposed, factor: factorOf(before, after) };
  });
}

function factorOf(before: bigint, after: bigint): string {
  if (before <= 0n) {
    return 'infinite';
  }
  const hundredths = (after * 100n + before - 1n) / before;
  const fraction = `${hundredths % 100n}`.padStart(2, '0').replace(/0+$/, '');
  return `${hundredths / 100n}${fraction === '' ? '' : `.${fraction}`}`;
}
