/** The policy in force, setting by setting, each as an annotation would say it, with the layer that it comes from. */
import { formatDuration } from '../../../../domain/kernel/duration.ts';
import { formatInstant, MINUTE_MS } from '../../../../domain/kernel/time.ts';
import { formatWindow } from '../../../../domain/quota-resize/policy/merge-window.ts';
import type { PolicyLayer, PolicySource, ResizePolicy } from '../../../../domain/quota-resize/policy/policy.ts';
import { ANNOTATION_PREFIX, type PlainSetting } from '../../../../domain/quota-resize/policy/annotations.ts';
import type { Config } from '../../../config.ts';

/** Where a value comes from. */
export interface From {
  readonly layer: 'built-in' | 'file' | 'environment' | 'flag' | 'guardrail' | PolicyLayer;
  /** What was written there: `THRESHOLD`, `--threshold`, `headroom.yaml line 3 (resize.threshold)`, `resizer.io/threshold`. */
  readonly name: string;
  /** Whose file, environment, flag or default it is, where a worker reported it. Else it is the command's own. */
  readonly reportedBy?: 'worker';
}

/** What of a configuration tells where a value comes from. */
export type Provenance = Pick<Config, 'origins' | 'resize' | 'gitPathTemplate'>;

export interface PolicyEntry {
  /** The annotation's name without its prefix. */
  readonly setting: string;
  readonly value: string;
  readonly from: From;
}

/** The setting of the process below each annotation; some have none. */
const PROCESS_SETTINGS: Readonly<Partial<Record<PlainSetting, string>>> = {
  mode: 'resize.mode',
  threshold: 'resize.threshold',
  increment: 'resize.increment',
  burst: 'resize.burst',
  steps: 'resize.steps',
  'max-step': 'resize.maxStep',
  'cooldown-minutes': 'resize.cooldownMinutes',
  'rejection-cooldown': 'timings.rejectionCooldown',
  'auto-merge': 'resize.autoMerge',
  approval: 'resize.approval',
  'approval-reminder': 'resize.approvalReminder',
  'approval-timeout': 'resize.approvalTimeout',
  'freeze-until': 'resize.freezeUntil',
  'merge-windows': 'resize.mergeWindows',
  'git-path': 'github.pathTemplate',
};

const BUILT_IN: From = { layer: 'built-in', name: 'built-in default' };

/**
 * The layer of a setting.
 *
 * @param setting the annotation's name without its prefix, such as `threshold` or `requests.cpu-threshold`.
 * @param source as the policy has it.
 */
export function fromOf(setting: string, source: PolicySource, provenance: Provenance): From {
  if (source === 'guardrail') return { ...fromOfProcess('resize.guardrails', provenance), layer: 'guardrail' };
  if (source !== 'default') return { layer: source, name: `${ANNOTATION_PREFIX}${setting.replace('/', '_')}` };
  // In a dry run the process observes, whatever its mode is.
  const path =
    setting === 'mode' && provenance.resize.dryRun ? 'resize.dryRun' : PROCESS_SETTINGS[setting as PlainSetting];
  return path === undefined ? BUILT_IN : fromOfProcess(path, provenance);
}

/** The layer of a setting of the process: `quotaUsage.mode`. */
export function fromOfProcess(path: string, { origins }: Pick<Provenance, 'origins'>): From {
  const origin = origins.get(path);
  if (origin === undefined) return BUILT_IN;
  const { reportedBy } = origin;
  return { ...layerOf(origin), ...(reportedBy === undefined ? {} : { reportedBy }) };
}

function layerOf({ layer, where }: { readonly layer: string; readonly where: string }): From {
  switch (layer) {
    case 'default':
      return BUILT_IN;
    case 'environment':
      return { layer: 'environment', name: where };
    case 'command line':
      return { layer: 'flag', name: where };
    default:
      return { layer: 'file', name: `${layer} (${where})` };
  }
}

/** `worker: environment HEADROOM_MODE`, `flag --mode`, `namespace annotation resizer.io/mode`. */
export function fromText({ layer, name, reportedBy }: From): string {
  const owner = reportedBy === undefined ? '' : `${reportedBy}: `;
  switch (layer) {
    case 'built-in':
      return `${owner}${name}`;
    case 'namespace':
    case 'quota':
      return `${layer} annotation ${name}`;
    case 'file':
    case 'environment':
    case 'flag':
    case 'guardrail':
      return `${owner}${layer} ${name}`;
  }
}

/** Every setting that is in force, in the order of the documentation; where the quota is in Git only as far as it is said. */
export function policyEntries(policy: ResizePolicy, provenance: Provenance): readonly PolicyEntry[] {
  const entry = (setting: string, value: string): PolicyEntry => ({
    setting,
    value,
    from: fromOf(setting, policy.sources[setting] ?? 'default', provenance),
  });
  return [
    ...Object.entries(plainValues(policy, provenance)).map(([setting, value]) => entry(setting, value)),
    ...bySetting('threshold', policy.thresholds).map(([setting, value]) => entry(setting, `${value}%`)),
    ...bySetting('increment', policy.increments).map(([setting, value]) => entry(setting, `${value}%`)),
    ...bySetting('min', policy.minimums).map(([setting, value]) => entry(setting, value)),
    ...bySetting('max', policy.maximums).map(([setting, value]) => entry(setting, value)),
  ];
}

function bySetting(setting: string, values: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(values)
    .map(([resource, value]) => [`${resource}-${setting}`, value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function plainValues(policy: ResizePolicy, { gitPathTemplate }: Provenance): Partial<Record<PlainSetting, string>> {
  const { git, freezeUntil, mergeWindows, reviewers } = policy;
  return {
    enabled: String(policy.enabled),
    mode: policy.mode,
    threshold: `${policy.threshold}%`,
    increment: `${policy.increment}%`,
    burst: policy.burst,
    steps: listed(Object.entries(policy.steps).map(([resource, step]) => `${resource}=${step}`)),
    'max-step': policy.maxStep,
    'cooldown-minutes': String(policy.cooldown / MINUTE_MS),
    'rejection-cooldown': formatDuration(policy.rejectionCooldown),
    'auto-merge': String(policy.autoMerge.allowed),
    approval: policy.approval,
    'approval-reminder': spanOrNever(policy.approvalReminder),
    'approval-timeout': spanOrNever(policy.approvalTimeout),
    'freeze-until': freezeUntil === null ? 'none' : formatInstant(freezeUntil),
    'merge-windows': mergeWindows.length === 0 ? 'always' : mergeWindows.map(formatWindow).join('; '),
    reviewers: reviewers === null ? 'as CODEOWNERS says' : listed(reviewers),
    ...(git.repository === undefined ? {} : { 'git-repository': git.repository }),
    'git-path': git.path ?? gitPathTemplate.text,
    ...(git.ref === undefined ? {} : { 'git-ref': git.ref }),
    ...(git.field === undefined ? {} : { 'git-field': git.field }),
  };
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.join(', ');
}

function spanOrNever(span: number | null): string {
  return span === null ? 'never' : formatDuration(span);
}
