/**
 * The policy of one quota, from three layers: the process's defaults, the namespace's annotations, the quota's annotations.
 *
 * A later layer wins over an earlier one for the same setting. Between settings of different reach the most specific wins,
 * in whatever layer it stands: `requests.cpu-threshold` over `cpu-threshold` over `threshold`.
 */
import { type Percent, parsePercent, percentRatio } from '../kernel/percent.ts';
import { parseQuantity } from '../kernel/quantity.ts';
import { quantityIn, type ResourceList } from '../kernel/resource-list.ts';
import { GitPathError, parsePathTemplate } from './git-path.ts';
import { ANNOTATION_PREFIX, resourceFamily, type Setting, settingNamed } from './policy-annotations.ts';

/** observe: recommend only. propose: open pull requests. */
type ResizeMode = 'observe' | 'propose';

/** The lowest layer, from the configuration of the process. */
export interface PolicyDefaults {
  readonly mode: ResizeMode;
  /** Nothing is written to GitHub, whatever the annotations say. */
  readonly dryRun: boolean;
  readonly threshold: Percent;
  readonly increment: Percent;
  readonly cooldownMinutes: number;
  /** Whether Headroom may merge at all. */
  readonly autoMerge: boolean;
  /** The largest step without an approval, as a factor of the limit: "2", "1.5". */
  readonly maxStep: string;
}

type PolicyLayer = 'namespace' | 'quota';

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
  /** As it was written; it may have the fields of a path template. Absent: the configured template holds. */
  readonly gitPath?: string;
  /** Where each setting came from, by the annotation's name without its prefix (`cooldown-minutes`, `cpu-threshold`). */
  readonly sources: Readonly<Record<string, 'default' | PolicyLayer>>;
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

/** A value that a setting does not take; its message is what would be right. */
class WrongValue extends Error {}

/** A year of weeks has no use as a rest; four weeks also keep every timer far from its limits. */
const MAX_COOLDOWN_MINUTES = 40_320;
const MAX_STEP = 1000;
const MAX_INCREMENT = 1000;
/** Events hold 1024 characters; an annotation may hold 256 KiB. */
const SHOWN_CHARACTERS = 80;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What the layers have set so far. */
interface Draft extends Writable<Omit<ResizePolicy, 'autoMerge' | 'thresholds' | 'increments' | 'sources'>> {
  readonly thresholds: Map<string, Percent>;
  readonly increments: Map<string, Percent>;
  readonly sources: Map<string, 'default' | PolicyLayer>;
  mergeSwitchedOff: boolean;
}

/**
 * The policy of a quota. An annotation that is not understood is a warning, and what the layer below says holds; nothing
 * here throws.
 *
 * The mode may be raised or lowered by an annotation, so that a rollout goes namespace by namespace, unless the process
 * runs dry. Auto-merge may only be switched off: `true` neither overrides the global switch nor a `false` of another layer.
 */
export function resolvePolicy({
  defaults,
  namespaceAnnotations,
  quotaAnnotations,
}: {
  readonly defaults: PolicyDefaults;
  readonly namespaceAnnotations: Readonly<Record<string, string>> | undefined;
  readonly quotaAnnotations: Readonly<Record<string, string>> | undefined;
}): { readonly policy: ResizePolicy; readonly warnings: readonly PolicyWarning[] } {
  const draft: Draft = {
    enabled: true,
    mode: defaults.mode,
    threshold: defaults.threshold,
    increment: defaults.increment,
    cooldownMinutes: defaults.cooldownMinutes,
    maxStep: defaults.maxStep,
    thresholds: new Map(),
    increments: new Map(),
    sources: new Map(
      ['enabled', 'mode', 'threshold', 'increment', 'cooldown-minutes', 'auto-merge', 'max-step', 'git-path'].map(
        (name) => [name, 'default'],
      ),
    ),
    mergeSwitchedOff: false,
  };
  const warnings = [
    ...applyLayer(draft, 'namespace', namespaceAnnotations ?? {}),
    ...applyLayer(draft, 'quota', quotaAnnotations ?? {}),
  ];
  return { policy: finished(draft, defaults), warnings };
}

