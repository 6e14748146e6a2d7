/** The configuration that a command about NodeGroups answers by: that of the workers. */
import type { Config } from '../../config.ts';
import type { LoadedConfig } from '../controller.ts';
import type { Output } from '../output.ts';
import { askWorkers, settingsInForce } from '../settings-in-force.ts';

/** Where the workers cannot be asked, the command line's own, with a sentence on standard error. */
export async function configInForce({ config, sources }: LoadedConfig, output: Output): Promise<Config> {
  const workers = await askWorkers(config);
  const inForce = settingsInForce(config, sources, workers);
  const { notes, differences } = inForce.settings;
  for (const note of 'unknown' in workers ? notes : differences) output.note(note);
  return inForce.config;
}
