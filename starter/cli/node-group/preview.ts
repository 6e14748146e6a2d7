/** `headroom node-groups preview`: a plan of this moment for the whole cluster. It only reads. */
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import { localPlan } from './local-plan.ts';
import { previewOf, previewText } from './preview-text.ts';

/**
 * @param group null for all of them.
 * @throws {CommandFailed} where the cluster cannot be read.
 * @throws {UnknownName} where it has no such NodeGroup.
 */
export async function previewNodeGroups(
  loaded: LoadedConfig,
  group: string | null,
  { output, shared }: CommandTools,
): Promise<void> {
  const local = await localPlan(loaded, output);
  const names = local.groups.map(({ name }) => name);
  if (group !== null && !names.includes(group)) {
    throw new UnknownName(
      `there is no NodeGroup "${group}" in ${local.cluster}${whatThereIs(group, names, 'it has none')}`,
    );
  }
  const preview = previewOf(local, group);
  if (shared().output === 'json') output.json(preview);
  else output.text(previewText(preview, output.terminal));
}