function finished(draft: Draft, defaults: PolicyDefaults): ResizePolicy {
  const { mergeSwitchedOff, thresholds, increments, sources, ...settings } = draft;
  if (defaults.dryRun) {
    settings.mode = 'observe';
    sources.set('mode', 'default');
  }
  if (!defaults.autoMerge) {
    sources.set('auto-merge', 'default');
  }
  return {
    ...settings,
    thresholds: Object.fromEntries(thresholds),
    increments: Object.fromEntries(increments),
    autoMerge: defaults.autoMerge
      ? { allowed: !mergeSwitchedOff, reason: mergeSwitchedOff ? 'NamespaceOff' : 'On' }
      : { allowed: false, reason: 'GlobalOff' },
    sources: Object.fromEntries(sources),
  };
}

function applyLayer(
  draft: Draft,
  layer: PolicyLayer,
  annotations: Readonly<Record<string, string>>,
): readonly PolicyWarning[] {
  const warnings: PolicyWarning[] = [];
  // Sorted, so that the same annotations give the same warnings in the same order.
  for (const key of Object.keys(annotations).toSorted()) {
    if (!key.startsWith(ANNOTATION_PREFIX)) {
      continue;
    }
    const name = key.slice(ANNOTATION_PREFIX.length);
    const setting = settingNamed(name);
    const text = annotations[key] ?? '';
    if (setting.kind === 'unknown') {
      warnings.push(unknownKey(key, text, layer, setting.closest));
      continue;
    }
    try {
      if (setting.kind !== 'otherStrategy' && applySetting(draft, setting, text.trim())) {
        draft.sources.set(setting.kind === 'resource' ? `${setting.resource}-${setting.name}` : name, layer);
      }
    } catch (error) {
      if (!(error instanceof WrongValue)) {
        throw error;
      }
      warnings.push(wrongValue(key, text, layer, error.message));
    }
  }
  return warnings;
}

/**
 * Sets one value; false when the annotation is right but changes nothing.
 *
 * @throws {WrongValue} saying what would be right.
 */
function applySetting(draft: Draft, setting: Extract<Setting, { kind: 'plain' | 'resource' }>, text: string): boolean {
  if (setting.kind === 'resource') {
    if (setting.name === 'threshold') {
      draft.thresholds.set(setting.resource, readThreshold(text));
    } else {
      draft.increments.set(setting.resource, readIncrement(text));
    }
    return true;
  }
  switch (setting.name) {
    case 'enabled':
      draft.enabled = readBoolean(text);
      break;
    case 'mode':
      draft.mode = readMode(text);
      break;
    case 'threshold':
      draft.threshold = readThreshold(text);
      break;
    case 'increment':
      draft.increment = readIncrement(text);
      break;
    case 'max-step':
      draft.maxStep = readMaxStep(text);
      break;
    case 'cooldown-minutes':
      draft.cooldownMinutes = readMinutes(text);
      break;
    case 'auto-merge': {
      const switchedOff = !readBoolean(text);
      draft.mergeSwitchedOff ||= switchedOff;
      return switchedOff;
    }
    case 'git-path':
      draft.gitPath = readGitPath(text);
      break;
  }
  return true;
}

function readBoolean(text: string): boolean {
  const word = text.toLowerCase();
  if (word !== 'true' && word !== 'false') {
    throw new WrongValue('"true" or "false"');
  }
  return word === 'true';
}

function readMode(text: string): ResizeMode {
  const word = text.toLowerCase();
  if (word !== 'observe' && word !== 'propose') {
    throw new WrongValue('"observe" or "propose"');
  }
  return word;
}

function readThreshold(text: string): Percent {
  return readPercent(text, 100, 'a percentage above 0 and up to 100, such as "90" or "90%"');
}

function readIncrement(text: string): Percent {
  return readPercent(text, MAX_INCREMENT, `a percentage above 0 and up to ${MAX_INCREMENT}, such as "10" or "10%"`);
}

