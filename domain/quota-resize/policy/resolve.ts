/** Computes the policy of one quota from its layers; see `policy.ts` for the precedence. */
import { maxPercent } from '../../kernel/percent.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import { type Guardrail, guardrailFor, inForce, type NamespaceFacts } from './guardrail.ts';
import { leastsOf } from './least-values.ts';
import { maximumsWithin, tighten } from './tighten.ts';
import { readMergeWindows } from './merge-window.ts';
import type { PolicyDefaults, PolicyLayer, PolicyWarning, ResizePolicy } from './policy.ts';
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
import { contradictoryBounds, tooMany, unknownKey, wrongValue } from './warnings.ts';
import type { Draft } from './draft.ts';

/**
 * The policy of a quota. An invalid annotation gives a warning and is ignored; nothing here throws.
 *
 * An annotation may change the mode in both directions, so that Headroom can be introduced namespace by namespace,
 * except in a dry run of the process. Auto-merge may only be switched off: `true` overrides neither the global switch
 * nor a `false` of another layer. A freeze of any layer holds.
 */
export function resolvePolicy({
  defaults,
  namespace,
  quotaAnnotations,
}: {
  readonly defaults: PolicyDefaults;
  readonly namespace: NamespaceFacts & { readonly annotations?: Readonly<Record<string, string>> | undefined };
  readonly quotaAnnotations: Readonly<Record<string, string>> | undefined;
}): { readonly policy: ResizePolicy; readonly warnings: readonly PolicyWarning[] } {
  const guardrail = guardrailFor(defaults.guardrails, namespace);
  const leasts = leastsOf(guardrail, defaults);
  const draft = draftOf(defaults);
  const wrong = [
    ...applyLayer(draft, 'namespace', namespace.annotations ?? {}),
    ...applyLayer(draft, 'quota', quotaAnnotations ?? {}),
  ];
  const tightened = tighten(draft, guardrail, leasts);
  const bounds = maximumsWithin(draft.maximums, guardrail);
  for (const [name, source] of bounds.sources) draft.sources.set(name, source);
  const policy = {
    ...finished(draft, defaults, guardrail, bounds.maximums),
    rejectionTolerance: maxPercent(defaults.increment, leasts.leastIncrement),
  };
  // People are told ten in an hour: what a guardrail holds goes before what somebody may write wrong in any number.
  return { policy, warnings: [...tightened, ...bounds.warnings, ...contradictoryBounds(policy), ...wrong] };
}

function draftOf(defaults: PolicyDefaults): Draft {
  const { dryRun: _dryRun, autoMerge: _autoMerge, guardrails: _guardrails, ...values } = defaults;
  return {
    ...values,
    enabled: true,
    reviewers: null,
    git: {},
    thresholds: new Map(),
    increments: new Map(),
    minimums: new Map(),
    maximums: { namespace: new Map(), quota: new Map() },
    sources: new Map(PLAIN_SETTINGS.map((name) => [name, 'default'])),
    mergeSwitchedOff: false,
  };
}

function finished(draft: Draft, defaults: PolicyDefaults, guardrail: Guardrail, maximums: ResourceList): ResizePolicy {
  const { mergeSwitchedOff, thresholds, increments, minimums, maximums: _layers, sources, ...settings } = draft;
  if (defaults.dryRun) {
    settings.mode = 'observe';
    sources.set('mode', 'default');
  }
  if (defaults.autoMerge === false) {
    sources.set('auto-merge', 'default');
  }
  return {
    ...settings,
    thresholds: Object.fromEntries(thresholds),
    increments: Object.fromEntries(increments),
    minimums: Object.fromEntries(minimums),
    maximums,
    autoMerge: autoMergeOf(defaults, mergeSwitchedOff),
    guardrail: inForce(guardrail),
    sources: Object.fromEntries(sources),
  };
}

function autoMergeOf({ autoMerge }: PolicyDefaults, isSwitchedOff: boolean): ResizePolicy['autoMerge'] {
  if (autoMerge === false) return { allowed: false, reason: 'GlobalOff' };
  if (isSwitchedOff) return { allowed: false, reason: 'NamespaceOff' };
  return { allowed: true, reason: 'On', ...(autoMerge === 'github' ? { byForge: true } : {}) };
}

/**
 * An object may have 256 KiB of annotations, and the policy is in every observation, which the history keeps: more than this of
 * one object is not read.
 */
const MOST_ANNOTATIONS = 200;
const LONGEST_VALUE = 4_000;

/** Those that are no setting of a resource go first: nobody can push them out with thousands of others. */
function firstRead(keys: readonly string[]): readonly string[] {
  if (keys.length <= MOST_ANNOTATIONS) return keys;
  const isPlain = (key: string): boolean => settingNamed(key.slice(ANNOTATION_PREFIX.length)).kind === 'plain';
  return [...keys.filter(isPlain), ...keys.filter((key) => !isPlain(key))].slice(0, MOST_ANNOTATIONS);
}

function applyLayer(
  draft: Draft,
  layer: PolicyLayer,
  annotations: Readonly<Record<string, string>>,
): readonly PolicyWarning[] {
  const warnings: PolicyWarning[] = [];
  // Sorted, so that the same annotations always give the warnings in the same order.
  const keys = Object.keys(annotations)
    .filter((key) => key.startsWith(ANNOTATION_PREFIX))
    .toSorted();
  if (keys.length > MOST_ANNOTATIONS) warnings.push(tooMany(keys.length, MOST_ANNOTATIONS, layer));
  for (const key of firstRead(keys)) {
    const name = key.slice(ANNOTATION_PREFIX.length);
    const setting = settingNamed(name);
    const text = annotations[key] ?? '';
    if (setting.kind === 'unknown') {
      warnings.push(unknownKey(key, text, layer, setting.closest));
      continue;
    }
    try {
      if (text.length > LONGEST_VALUE) throw new WrongValue(`at most ${LONGEST_VALUE} characters`);
      if (setting.kind !== 'otherStrategy' && applySetting(draft, layer, setting, text.trim())) {
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
function applySetting(
  draft: Draft,
  layer: PolicyLayer,
  setting: Extract<Setting, { kind: 'plain' | 'resource' }>,
  text: string,
): boolean {
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
      draft.maximums[layer].set(setting.resource, readLimit(text));
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
