/** `headroom lights-out preview <schedule> --workloads`: what exactly a schedule would touch, and what it leaves alone. */
import {
  type Calendars,
  calendarDays,
  NO_CALENDARS,
  timingWith,
} from '../../../domain/lights-out/schedule/calendar.ts';
import { readCalendars } from './calendars.ts';
import { listView } from '../../../activities/lights-out/observe-schedule.ts';
import { OwnerKinds } from '../../../activities/lights-out/owners.ts';
import { readMemories } from '../../../activities/lights-out/scaling-memory.ts';
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import { type ScopeDigest, scopeDigest } from '../../../domain/lights-out/decide/scope-digest.ts';
import { counted } from '../../../domain/lights-out/decide/sentences.ts';
import {
  countsOf,
  type SurveyedWorkload,
  surveyWorkloads,
  workloadsInScope,
} from '../../../domain/lights-out/decide/survey.ts';
import { formatMoment } from '../../../domain/lights-out/schedule/moment.ts';
import { GROUP, KIND, VERSION } from '../../../domain/lights-out/schedule/names.ts';
import { periodAt } from '../../../domain/lights-out/schedule/period.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { workloadName } from '../../../domain/lights-out/workload/workload.ts';
import { ScheduleRegistry } from '../../lights-out/schedule-registry.ts';
import { shapeSchedule } from '../../lights-out/shape.ts';
import { readingFailure, withCluster } from '../cluster.ts';
import { columns } from '../columns.ts';
import { csvOf } from '../csv.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { CommandFailed } from '../shared.ts';
import { askWorkers, settingsInForce } from '../settings-in-force.ts';
import { coloured, type Terminal } from '../terminal.ts';
import { locationOf, readManifest, readManifestText } from './manifest.ts';
import { chosen, nameOf, readSchedules, type ScheduleObject } from './schedules.ts';

export interface SurveyQuestion {
  readonly schedule: string;
  /** A file with the schedule, as it would be applied; null for the one of the cluster. */
  readonly file: string | null;
  readonly isCsv: boolean;
  /** Which page of the text, from 1. */
  readonly page: number;
}

interface Survey {
  readonly schedule: string;
  readonly cluster: string;
  /** The moment that it is about: now in a night, or when the next night begins. */
  readonly at: EpochMs;
  readonly local: string;
  readonly isNight: boolean;
  readonly scope: ScopeDigest;
  readonly workloads: readonly SurveyedWorkload[];
}

/** Lines of workloads on a page of the text. */
const PAGE = 200;
const RIGHTS =
  'headroom lights-out preview --workloads reads with your own rights, and needs to list namespaces, Deployments, StatefulSets, CronJobs and autoscalers of the whole cluster, and the definitions and objects that lightsOut.scaledOwners names';

/** @throws {CommandFailed} where the cluster cannot be read; {UnknownName} where there is no such schedule. */
export async function surveyCluster(
  loaded: LoadedConfig,
  question: SurveyQuestion,
  tools: CommandTools,
): Promise<void> {
  const { output } = tools;
  const [objects, workers] = await Promise.all([readSchedules(loaded), askWorkers(loaded.config)]);
  const inForce = settingsInForce(loaded.config, loaded.sources, workers);
  const { notes, differences } = inForce.settings;
  for (const note of 'unknown' in workers ? notes : differences) output.note(note);
  const { protectedNamespaces, gitopsManagers, scaledOwners = [] } = inForce.config.lightsOut;
  const cluster = inForce.config.kubernetes.clusterName;
  const { asked, written } = scheduleOf(question, objects, cluster, tools);
  const { systemNamespace } = inForce.config.kubernetes;
  const calendars = new Map([...(await readCalendars(loaded, [asked], { systemNamespace, output })), ...written]);
  const moment = momentOf(asked, calendars);
  const registry = new ScheduleRegistry({
    cluster,
    protectedNamespaces,
    gitopsManagers,
    calendars: () => calendars,
    schedules: () =>
      [...objects.filter((object) => nameOf(object) !== question.schedule), asActive(asked)].flatMap(
        (object) => shapeSchedule(object).read ?? [],
      ),
  });
  const watched = registry.all.find(({ name }) => name === question.schedule);
  const context = watched === undefined ? null : registry.contextOf(watched, moment.at);
  if (context === null)
    throw new CommandFailed(`the schedule ${question.schedule} is invalid: headroom lights-out preview says why`);
  const { view, memories, withoutMemory } = await withCluster(loaded, async ({ kubernetes }) => {
    try {
      const view = await listView(kubernetes, new OwnerKinds(kubernetes, scaledOwners), question.schedule);
      return { view, ...(await readMemories(kubernetes, systemNamespace)) };
    } catch (error) {
      throw readingFailure(error, RIGHTS);
    }
  });
  if (withoutMemory !== null) {
    output.note(
      `The ConfigMaps in the namespace ${systemNamespace} cannot be read with your rights: what lost its marks is shown as awake.`,
    );
  }
  const { remembered, approved = null } = memories.get(question.schedule) ?? {};
  const kept = {
    ...(remembered === undefined ? {} : { remembered }),
    ...(withoutMemory === null && isBound(asked) ? { approved: approved ?? new Map() } : {}),
  };
  const given = [{ ...context, ...kept }, view.namespaces, view.workloads] as const;
  const [scope, workloads] = [scopeDigest(workloadsInScope(...given)), surveyWorkloads(...given)];
  const survey = { schedule: question.schedule, cluster, ...moment, scope, workloads };
  if (question.isCsv) output.text(csvOfWorkloads(survey));
  else if (tools.shared().output === 'json') output.json(jsonOf(survey));
  else output.text(textOf(survey, question.page, output.terminal));
}