function readPercent(text: string, max: number, wanted: string): Percent {
  let percent: Percent;
  try {
    percent = parsePercent(text);
  } catch {
    throw new WrongValue(wanted);
  }
  const { numerator, denominator } = percentRatio(percent);
  if (numerator <= 0n || numerator * 100n > BigInt(max) * denominator) {
    throw new WrongValue(wanted);
  }
  return percent;
}

function readMinutes(text: string): number {
  const minutes = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(minutes <= MAX_COOLDOWN_MINUTES)) {
    throw new WrongValue(`a whole number of minutes from 0 to ${MAX_COOLDOWN_MINUTES} (four weeks), such as "60"`);
  }
  return minutes;
}

function readMaxStep(text: string): string {
  try {
    return parseMaxStep(text);
  } catch {
    throw new WrongValue(`a factor from 1 to ${MAX_STEP}, such as "2", "1.5" or "2x"`);
  }
}

function readGitPath(text: string): string {
  try {
    return parsePathTemplate(text).text;
  } catch (error) {
    if (!(error instanceof GitPathError)) {
      throw error;
    }
    throw new WrongValue(
      `a folder or a file from the repository's root, such as "clusters/prod/{{ .Namespace }}" (${error.message})`,
    );
  }
}

/**
 * Reads a factor such as "2", "1.5" or "2x" as a canonical decimal ("2", "1.5").
 *
 * @throws {RangeError} for any other text, and for a factor below 1 or above 1000.
 */
export function parseMaxStep(text: string): string {
  const match = /^([0-9]{1,9})(?:\.([0-9]{1,9}))?[x×]?$/i.exec(text.trim());
  if (match !== null) {
    const [, whole = '', fraction = ''] = match;
    const canonicalFraction = fraction.replace(/0+$/, '');
    const factor = `${BigInt(whole)}${canonicalFraction === '' ? '' : `.${canonicalFraction}`}`;
    const { numerator, denominator } = factorRatio(factor);
    if (numerator >= denominator && numerator <= BigInt(MAX_STEP) * denominator) {
      return factor;
    }
  }
  throw new RangeError(`"${text}" is not a factor from 1 to ${MAX_STEP}: write a number such as "2", "1.5" or "2x"`);
}

function factorRatio(factor: string): { readonly numerator: bigint; readonly denominator: bigint } {
  const [whole = '0', fraction = ''] = factor.split('.');
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) };
}

function shown(value: string): string {
  return value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value;
}

function wrongValue(key: string, text: string, layer: PolicyLayer, wanted: string): PolicyWarning {
  const value = shown(text);
  const message = `${key}: ${JSON.stringify(value)} on the ${layer} is not understood and ignored; write ${wanted}`;
  return { key, value, layer, wanted, message };
}

function unknownKey(key: string, text: string, layer: PolicyLayer, closest: string | undefined): PolicyWarning {
  const wanted = closest === undefined ? 'one of the documented annotations' : `${ANNOTATION_PREFIX}${closest}`;
  const hint = closest === undefined ? 'no such annotation is known' : `did you mean ${wanted}?`;
  const message = `${shown(key)} on the ${layer} is unknown and ignored; ${hint}`;
  return { key, value: shown(text), layer, wanted, message };
}

/** The share of the limit, in percent, from which on a resource is under pressure. */
export function thresholdFor(policy: ResizePolicy, resource: string): Percent {
  return mostSpecific(policy.thresholds, resource) ?? policy.threshold;
}

/** By how much of the limit, in percent, a resource is raised. */
export function incrementFor(policy: ResizePolicy, resource: string): Percent {
  return mostSpecific(policy.increments, resource) ?? policy.increment;
}

function mostSpecific(values: Readonly<Record<string, Percent>>, resource: string): Percent | undefined {
  const key = [resource, resourceFamily(resource)].find((name) => name !== undefined && Object.hasOwn(values, name));
  return key === undefined ? undefined : values[key];
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
