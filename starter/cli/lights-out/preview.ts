/** `headroom lights-out preview`: reads schedules from the cluster or a file, and prints what they would do. */
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { askWorkers, settingsInForce } from '../settings-in-force.ts';
import { UnknownName } from '../names.ts';
import { locationOf, readManifest, readManifestText, type WrittenSchedule } from './manifest.ts';
import { calendarText } from './calendar-text.ts';
import { readCalendars } from './calendars.ts';
import { type PreviewContext, previewJson, type PreviewSpan, previewSchedules } from './preview-report.ts';
import { previewText } from './preview-text.ts';
import { chosen, readSchedules } from './schedules.ts';

/** What is asked for. */
interface PreviewQuestion {
  /** Null: all of them. */
  readonly schedule: string | null;
  readonly span: PreviewSpan;
  /** Only the days on which exceptions and calendars hold. */
  readonly isCalendar: boolean;
}

/** @throws {CommandFailed} where the cluster cannot be read; {UnknownName} where it has no such schedule. */
export async function previewCluster(
  loaded: LoadedConfig,
  question: PreviewQuestion,
  tools: CommandTools,
): Promise<void> {
  const [objects, workers] = await Promise.all([readSchedules(loaded), askWorkers(loaded.config)]);
  const schedules = objects.map((object) => ({ object, problems: [] }));
  const inForce = settingsInForce(loaded.config, loaded.sources, workers);
  const { notes, differences } = inForce.settings;
  for (const note of 'unknown' in workers ? notes : differences) tools.output.note(note);
  const { kubernetes, lightsOut } = inForce.config;
  const { protectedNamespaces } = lightsOut;
  const { clusterName: location, systemNamespace } = kubernetes;
  const calendars = await readCalendars(loaded, objects, { systemNamespace, output: tools.output });
  const place = `the namespace ${systemNamespace}`;
  show({ schedules, location, context: { protectedNamespaces, calendars, location: place } }, question, tools);
}

/** @throws {UnknownName} where the file is not there, or has no such schedule. */
export function previewFile(path: string, question: PreviewQuestion, tools: CommandTools): void {
  const location = locationOf(path);
  const { schedules, calendars, unreadable } = readManifest(readManifestText(path, tools.io.readStdin), location);
  if (schedules.length === 0 && unreadable.length === 0) throw new UnknownName(`${location} has no LightsOutSchedule`);
  // A schedule that is asked for by name may be in the part that cannot be read.
  if (unreadable.length > 0) tools.output.fail(unreadable.join('\n'), exitCodes.failed);
  if (schedules.length > 0 || tools.shared().output === 'json') {
    show({ schedules, location, context: { protectedNamespaces: [], calendars, location } }, question, tools);
  }
}

/** The schedules of a cluster or of a file. */
interface FoundSchedules {
  readonly schedules: readonly WrittenSchedule[];
  readonly location: string;
  readonly context: PreviewContext;
}

function show(
  { schedules, location, context }: FoundSchedules,
  { schedule, span, isCalendar }: PreviewQuestion,
  { output, shared }: CommandTools,
): void {
  const objects = schedules.map(({ object }) => object);
  const asked = schedule === null ? null : chosen(objects, schedule, location);
  const reports = previewSchedules(schedules, span, context).filter(({ object }) => asked === null || object === asked);
  if (shared().output === 'json') output.json(reports.map(previewJson));
  else if (reports.length === 0) output.line(`${location} has no LightsOutSchedule.`);
  else output.text((isCalendar ? calendarText : previewText)(reports, output.terminal));
  if (reports.some(({ problems }) => problems.length > 0)) output.endWith(exitCodes.failed);
}
