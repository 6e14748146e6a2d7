import { readdir, readFile } from 'node:fs/promises';

/** The names of all activities, as the controllers' `interface.ts` declare them to the workflows. */
export async function declaredActivities(): Promise<string[]> {
  const folder = new URL('../../activities/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('interface.ts'));
  const sources = await Promise.all(files.map(async (file) => await readFile(new URL(file, folder), 'utf8')));
  return sources.flatMap((source) =>
    [...source.matchAll(/^ {2}((?:observe|await|ensure)\w+)\(/gm)].map(([, name]) => name ?? ''),
  );
}
