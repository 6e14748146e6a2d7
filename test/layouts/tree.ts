/** The example repositories of this folder, and others made in memory, as trees. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TreeSnapshot, MissingFiles } from '../../domain/quota-resize/git/locate/location/location.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

export type Files = Readonly<Record<string, string>>;

/** The files of an example: `plain`, `kustomize`, `helm`, `argo` or `flux`. */
export function layoutFiles(name: string): Files {
  const root = join(FOLDER, name);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((file) => [file.slice(root.length + 1), readFileSync(file, 'utf8')]),
  );
}

/** A tree of which everything is known. */
export function wholeTree(files: Files): TreeSnapshot {
  return { paths: Object.keys(files).toSorted(), texts: new Map(Object.entries(files)) };
}

/** Asks as over the network, where only what is asked for is read; tells the answer, and what was read for it. */
export function ask<T extends { readonly kind: string }>(
  files: Files,
  question: (tree: TreeSnapshot) => T | MissingFiles,
): { readonly answer: Exclude<T, MissingFiles>; readonly read: readonly string[] } {
  const paths = Object.keys(files).toSorted();
  const texts = new Map<string, string | null>();
  for (;;) {
    const answer = question({ paths, texts: new Map(texts) });
    if (answer.kind !== 'missingFiles') {
      return { answer: answer as Exclude<T, MissingFiles>, read: [...texts.keys()] };
    }
    for (const path of (answer as MissingFiles).paths) {
      const text = files[path];
      if (text === undefined || texts.has(path)) {
        throw new Error(`${path} was asked for, and ${text === undefined ? 'is not there' : 'had been read already'}`);
      }
      texts.set(path, text);
    }
  }
}
