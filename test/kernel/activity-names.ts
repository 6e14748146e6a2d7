import { readdir, readFile } from 'node:fs/promises';

/**
 * The names of all activities, as the controllers' `interface.ts` declare them to the workflows.
 *
 * @param without the folders of controllers that are left out.
 */
export async function declaredActivities(without: readonly string[] = []): Promise<string[]> {
  const folder = new URL('../../activities/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('interface.ts') && !without.some((folder) => file.startsWith(`${folder}/`)),
  );
  const sources = await Promise.all(files.map(async (file) => await readFile(new URL(file, folder), 'utf8')));
  return sources.flatMap((source) =>
    [...source.matchAll(/^ {2}((?:observe|await|ensure)\w+)\(/gm)].map(([, name]) => name ?? ''),
  );
}
