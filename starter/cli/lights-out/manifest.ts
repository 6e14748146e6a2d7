/** The LightsOutSchedules of YAML that need not be applied yet. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '../../../domain/kernel/record.ts';
import { type Calendar, type Calendars, readCalendar } from '../../../domain/lights-out/schedule/calendar.ts';
import { CALENDAR, GROUP, KIND, VERSION } from '../../../domain/lights-out/schedule/names.ts';
import type { ScheduleProblem } from '../../../domain/lights-out/schedule/schedule-problem.ts';
import { UnknownName } from '../names.ts';
import type { ScheduleObject } from './schedules.ts';

/** What is written about one schedule, with what is wrong before its spec is looked at. */
export interface WrittenSchedule {
  readonly object: ScheduleObject;
  readonly problems: readonly ScheduleProblem[];
}

export interface Manifest {
  readonly schedules: readonly WrittenSchedule[];
  /** The ConfigMaps with the label of calendars. */
  readonly calendars: Calendars;
  /** Documents that cannot be read at all, in sentences. */
  readonly unreadable: readonly string[];
}

const STANDARD_INPUT = '-';

/** What a place is called in messages. */
export function locationOf(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}

/** @throws {UnknownName} where the file cannot be read. */
export function readManifestText(path: string, readStdin: () => string): string {
  try {
    return path === STANDARD_INPUT ? readStdin() : readFileSync(path, 'utf8');
  } catch (error) {
    throw new UnknownName(
      `${locationOf(path)} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Every LightsOutSchedule and every calendar of the text, those in lists included; other kinds are not looked at. */
export function readManifest(text: string, location: string): Manifest {
  const unreadable: string[] = [];
  const objects = parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      const line = error.linePos?.[0].line;
      unreadable.push(`${location}${line === undefined ? '' : `:${line}`}: ${firstLine(error.message)}`);
      return [];
    }
    return objectsOf(document.toJS());
  });
  return {
    schedules: objects.filter(({ kind }) => kind === KIND).map(written),
    calendars: new Map(objects.filter(isCalendar).map(calendarOf)),
    unreadable,
  };
}

function isCalendar({ kind, metadata }: ScheduleObject): boolean {
  return kind === 'ConfigMap' && metadata?.labels?.[CALENDAR] !== undefined;
}

function calendarOf({ metadata, data }: ScheduleObject & { readonly data?: unknown }): [string, Calendar] {
  const name = metadata?.name ?? '';
  const texts = isRecord(data) ? Object.entries(data).map(([key, text]) => [key, String(text)] as const) : [];
  return [name, readCalendar(name, Object.fromEntries(texts))];
}

/** yaml's messages go on with the lines around the place. */
function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/ at line \d+, column \d+:$/, '');
}

function objectsOf(value: unknown): readonly ScheduleObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  if (Array.isArray(items)) return items.flatMap(objectsOf);
  return typeof kind === 'string' ? [value] : [];
}

function written(object: ScheduleObject): WrittenSchedule {
  const apiVersion = `${GROUP}/${VERSION}`;
  const name: unknown = object.metadata?.name;
  return {
    object,
    problems: [
      ...(object.apiVersion === apiVersion ? [] : [{ field: 'apiVersion', message: `expected ${apiVersion}` }]),
      ...(typeof name === 'string' && name !== ''
        ? []
        : [{ field: 'metadata.name', message: 'expected a name, such as dev-nights' }]),
    ],
  };
}
