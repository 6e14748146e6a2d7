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

/** Letters to insert, delete or replace to turn one word into the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
