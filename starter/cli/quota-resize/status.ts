/** `headroom status <namespace>/<quota>`: where the episode of a quota stands, in words. */
import { sharedWith } from '../../../domain/quota-resize/decide/joined.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { PolicySource } from '../../../domain/quota-resize/policy/policy.ts';
import type { ResizeStatus } from '../../../workflows/quota-resize/messages.ts';
import { fromOf, fromText } from './explain/layers.ts';
import type { SettingsInForce } from '../settings-in-force.ts';
import { withoutLinks } from '../shared.ts';

/** @param inForce by what the workers decide, for what no annotation says. */
export function statusText(seen: ResizeStatus, inForce: SettingsInForce, now: number): string {
  const { target, decision, lastCommand } = seen;
  const lines = [
    `${target.namespace}/${target.quota}: ${seen.phase} (${seen.reason}) since ${seen.since}`,
    sentence(withoutLinks(seen.detail)),
    ...(decision?.changes ?? []).map(({ resource, from, to, reason }) => `  ${resource} ${from} -> ${to}. ${reason}`),
    ...(decision?.pullRequest
      ? [`  Pull request #${decision.pullRequest.number}: ${decision.pullRequest.url}${sharedWith(decision)}`]
      : []),
    ...(seen.until === undefined ? [] : [`  Checks again at ${seen.until} at the latest.`]),
    ...policyLines(seen, inForce).map((line) => `  ${line}`),
    ...(lastCommand === null ? [] : [`  Last command: ${lastCommand}`]),
  ];
  return withRelativeTimes(lines.join('\n'), now);
}

/** What the policy let the episode do when it last looked, and who says so. */
function policyLines({ policy }: ResizeStatus, { config, settings }: SettingsInForce): readonly string[] {
  // An episode that has not looked yet knows no policy; neither does one of a worker of an earlier release.
  if (policy === null || policy === undefined) return [];
  const from = (setting: 'mode' | 'auto-merge', source: PolicySource): string => {
    if (source === 'default' && settings.worker === null) return "the worker's settings";
    return fromText(fromOf(setting, source, config));
  };
  return [
    `The mode is ${policy.mode} (${from('mode', policy.modeFrom)}).`,
    `Auto-merge is ${policy.autoMerge ? 'on' : 'off'} (${from('auto-merge', policy.autoMergeFrom)}).`,
    ...settings.differences,
  ];
}
