import { editDistance } from '../../domain/kernel/edit-distance.ts';

/**
 * The most similar known name, for "did you mean": at most a third of its letters may differ, and case and the
 * separators `-`, `_` and `.` are ignored.
 */
export function closest(written: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(plain(written), plain(name));
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(plain(name).length / 3))) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '');
}
