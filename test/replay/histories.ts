/** The recorded histories: where they are, in which form, and what is taken out of them. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
// It only works where all of Temporal's packages share one protobufjs, which is why that is a dependency of its own.
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';

type History = ReturnType<typeof historyFromJSON>;

/** A folder for each release, and `next` for what is not released yet. */
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
    for (const file of (await readdir(join(FOLDER, release))).toSorted()) {
      const json = JSON.parse(await readFile(join(FOLDER, release, file), 'utf8')) as { events: RecordedEvent[] };
      const workflowType = attributesOf(json.events[0])['workflowType'] as { name: string } | undefined;
      found.push({
        release,
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

/** Removes the recordings of what no release has, as far as their names are meant. */
export async function forgetUnreleased(isMeant: (name: string) => boolean): Promise<void> {
  const folder = join(FOLDER, UNRELEASED);
  const files = await readdir(folder).catch(() => []);
  for (const file of files.filter((one) => isMeant(one))) await rm(join(folder, file));
}

/** What this machine and this run are called, and what stands for it in a recording. */
export type Replacements = readonly (readonly [what: RegExp | string, by: string])[];

/** Writes a history down, an event a line so that a difference can be read, without what is this machine's own. */
export async function writeHistory(name: string, history: History, replacements: Replacements): Promise<void> {
  const { events } = JSON.parse(historyToJSON(history)) as { events: unknown[] };
  const lines = events.map((event) => JSON.stringify(scrub(event, replacements)));
  await mkdir(join(FOLDER, UNRELEASED), { recursive: true });
  await writeFile(join(FOLDER, UNRELEASED, `${name}.json`), `{"events":[\n${lines.join(',\n')}\n]}\n`);
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
