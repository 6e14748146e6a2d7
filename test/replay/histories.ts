/** The recorded histories: where they are, in which form, and what is taken out of them. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
// It only works where all of Temporal's packages share one protobufjs, which is why that is a dependency of its own.
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';

type History = ReturnType<typeof historyFromJSON>;

/** A folder for each release, and `next` for what is not released yet; in each, a folder for each controller. */
const FOLDER = fileURLToPath(new URL('histories/', import.meta.url));
export const UNRELEASED = 'next';

/** One event as Temporal's tools write it in JSON. */
export interface RecordedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly [field: string]: unknown;
}

export interface RecordedHistory {
  readonly release: string;
  readonly controller: string;
  /** What happened: the name of its file. */
  readonly name: string;
  readonly workflowType: string;
  readonly events: readonly RecordedEvent[];
  readonly history: History;
}

/** Every recorded history of every release. */
export async function readHistories(): Promise<RecordedHistory[]> {
  const releases = await readdir(FOLDER).catch((): string[] => []);
  const found: RecordedHistory[] = [];
  for (const release of releases.toSorted()) {
    for (const file of await historyFiles(release)) {
      const json = JSON.parse(await readFile(join(FOLDER, release, file), 'utf8')) as { events: RecordedEvent[] };
      const workflowType = attributesOf(json.events[0])['workflowType'] as { name: string } | undefined;
      found.push({
        release,
        controller: dirname(file),
        name: basename(file, '.json'),
        workflowType: workflowType?.name ?? '',
        events: json.events,
        history: historyFromJSON(json),
      });
    }
  }
  return found;
}

/** The attributes of an event, whatever its type. */
export function attributesOf(event: RecordedEvent | undefined): Readonly<Record<string, unknown>> {
  const key = Object.keys(event ?? {}).find((field) => field.endsWith('EventAttributes'));
  return key === undefined ? {} : (event?.[key] as Record<string, unknown>);
}

/** The types of the activities that failed, or were not done in time. */
export function failedActivities(events: readonly RecordedEvent[]): string[] {
  const ended = ['EVENT_TYPE_ACTIVITY_TASK_FAILED', 'EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT'];
  return events.flatMap((event) => {
    if (!ended.includes(event.eventType)) return [];
    const { scheduledEventId } = attributesOf(event);
    const scheduled = attributesOf(events.find(({ eventId }) => eventId === scheduledEventId));
    return [(scheduled['activityType'] as { name: string }).name];
  });
}

/** The only value of an event's `input` or `result`; undefined where there is none. */
export function payloadOf(payloads: unknown): unknown {
  const { payloads: [first] = [] } = (payloads ?? {}) as { payloads?: { data?: string }[] };
  return first?.data === undefined ? undefined : JSON.parse(Buffer.from(first.data, 'base64').toString());
}

/** Removes what was recorded of some scenarios and is in no release. */
export async function forgetUnreleased(
  isMeant: (scenario: Pick<RecordedHistory, 'controller' | 'name'>) => boolean,
): Promise<void> {
  for (const file of await historyFiles(UNRELEASED)) {
    // The runs of one scenario: `name.json`, `name-2.json`, `name-3.json`.
    const name = basename(file).replace(/(-\d+)?\.json$/, '');
    if (isMeant({ controller: dirname(file), name })) await rm(join(FOLDER, UNRELEASED, file));
  }
}

/** `<controller>/<name>.json`, in one order. */
async function historyFiles(release: string): Promise<string[]> {
  const files = await readdir(join(FOLDER, release), { recursive: true }).catch((): string[] => []);
  return files.filter((file) => file.endsWith('.json')).toSorted();
}

/** What this machine and this run are called, and what stands for it in a recording. */
export type Replacements = readonly (readonly [what: RegExp | string, by: string])[];

/** Writes a history down, an event a line so that a difference can be read, without what is this machine's own. */
export async function writeHistory(
  { controller, name }: Pick<RecordedHistory, 'controller' | 'name'>,
  history: History,
  replacements: Replacements,
): Promise<void> {
  const { events } = JSON.parse(historyToJSON(history)) as { events: unknown[] };
  const lines = events.map((event) => JSON.stringify(scrub(event, replacements)));
  const folder = join(FOLDER, UNRELEASED, controller);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.json`), `{"events":[\n${lines.join(',\n')}\n]}\n`);
}

/** Replaces in every text, those inside of payloads too. */
function scrub(value: unknown, replacements: Replacements): unknown {
  if (typeof value === 'string') return replaceAll(value, replacements);
  if (Array.isArray(value)) return value.map((element) => scrub(element, replacements));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      if (!isPayload(value, key, field)) return [key, scrub(field, replacements)];
      return [key, Buffer.from(replaceAll(Buffer.from(field, 'base64').toString(), replacements)).toString('base64')];
    }),
  );
}

function replaceAll(text: string, replacements: Replacements): string {
  return replacements.reduce((clean, [what, by]) => clean.replaceAll(what, by), text);
}

function isPayload(owner: object, key: string, field: unknown): field is string {
  return key === 'data' && 'metadata' in owner && typeof field === 'string';
}

/** Every text of a history, those inside of payloads decoded. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) =>
    isPayload(value, key, field) ? [Buffer.from(field, 'base64').toString()] : textsOf(field),
  );
}
