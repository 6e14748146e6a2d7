/** Warnings about valid schedules that are probably not intended. */
import { listText } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { mayClash } from './overlap.ts';
import { UNCONFIRMED_SELECTOR } from './names.ts';
import type { RateLimit, ScheduleException, ScheduleSpec } from './schedule.ts';
import { SYSTEM_NAMESPACES } from './scope.ts';
import { isEmptySelector } from '../../kernel/label-selector.ts';

/** The surroundings of a schedule; there are no warnings about absent parts. */
export interface WarningContext {
  /** For warnings about past exceptions. */
  readonly now?: EpochMs;
  /** Protected namespaces besides the system's: the setting of the same name. */
  readonly protectedNamespaces?: readonly string[];
}

/** Names per sentence: kubectl shows a warning on one line, and the API server truncates it at 256 characters. */
const MAX_NAMES = 3;

/** The largest offset of a time zone behind UTC. */
const FURTHEST_BEHIND_MS = 12 * 3_600_000;

/**
 * Warnings that kubectl shows when a schedule is applied, one sentence each.
 *
 * @param others all other schedules of the cluster.
 */
export function scheduleWarnings(
  spec: ScheduleSpec,
  others: readonly { readonly name: string; readonly spec: ScheduleSpec }[],
  { now, protectedNamespaces = [] }: WarningContext = {},
): readonly string[] {
  return [
    ...overlapWarnings(spec, others),
    ...selectionWarnings(spec, [...SYSTEM_NAMESPACES, ...protectedNamespaces]),
    ...patternWarnings(spec),
    ...delayWarnings('upscaleRateLimit', spec.upscaleRateLimit),
    ...delayWarnings('downscaleRateLimit', spec.downscaleRateLimit),
    ...(now === undefined ? [] : pastWarnings(spec.exceptions, now)),
  ];
}

function overlapWarnings(spec: ScheduleSpec, others: Parameters<typeof scheduleWarnings>[1]): readonly string[] {
  const names = others.filter((other) => mayClash(spec, other.spec)).map(({ name }) => name);
  return names.length === 0
    ? []
    : [
        `may want the same workloads as ${counted('the schedule', names)}: each workload follows only one of them, the oldest that selects it`,
      ];
}

function selectionWarnings(spec: ScheduleSpec, untouched: readonly string[]): readonly string[] {
  const { namespaces, excludeNamespaces, namespaceSelector } = spec;
  const isListed = namespaceSelector === undefined;
  const warnings: string[] = [];
  const protectedOnes = namespaces.filter((name) => untouched.includes(name));
  if (protectedOnes.length > 0) {
    warnings.push(
      `spec.namespaces has ${counted('the protected namespace', protectedOnes)}: no schedule touches those`,
    );
  }
  const both = namespaces.filter((name) => excludeNamespaces.includes(name));
  if (both.length > 0) {
    warnings.push(`spec.excludeNamespaces outranks spec.namespaces: ${listText(both, MAX_NAMES)} will be left alone`);
  }
  if (isListed && namespaces.every((name) => untouched.includes(name) || excludeNamespaces.includes(name))) {
    warnings.push('selects nothing: every namespace of spec.namespaces is excluded or protected');
  }
  if (isUnconfirmed(spec)) warnings.push(`spec.${UNCONFIRMED_SELECTOR}`);
  return warnings;
}

/** Whether a schedule selects every namespace without saying that this is meant. */
export function isUnconfirmed({ namespaceSelector, allNamespaces }: ScheduleSpec): boolean {
  return !allNamespaces && namespaceSelector !== undefined && isEmptySelector(namespaceSelector);
}

function patternWarnings({ upscale, downscale }: ScheduleSpec): readonly string[] {
  const plain = (pattern: string) => pattern.trim().replaceAll(/\s+/g, ' ').toUpperCase();
  return plain(upscale) === plain(downscale)
    ? ['spec.upscale is the same as spec.downscale: where both come at once, downscale wins, so nothing is ever woken']
    : [];
}

function delayWarnings(field: string, limit: RateLimit | undefined): readonly string[] {
  return limit?.delayBetweenBatches !== undefined && limit.batchSize === undefined
    ? [`spec.${field}.delayBetweenBatches has no effect without batchSize: all workloads are one batch`]
    : [];
}

/** Exceptions for a single year that are over in every time zone. */
function pastWarnings(exceptions: readonly ScheduleException[], now: EpochMs): readonly string[] {
  const today = new Date(now - FURTHEST_BEHIND_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  const past = exceptions
    .map(({ from, to = from }) => to)
    .filter((last) => last.length === today.length && last < today);
  return past.length === 0
    ? []
    : [
        `spec.exceptions has ${past.length === 1 ? 'one that is' : `${past.length} that are`} over: ${listText(past, MAX_NAMES)}`,
      ];
}

function counted(noun: string, names: readonly string[]): string {
  return `${names.length === 1 ? noun : `${noun}s`} ${listText(names, MAX_NAMES)}`;
}
