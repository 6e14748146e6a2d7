/**
 * The policy of one quota, from three layers: the process's defaults, the namespace's annotations, the quota's
 * annotations.
 *
 * A later layer overrides an earlier one for the same setting. Among settings of different scope the most specific one
 * counts, whatever its layer: `requests.cpu-threshold` before `cpu-threshold` before `threshold`.
 */
import { maxPercent, type Percent } from '../../kernel/percent.ts';
import { compareQuantities, parseQuantity } from '../../kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { factorRatio } from './max-step.ts';
import type { Approval, MergeWindow } from './merge-rules.ts';
import type { Guardrail, GuardrailInForce } from './guardrail.ts';
import type { UnattendedLimit } from './unattended-limit.ts';
import { resourceFamily } from './annotations.ts';

/** observe: only recommend. propose: open pull requests. */
export type ResizeMode = 'observe' | 'propose';

/**
 * settle: unmet demand is raised far enough that the threshold is not reached again at once. fill: by exactly what is
 * missing.
 */
export type Burst = 'settle' | 'fill';

/** Whether Headroom merges, and who does so where what the base branch asks for is still missing. */
type AutoMerge = boolean | 'github';

/** The lowest layer, from the configuration of the process. */
export interface PolicyDefaults {
  readonly mode: ResizeMode;
  /** Nothing is written to the forge, regardless of annotations. */
  readonly dryRun: boolean;
  readonly threshold: Percent;
  readonly increment: Percent;
  /** How long the quota rests after a decision ended or a recommendation was made, in milliseconds. */
  readonly cooldown: number;
  /** Whether Headroom may merge at all; `github`: as far as possible by GitHub's own auto-merge. */
  readonly autoMerge: AutoMerge;
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
  /** At least one; the last holds for all namespaces. */
  readonly guardrails: readonly Guardrail[];
}

/** The object with the annotation. */
export type PolicyLayer = 'namespace' | 'quota';

/** The source of a setting; default: the process; guardrail: the platform's guardrail, which allows no other value. */
export type PolicySource = 'default' | PolicyLayer | 'guardrail';

/** The settings in force for one quota. JSON-safe. */
export interface ResizePolicy {
  readonly enabled: boolean;
  readonly mode: ResizeMode;
  /** For resources without a threshold of their own; see `thresholdFor`. */
  readonly threshold: Percent;
  readonly increment: Percent;
  /** By family (`cpu`) or by quota key (`requests.cpu`). */
  readonly thresholds: Readonly<Record<string, Percent>>;
  readonly increments: Readonly<Record<string, Percent>>;
  /** How long the quota rests after a decision ended or a recommendation was made, in milliseconds. */
  readonly cooldown: number;
  /** NamespaceOff: switched off by an annotation of the namespace or of the quota. */
  readonly autoMerge: {
    readonly allowed: boolean;
    readonly reason: 'GlobalOff' | 'NamespaceOff' | 'On';
    /** Whether the forge's own auto-merge is enabled while the base branch still asks for something. Absent: no. */
    readonly byForge?: true;
  };
  /** A canonical decimal, at least 1. */
  readonly maxStep: string;
  readonly burst: Burst;
  /** By family (`cpu`) or by quota key: the smallest limit to propose; see `minimumFor`. */
  readonly minimums: ResourceList;
  /** Like `minimums`: the greatest limit to propose. */
  readonly maximums: ResourceList;
  /** Like `minimums`: proposed limits are rounded up to a multiple of it. */
  readonly steps: ResourceList;
  readonly approval: Approval;
  /** Milliseconds between two reminders of a missing approval; null: no reminders. */
  readonly approvalReminder: number | null;
  /** Milliseconds without an answer after which an approval counts as rejected; null: never. */
  readonly approvalTimeout: number | null;
  /** Nothing is merged before this moment: the latest one of all layers. */
  readonly freezeUntil: EpochMs | null;
  /** Merging is allowed in these windows only; empty: always. */
  readonly mergeWindows: readonly MergeWindow[];
  /** How long a rejection is respected, in milliseconds. */
  readonly rejectionCooldown: number;
  /**
   * By how much more than rejected values a requirement has to be at least, whatever `increment` says: the installation's
   * own. Absent in observations of earlier versions.
   */
  readonly rejectionTolerance?: Percent;
  /** Requested reviewers by their names on the forge: `alice`, `platform/quota-owners`. Null: CODEOWNERS decides. */
  readonly reviewers: readonly string[] | null;
  /** The quota's place in Git according to annotations; `path` may contain fields of a path template. */
  readonly git: {
    readonly repository?: string;
    readonly path?: string;
    readonly ref?: string;
    readonly field?: string;
  };
  /** The platform's guardrail for the namespace. */
  readonly guardrail: GuardrailInForce;
  /**
   * The largest limits that Headroom may merge without a person, where they are stricter than `maxStep`; see
   * `unattended-limit.ts`. Absent: none is.
   */
  readonly unattended?: readonly UnattendedLimit[];
  /** The source of each setting, by the annotation's name without its prefix (`cooldown-minutes`, `cpu-threshold`). */
  readonly sources: Readonly<Record<string, PolicySource>>;
}

/** An annotation that is invalid. */
export interface PolicyWarning {
  /** The annotation's full name. */
  readonly key: string;
  /** The value as written, shortened when it is long. */
  readonly value: string;
  readonly layer: PolicyLayer;
  /** What would be valid, to follow "write". */
  readonly wanted: string;
  /** The complete warning as a sentence. */
  readonly message: string;
}

/** The percentage of the limit from which on a resource is under pressure. */
export function thresholdFor(policy: ResizePolicy, resource: string): Percent {
  return mostSpecific(policy.thresholds, resource) ?? policy.threshold;
}

/** The percentage of the limit by which a resource is raised. */
export function incrementFor(policy: ResizePolicy, resource: string): Percent {
  return mostSpecific(policy.increments, resource) ?? policy.increment;
}

/**
 * By how much two readings of a need may differ, and a requirement from rejected values, and still be about the same: one
 * increment of the policy, and the installation's at least, so that no annotation makes it smaller.
 */
export function toleranceFor(policy: ResizePolicy, resource: string): Percent {
  const increment = incrementFor(policy, resource);
  return maxPercent(increment, policy.rejectionTolerance ?? increment);
}

/** The smallest limit to propose, a quantity; a minimum above the maximum is ignored. */
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

/** The quantity of which proposed limits are multiples. */
export function stepFor(policy: ResizePolicy, resource: string): string | undefined {
  return mostSpecific(policy.steps, resource);
}

/** The setting that applies to a resource, by the annotation's name without its prefix, and its source. */
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
 * The raises that exceed the policy's largest step, and every raise from 0 (or from a missing limit).
 *
 * @param from the present limits. @param to the proposed limits; a resource that is not raised is no step.
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
