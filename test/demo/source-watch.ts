import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** The two processes of Headroom. */
export type ProcessName = 'worker' | 'starter';

/** The folders of the product's source, each with the processes that run what is in it. */
const RUN_BY: Readonly<Record<string, readonly ProcessName[]>> = {
  domain: ['worker', 'starter'],
  platform: ['worker', 'starter'],
  activities: ['worker'],
  // The starter takes the messages of the workflows from there.
  workflows: ['worker', 'starter'],
  worker: ['worker'],
  starter: ['starter'],
};

/** An editor writes a file in several steps, and a branch is switched file by file. Milliseconds. */
const DEBOUNCE_MS = 250;

/**
 * Watches the source below `root`, and tells what was changed once nothing has changed for a moment.
 *
 * @param onChange gets the files, relative to `root`, and the processes that run them.
 * @param debounceMs how long that moment is.
 * @returns what ends it.
 * @throws the file system's error when a folder cannot be watched.
 */
export function watchSource(
  root: string,
  onChange: (files: readonly string[], processes: ReadonlySet<ProcessName>) => void,
  debounceMs = DEBOUNCE_MS,
): () => void {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const notify = (): void => {
    const files = [...changed].toSorted();
    changed.clear();
    onChange(files, new Set(files.flatMap((file) => RUN_BY[file.split('/', 1)[0] ?? ''] ?? [])));
  };
  const watchers: FSWatcher[] = Object.keys(RUN_BY).map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (!name?.endsWith('.ts')) return;
      changed.add(join(folder, name));
      clearTimeout(timer);
      timer = setTimeout(notify, debounceMs);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
