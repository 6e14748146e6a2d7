/** The objects of the chart as plain JSON. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { chartText } from '../kernel/stack/chart.ts';

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Manifest = z.infer<typeof manifest>;

const known = new Map<string, Promise<readonly Manifest[]>>();

/**
 * What Helm renders with these values; for all tests of a file the same objects.
 *
 * @throws Error where an object comes twice.
 */
export async function rendered(values?: object, namespace?: string): Promise<readonly Manifest[]> {
  const key = JSON.stringify([values, namespace]);
  const objects = known.get(key) ?? render(values, namespace);
  known.set(key, objects);
  return await objects;
}

async function render(values?: object, namespace?: string): Promise<readonly Manifest[]> {
  const objects = (await chartText(values, namespace)).split(/^---\n/m).flatMap(parsed);
  const ids = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`${twice} comes twice with ${JSON.stringify(values)}`);
  return objects;
}

const ofText = new Map<string, readonly Manifest[]>();

/** Most documents are the same with other values, and reading them takes longer than rendering them. */
function parsed(text: string): readonly Manifest[] {
  const objects = ofText.get(text) ?? manifestsIn(text);
  ofText.set(text, objects);
  return objects;
}

/** The objects of a file of deploy/. */
export function objectsOf(file: string): readonly Manifest[] {
  return manifestsIn(readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8'));
}

export function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return manifest.parse(document.toJS());
  });
}
