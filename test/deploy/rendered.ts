/** The objects of deploy/ with components, as `kubectl kustomize` renders them, for tests that need no server. */
import { readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Manifest = z.infer<typeof manifest>;

/** Strict, so that a kustomization which begins to use something else is not rendered without it. */
const kustomization = z.strictObject({
  apiVersion: z.string(),
  kind: z.enum(['Kustomization', 'Component']),
  resources: z.array(z.string()).default([]),
  components: z.array(z.string()).default([]),
  patches: z.array(z.strictObject({ path: z.string() })).default([]),
});

/**
 * deploy/ and the named components of it, such as `lights-out/webhook`.
 *
 * @throws Error where a patch fits no object, or an object comes twice, as from two components that replace each other.
 */
export function rendered(components: readonly string[] = []): readonly Manifest[] {
  const objects = ['', ...components].reduce<readonly Manifest[]>(withFolder, []);
  const ids = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`${twice} comes twice with ${components.join(', ')}`);
  return objects;
}

function withFolder(before: readonly Manifest[], folder: string): readonly Manifest[] {
  const text = readFileSync(join(DEPLOY, folder, 'kustomization.yaml'), 'utf8');
  const { resources, components, patches } = kustomization.parse(parse(text));
  const own = resources.map((name) => normalize(join(folder, name)));
  const isFolder = (path: string): boolean => statSync(join(DEPLOY, path)).isDirectory();
  const named = [...own.filter(isFolder), ...components.map((name) => normalize(join(folder, name)))];
  const below = named.reduce<readonly Manifest[]>(withFolder, before);
  const objects = [...below, ...own.filter((path) => !isFolder(path)).flatMap(objectsOf)];
  return patches.flatMap(({ path }) => objectsOf(join(folder, path))).reduce(withPatch, objects);
}

/** The objects of a file of deploy/. */
export function objectsOf(file: string): readonly Manifest[] {
  const known = read.get(file);
  if (known !== undefined) return known;
  const documents = parseAllDocuments(readFileSync(join(DEPLOY, file), 'utf8'));
  const objects = documents.map((document) => manifest.parse(document.toJS()));
  read.set(file, objects);
  return objects;
}
const read = new Map<string, readonly Manifest[]>();

function withPatch(objects: readonly Manifest[], patch: Manifest): readonly Manifest[] {
  const isPatched = ({ kind, metadata }: Manifest): boolean =>
    kind === patch.kind && metadata.name === patch.metadata.name && metadata.namespace === patch.metadata.namespace;
  if (!objects.some(isPatched)) throw new Error(`no ${patch.kind} ${patch.metadata.name} for a patch`);
  return objects.map((object) => (isPatched(object) ? manifest.parse(merged(object, patch)) : object));
}

/** A strategic merge, as far as deploy/ uses it: lists of named entries by their names. */
function merged(before: unknown, patch: unknown): unknown {
  if (isList(before) && isList(patch)) {
    const names = new Set(before.map(({ name }) => name));
    return [
      ...before.map((entry) => merged(entry, patch.find(({ name }) => name === entry.name) ?? {})),
      ...patch.filter(({ name }) => !names.has(name)),
    ];
  }
  if (!isRecord(before) || !isRecord(patch)) return patch;
  const keys = new Set([...Object.keys(before), ...Object.keys(patch)]);
  return Object.fromEntries(
    [...keys].map((key) => [
      key,
      key in patch && key in before ? merged(before[key], patch[key]) : (patch[key] ?? before[key]),
    ]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly Record<string, unknown>[] {
  return Array.isArray(value) && value.every((entry) => isRecord(entry) && typeof entry['name'] === 'string');
}
