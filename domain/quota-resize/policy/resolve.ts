/** Computes the policy of one quota from its layers; see `policy.ts` for the precedence. */
import { compareQuantities, parseQuantity } from '../../kernel/quantity.ts';
import { readMergeWindows } from './merge-window.ts';
import {
  type PolicyDefaults,
  type PolicyLayer,
  type PolicySource,
  type PolicyWarning,
  type ResizePolicy,
  settingFor,
} from './policy.ts';
import { ANNOTATION_PREFIX, PLAIN_SETTINGS, type PlainSetting, type Setting, settingNamed } from './annotations.ts';
import {
  readApproval,
  readBoolean,
  readBurst,
  readFreezeUntil,
  readGitField,
  readGitPath,
  readGitRef,
  readGitRepository,
  readIncrement,
  readLimit,
  readMaxStep,
  readMinutes,
  readMode,
  readRejectionCooldown,
  readReviewers,
  readSpanOrNever,
  readSteps,
  readThreshold,
  WrongValue,
} from './values.ts';
import { withoutUrlSecrets } from '../pull-request/shown-url.ts';

/** An Event holds 1024 characters, but an annotation may hold 256 KiB. */
const SHOWN_CHARACTERS = 80;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The settings of the layers so far. */
interface Draft extends Writable<Omit<ResizePolicy, 'autoMerge' | ResourceValues | 'sources'>> {
  readonly thresholds: Map<string, string>;
  readonly increments: Map<string, string>;
  readonly minimums: Map<string, string>;
  readonly maximums: Map<string, string>;
  readonly sources: Map<string, PolicySource>;
  mergeSwitchedOff: boolean;
}

type ResourceValues = 'thresholds' | 'increments' | 'minimums' | 'maximums';

/**
 * The policy of a quota. An invalid annotation gives a warning and is ignored; nothing here throws.
 *
 * An annotation may change the mode in both directions, so that Headroom can be introduced namespace by namespace,
 * except in a dry run of the process. Auto-merge may only be switched off: `true` overrides neither the global switch
 * nor a `false` of another layer. A freeze of any layer holds.
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
  const draft = draftOf(defaults);
  const warnings = [
    ...applyLayer(draft, 'namespace', namespaceAnnotations ?? {}),
    ...applyLayer(draft, 'quota', quotaAnnotations ?? {}),
  ];
  const policy = finished(draft, defaults);
  return { policy, warnings: [...warnings, ...contradictoryBounds(policy)] };
}

function draftOf(defaults: PolicyDefaults): Draft {
  const { dryRun: _dryRun, autoMerge: _autoMerge, ...values } = defaults;
  return {
    ...values,
    enabled: true,
    reviewers: null,
    git: {},
    thresholds: new Map(),
    increments: new Map(),
    minimums: new Map(),
    maximums: new Map(),
    sources: new Map(PLAIN_SETTINGS.map((name) => [name, 'default'])),
    mergeSwitchedOff: false,
  };
}

function finished(draft: Draft, defaults: PolicyDefaults): ResizePolicy {
  const { mergeSwitchedOff, thresholds, increments, minimums, maximums, sources, ...settings } = draft;
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
    minimums: Object.fromEntries(minimums),
    maximums: Object.fromEntries(maximums),
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
  // Sorted, so that the same annotations always give the warnings in the same order.
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
      warnings.push(wrongValue(key, text, layer, error));
    }
  }
  return warnings;
}

/**
 * Sets one value; false when the annotation is valid but changes nothing.
 *
 * @throws {WrongValue} with what would be valid.
 */
function applySetting(draft: Draft, setting: Extract<Setting, { kind: 'plain' | 'resource' }>, text: string): boolean {
  if (setting.kind === 'plain') return plainSettings[setting.name](draft, text);
  switch (setting.name) {
    case 'threshold':
      draft.thresholds.set(setting.resource, readThreshold(text));
      break;
    case 'increment':
      draft.increments.set(setting.resource, readIncrement(text));
      break;
    case 'min':
      draft.minimums.set(setting.resource, readLimit(text));
      break;
    case 'max':
      draft.maximums.set(setting.resource, readLimit(text));
      break;
  }
  return true;
}

/** Reads the text of one annotation into the draft; false when it is valid but changes nothing. */
type Reader = (draft: Draft, text: string) => boolean;

