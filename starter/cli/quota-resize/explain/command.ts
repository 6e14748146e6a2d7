/** `headroom explain quota-resize <namespace>/<quota>`: what would happen now and why, and what would if. */
import type { Command, Option } from 'commander';
import { settingEntries } from '../../../config.ts';
import type { CommandTools } from '../../controller.ts';
import { type QuotaArgument, quotaArgument } from '../../quota-target.ts';
import { settingOption } from '../../setting-option.ts';
import { explanationText } from './text.ts';
import { nothingElse, readWhatIf, type WhatIf } from './what-if.ts';

/** Settings whose flags this command takes: what the worker would be started with. */
const GROUPS: readonly string[] = ['kubernetes', 'temporal', 'github', 'resize'];
const OF_ALL_COMMANDS: readonly string[] = ['kubernetes.clusterName', 'kubernetes.kubeconfig', 'kubernetes.context'];
/** Also accepted: the usage mode, because it decides which numbers a worker uses. */
const USAGE_MODE = 'quotaUsage.mode';

export function defineExplain(quotaResize: Command, { run, shared, output }: CommandTools): void {
  quotaResize
    .description('explain what would happen to a quota now; it only reads')
    .argument('<namespace/quota>', 'the ResourceQuota', quotaArgument)
    .option(
      '--what-if <question>',
      'suppose other usage (requests.cpu=12) or replicas (replicas=web=10); may be given several times',
      readWhatIf,
    );
  const flags = settingFlags();
  for (const option of flags.values()) quotaResize.addOption(option);
  quotaResize.action(async (quota: QuotaArgument, { whatIf = nothingElse }: { whatIf?: WhatIf }) => {
    const argv = [...flags].flatMap(([flag, option]) => {
      const name = option.attributeName();
      if (quotaResize.getOptionValueSource(name) !== 'cli') return [];
      const value: unknown = quotaResize.getOptionValue(name);
      return typeof value === 'string' ? [`${flag}=${value}`] : [flag];
    });
    await run(async (loaded) => {
      // The client of Kubernetes takes its time to load, which the other commands need not wait for.
      const { explainQuota } = await import('./quota.ts');
      const explanation = await explainQuota(loaded, quota, whatIf);
      if (shared().output === 'json') output.json(explanation);
      else output.text(explanationText(explanation));
    }, argv);
  });
}

/** An option for each setting, by its flag; those that all commands have are not among them. */
function settingFlags(): ReadonlyMap<string, Option> {
  const settings = settingEntries
    .filter(({ group, path }) => (GROUPS.includes(group) && !OF_ALL_COMMANDS.includes(path)) || path === USAGE_MODE)
    .map(({ setting }) => setting);
  return new Map(
    settings.flatMap((setting) =>
      setting.flag === undefined ? [] : [[setting.flag, settingOption(setting.flag, setting)] as const],
    ),
  );
}