/** The schedule of the file, with what the cluster knows of the one of that name, and the calendars of the file; or the one of the cluster. */
function scheduleOf(
  { schedule, file }: SurveyQuestion,
  objects: readonly ScheduleObject[],
  cluster: string,
  { io }: CommandTools,
): { readonly asked: ScheduleObject; readonly written: Calendars } {
  if (file === null) return { asked: chosen(objects, schedule, cluster), written: NO_CALENDARS };
  const location = locationOf(file);
  const { schedules, calendars, unreadable } = readManifest(readManifestText(file, io.readStdin), location);
  if (unreadable.length > 0) throw new CommandFailed(unreadable.join('; '));
  const written = chosen(
    schedules.map(({ object }) => object),
    schedule,
    location,
  );
  const there = objects.find((object) => nameOf(object) === schedule);
  // As the API server adds it to what is created.
  const created: object = {
    uid: 'new',
    resourceVersion: '0',
    generation: 1,
    creationTimestamp: new Date().toISOString(),
  };
  const asked = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: KIND,
    metadata: Object.assign(created, there?.metadata, written.metadata),
    spec: written.spec,
    ...(there === undefined ? {} : { status: there.status }),
  };
  return { asked, written: calendars };
}

/** As if nothing held it back: what is asked is what it would do. */
function asActive(object: ScheduleObject): ScheduleObject {
  const spec = typeof object.spec === 'object' && object.spec !== null ? object.spec : {};
  return { ...object, spec: { ...spec, suspend: false, dryRun: false, requireApproval: false } };
}

/** Whether somebody has approved a set of workloads: what joined since stays up. */
function isBound(object: ScheduleObject): boolean {
  const { spec, status } = readSchedule(object);
  return spec?.requireApproval === true && status.approved?.digest !== undefined;
}

/** @throws {CommandFailed} for an invalid schedule. */
function momentOf(object: ScheduleObject, calendars: Calendars): Pick<Survey, 'at' | 'local' | 'isNight'> {
  const { spec, problems } = readSchedule(object);
  if (spec === null) {
    const why = problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
    throw new CommandFailed(`the schedule ${nameOf(object)} is invalid: ${why}`);
  }
  const now = Date.now();
  const period = periodAt(timingWith(spec, calendarDays(spec, calendars)), now);
  const at = period.state === 'Up' && period.next !== null ? period.next.at : now;
  const isNight = at !== now || period.state === 'Down';
  return { at, local: formatMoment(at, spec.timezone), isNight };
}

/** The documented form of `--output json`: every workload of the cluster. */
function jsonOf({ schedule, cluster, at, scope, workloads }: Survey): object {
  return {
    schedule,
    cluster,
    at: formatInstant(at),
    scope,
    counts: countsOf(workloads),
    workloads: workloads.map(({ workload, ...rest }) => ({ ...workload, ...rest })),
  };
}

const HEADINGS = ['namespace', 'kind', 'name', 'does', 'reason', 'from', 'to', 'autoscalers', 'detail'];

/** With a heading: every workload of the cluster. */
function csvOfWorkloads({ workloads }: Survey): string {
  const rows = workloads.map(({ workload: { namespace, kind, name }, does, reason, detail, from, to, autoscalers }) => [
    namespace,
    kind,
    name,
    does,
    reason,
    from === null ? '' : String(from),
    to === null ? '' : String(to),
    autoscalers.join(' '),
    detail,
  ]);
  return csvOf([HEADINGS, ...rows]);
}

function textOf(
  { schedule, cluster, local, isNight, scope, workloads }: Survey,
  page: number,
  terminal: Terminal,
): string {
  const pages = Math.max(1, Math.ceil(workloads.length / PAGE));
  if (page > pages) throw new CommandFailed(`--page ${page}: there ${pages === 1 ? 'is 1' : `are ${pages}`}`);
  const shown = workloads.slice((page - 1) * PAGE, page * PAGE);
  const [heading = '', ...lines] = columns(
    [
      ['DOES', 'WORKLOAD', { text: 'REPLICAS', right: true }, 'REASON', 'WHY'],
      ...shown.map(({ workload, does, reason, detail, from, to, autoscalers }) => [
        does,
        workloadName(workload),
        { text: from === null || to === null ? '' : `${from} -> ${to}`, right: true },
        reason,
        autoscalers.length === 0 ? detail : `${detail} (with ${autoscalers.join(', ')})`,
      ]),
    ],
    2,
  );
  const what = isNight ? `the night at ${local}` : `${local}: no night is planned`;
  return `${[
    coloured(`${schedule} in ${cluster}, ${what}`, 'bold', terminal),
    `  scope ${scope.digest}: ${counted(scope.workloads, 'workload')}`,
    ...countsOf(workloads).map(({ does, reason, count }) => {
      const verb = count === 1 ? does : does.replace(/s$/, '');
      return `  ${count} ${does === 'stays' ? 'left alone' : verb}: ${reason}`;
    }),
    '',
    ...(shown.length === 0 ? ['  The cluster has no workloads.'] : [coloured(heading, 'dim', terminal), ...lines]),
    ...(pages === 1 ? [] : ['', `  Page ${page} of ${pages}${page < pages ? `: go on with --page ${page + 1}` : ''}`]),
  ].join('\n')}\n`;
}