const plainSettings: Readonly<Record<PlainSetting, Reader>> = {
  enabled: settingReader('enabled', readBoolean),
  mode: settingReader('mode', readMode),
  threshold: settingReader('threshold', readThreshold),
  increment: settingReader('increment', readIncrement),
  burst: settingReader('burst', readBurst),
  steps: settingReader('steps', readSteps),
  'max-step': settingReader('maxStep', readMaxStep),
  'cooldown-minutes': settingReader('cooldown', readMinutes),
  'rejection-cooldown': settingReader('rejectionCooldown', readRejectionCooldown),
  'auto-merge': (draft, text) => {
    const switchedOff = !readBoolean(text);
    draft.mergeSwitchedOff ||= switchedOff;
    return switchedOff;
  },
  approval: settingReader('approval', readApproval),
  'approval-reminder': settingReader('approvalReminder', readSpanOrNever),
  'approval-timeout': settingReader('approvalTimeout', readSpanOrNever),
  'freeze-until': (draft, text) => {
    const until = readFreezeUntil(text);
    if (draft.freezeUntil !== null && until <= draft.freezeUntil) return false;
    draft.freezeUntil = until;
    return true;
  },
  'merge-windows': settingReader('mergeWindows', readMergeWindows),
  reviewers: settingReader('reviewers', readReviewers),
  'git-repository': gitSettingReader('repository', readGitRepository),
  'git-path': gitSettingReader('path', readGitPath),
  'git-ref': gitSettingReader('ref', readGitRef),
  'git-field': gitSettingReader('field', readGitField),
};

function settingReader<Key extends keyof Draft>(key: Key, read: (text: string) => Draft[Key]): Reader {
  return (draft, text) => {
    draft[key] = read(text);
    return true;
  };
}

function gitSettingReader(key: keyof Draft['git'], read: (text: string) => string): Reader {
  return (draft, text) => {
    draft.git = { ...draft.git, [key]: read(text) };
    return true;
  };
}

/** Warnings about minimums above their maximum, which `minimumFor` ignores. */
function contradictoryBounds(policy: ResizePolicy): readonly PolicyWarning[] {
  const resources = [...new Set([...Object.keys(policy.minimums), ...Object.keys(policy.maximums)])].toSorted();
  const seen = new Set<string>();
  return resources.flatMap((resource) => {
    const min = settingFor(policy, 'min', resource);
    const max = settingFor(policy, 'max', resource);
    const least = policy.minimums[resourceOf(min.name)];
    const most = policy.maximums[resourceOf(max.name)];
    if (least === undefined || most === undefined || min.source === 'default') return [];
    if (compareQuantities(parseQuantity(least), parseQuantity(most)) <= 0) return [];
    const key = annotationKey(min.name);
    const pair = `${key} ${max.name}`;
    if (seen.has(pair)) return [];
    seen.add(pair);
    const above = `${annotationKey(max.name)} ("${most}" on the ${max.source})`;
    const wanted = `at most "${most}"`;
    const message = `${key}: "${least}" on the ${min.source} is above ${above} and ignored for ${resource}; write ${wanted}`;
    return [{ key, value: least, layer: min.source, wanted, message }];
  });
}

/** `requests.cpu` of `requests.cpu-min`. */
function resourceOf(name: string): string {
  return name.slice(0, name.lastIndexOf('-'));
}

/** The annotation of a setting; a slash in a resource's name becomes an underscore. */
function annotationKey(name: string): string {
  return `${ANNOTATION_PREFIX}${name.replace('/', '_')}`;
}

/** A value as quoted in a warning: a URL that was pasted in may contain a password. */
function shown(value: string): string {
  const safe = withoutUrlSecrets(value);
  return safe.length > SHOWN_CHARACTERS ? `${safe.slice(0, SHOWN_CHARACTERS)}…` : safe;
}

function wrongValue(key: string, text: string, layer: PolicyLayer, error: WrongValue): PolicyWarning {
  const value = shown(text);
  // The reason may quote the value.
  const reason = error.reason === undefined || withoutUrlSecrets(text) === text ? '' : ` (${error.reason})`;
  const wanted = error.message.replace(reason, '');
  const message = `${key}: ${JSON.stringify(value)} on the ${layer} is not understood and ignored; write ${wanted}`;
  return { key, value, layer, wanted, message };
}

function unknownKey(key: string, text: string, layer: PolicyLayer, closest: string | undefined): PolicyWarning {
  const wanted = closest === undefined ? 'one of the documented annotations' : `${ANNOTATION_PREFIX}${closest}`;
  const advice = closest === undefined ? 'no such annotation is known' : `did you mean ${wanted}?`;
  const message = `${shown(key)} on the ${layer} is unknown and ignored; ${advice}`;
  return { key, value: shown(text), layer, wanted, message };
}
