import { stringify } from 'yaml';
import { lightsOutDefinition } from '../../domain/lights-out/schedule/definition.ts';

/** Where the definition of LightsOutSchedules is. */
export const lightsOutFile = new URL('../../deploy/lights-out/crd.yaml', import.meta.url);

const HEADER = `# Written by \`npm run definitions\` from domain/lights-out/schedule/schedule.ts and definition.ts: change those.
#
# Deleting the definition deletes every schedule. While Headroom runs, each restores first what it put down.
`;

/** The text of the file. */
export function definitionFile(): string {
  return HEADER + stringify(lightsOutDefinition(), { lineWidth: 0, aliasDuplicateObjects: false });
}
