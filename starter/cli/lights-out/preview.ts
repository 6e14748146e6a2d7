/** `headroom lights-out preview`: reads schedules from the cluster or a file, and prints what they would do. */
import type { Config } from '../../config.ts';
import type { ConfigSources } from '../../../platform/config/config.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { askWorkers, settingsInForce } from '../settings-in-force.ts';
import { fail, print, type SharedOptions } from '../shared.ts';
import { UnknownName } from '../names.ts';
import { terminalOf } from '../terminal.ts';
import { locationOf, readManifest, readManifestText, type WrittenSchedule } from './manifest.ts';
import { previewJson, type PreviewSpan, previewSchedules } from './preview-report.ts';
import { previewText } from './preview-text.ts';
import { chosen, readSchedules } from './schedules.ts';

/** What is asked for. */
interface PreviewQuestion {
  /** Null: all of them. */
  readonly schedule: string | null;
  readonly span: PreviewSpan;
  readonly output: SharedOptions['output'];
}

/** @throws {CommandFailed} where the cluster cannot be read; {UnknownName} where it has no such schedule. */
export async function previewCluster(config: Config, sources: ConfigSources, question: PreviewQuestion): Promise<void> {
  const [objects, workers] = await Promise.all([readSchedules(config), askWorkers(config)]);
  const schedules = objects.map((object) => ({ object, problems: [] }));
  const inForce = settingsInForce(config, sources, workers);
  const { notes, differences } = inForce.settings;
  for (const note of 'unknown' in workers ? notes : differences) console.error(note);
  const { kubernetes, lightsOut } = inForce.config;
  show(schedules, kubernetes.clusterName, question, lightsOut.protectedNamespaces);
}

/** @throws {UnknownName} where the file is not there, or has no such schedule. */
export function previewFile(path: string, question: PreviewQuestion): void {
  const location = locationOf(path);
  const { schedules, unreadable } = readManifest(readManifestText(path), location);
  if (schedules.length === 0 && unreadable.length === 0) throw new UnknownName(`${location} has no LightsOutSchedule`);
  // A schedule that is asked for by name may be in the part that cannot be read.
  if (unreadable.length > 0) fail(unreadable.join('\n'), exitCodes.failed);
  if (schedules.length > 0 || question.output === 'json') show(schedules, location, question, []);
}

function show(
  schedules: readonly WrittenSchedule[],
  location: string,
  { schedule, span, output }: PreviewQuestion,
  protectedNamespaces: readonly string[],
): void {
  const objects = schedules.map(({ object }) => object);
  const asked = schedule === null ? null : chosen(objects, schedule, location);
  const reports = previewSchedules(schedules, span, protectedNamespaces).filter(
    ({ object }) => asked === null || object === asked,
  );
  if (output === 'json') print(reports.map(previewJson));
  else if (reports.length === 0) console.log(`${location} has no LightsOutSchedule.`);
  else process.stdout.write(previewText(reports, terminalOf(process.stdout, process.env)));
  if (reports.some(({ problems }) => problems.length > 0)) process.exitCode = exitCodes.failed;
}
