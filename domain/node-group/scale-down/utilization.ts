/** Whether a node uses little, by samples of metrics.k8s.io. The rules are those of the VPSie autoscaler's cases. */
import { type EpochMs, formatSpan, MINUTE_MS } from '../../kernel/time.ts';
import type { UtilizationSample } from '../model/cluster-state.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { Keep } from '../model/plan.ts';

/** Shares in percent, times in milliseconds. */
export interface UtilizationRule {
  readonly cpuThreshold: number;
  readonly memoryThreshold: number;
  readonly windowMs: number;
  /** Of the samples in the window, the share (0 to 1) that must be low. */
  readonly requiredShare: number;
  /** Older data say nothing. */
  readonly maxStalenessMs: number;
}

const REQUIRED_SHARE = 0.8;
const MAX_STALENESS_MS = 5 * MINUTE_MS;

export function utilizationRule({
  cpuThreshold,
  memoryThreshold,
  stabilizationMs,
}: NodeGroup['scaleDown']): UtilizationRule {
  return {
    cpuThreshold,
    memoryThreshold,
    windowMs: stabilizationMs,
    requiredShare: REQUIRED_SHARE,
    maxStalenessMs: MAX_STALENESS_MS,
  };
}

/** Below both thresholds. */
function isLow(
  { cpu, memory }: Pick<UtilizationSample, 'cpu' | 'memory'>,
  { cpuThreshold, memoryThreshold }: Pick<UtilizationRule, 'cpuThreshold' | 'memoryThreshold'>,
): boolean {
  return cpu < cpuThreshold && memory < memoryThreshold;
}

/** The samples of the window, and whether there are any to judge by. A window that is shorter than two samples has the latest. */
function windowOf(
  samples: readonly UtilizationSample[],
  rule: UtilizationRule,
  at: EpochMs,
): readonly UtilizationSample[] {
  const latest = latestOf(samples, rule, at);
  if (latest === null) return [];
  const inWindow = samples.filter((sample) => sample.at > at - rule.windowMs && sample.at <= at);
  return inWindow.length === 0 ? [latest] : inWindow;
}

/** The newest sample, where it is not too old. */
function latestOf(
  samples: readonly UtilizationSample[],
  { maxStalenessMs }: Pick<UtilizationRule, 'maxStalenessMs'>,
  at: EpochMs,
): UtilizationSample | null {
  const latest = samples.reduce<UtilizationSample | null>(
    (best, sample) => (sample.at <= at && (best === null || sample.at > best.at) ? sample : best),
    null,
  );
  return latest === null || at - latest.at > maxStalenessMs ? null : latest;
}

/** Whether enough samples of the window are low. */
export function isUnderutilized(samples: readonly UtilizationSample[], rule: UtilizationRule, at: EpochMs): boolean {
  const inWindow = windowOf(samples, rule, at);
  const low = inWindow.filter((sample) => isLow(sample, rule)).length;
  return inWindow.length > 0 && low >= rule.requiredShare * inWindow.length;
}

/** What the node used in the window on average, in percent; null without data. */
export function averageOf(
  samples: readonly UtilizationSample[],
  rule: UtilizationRule,
  at: EpochMs,
): Pick<UtilizationSample, 'cpu' | 'memory'> | null {
  const inWindow = windowOf(samples, rule, at);
  if (inWindow.length === 0) return null;
  const mean = (of: (sample: UtilizationSample) => number): number =>
    inWindow.reduce((sum, sample) => sum + of(sample), 0) / inWindow.length;
  return { cpu: mean(({ cpu }) => cpu), memory: mean(({ memory }) => memory) };
}

/** Why the utilization of the whole window keeps the node; null where it does not. */
export function keptByUtilization(
  samples: readonly UtilizationSample[],
  rule: UtilizationRule,
  at: EpochMs,
): Keep | null {
  const average = averageOf(samples, rule, at);
  if (average === null) return withoutData(rule);
  if (isUnderutilized(samples, rule, at)) return null;
  return utilized(`on average of the last ${formatSpan(rule.windowMs)}`, average, rule);
}

/** Why the latest sample keeps the node; null where it does not. A node must be low now before anything else is asked. */
export function keptByLatest(samples: readonly UtilizationSample[], rule: UtilizationRule, at: EpochMs): Keep | null {
  const latest = latestOf(samples, rule, at);
  if (latest === null) return withoutData(rule);
  return isLow(latest, rule) ? null : utilized('now', latest, rule);
}

function withoutData({ maxStalenessMs }: UtilizationRule): Keep {
  const detail = `metrics.k8s.io has said nothing about it in the last ${formatSpan(maxStalenessMs)}`;
  return { reason: 'NoUtilization', detail, until: null };
}

function utilized(
  when: string,
  { cpu, memory }: Pick<UtilizationSample, 'cpu' | 'memory'>,
  rule: UtilizationRule,
): Keep {
  const detail =
    `it uses ${Math.round(cpu)} % of its CPU and ${Math.round(memory)} % of its memory ${when}; ` +
    `less than ${rule.cpuThreshold} % and ${rule.memoryThreshold} % would be low`;
  return { reason: 'Utilized', detail, until: null };
}
