/** The change of files as one unified diff for `git apply`. */
import { formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import type { FileEdit } from '../locate/location/location.ts';

/** Lines of context around a change, as in git. */
const CONTEXT = 3;
/**
 * The shortest diff takes time in the square of the lines that differ, some two seconds for as many as these. Where there are more, all
 * lines are replaced, which is correct and long.
 */
const MAX_EDIT_LENGTH = 5_000;

/** The diff of all files, sorted by path; empty when nothing changes. */
export function unifiedDiff(edits: readonly FileEdit[]): string {
  return edits
    .filter(({ before, after }) => before !== after)
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .map((edit) => formatPatch(patchOf(edit)))
    .join('');
}

function patchOf({ path, before, after }: FileEdit): StructuredPatch {
  const from = before === null ? '/dev/null' : `a/${path}`;
  const to = `b/${path}`;
  const options = { context: CONTEXT, maxEditLength: MAX_EDIT_LENGTH };
  const patch =
    structuredPatch(from, to, before ?? '', after, undefined, undefined, options) ??
    replaced(structuredPatch(from, to, before ?? '', ''), structuredPatch(from, to, '', after));
  return { ...patch, isGit: true, ...(before === null ? { isCreate: true } : {}) };
}

/** The patch that removes all lines and adds others. */
function replaced(removing: StructuredPatch, adding: StructuredPatch): StructuredPatch {
  const [removed, added] = [removing.hunks[0], adding.hunks[0]];
  if (removed === undefined || added === undefined) return removed === undefined ? adding : removing;
  const { oldStart, oldLines } = removed;
  const { newStart, newLines } = added;
  const lines = [...removed.lines, ...added.lines];
  return { ...adding, hunks: [{ oldStart, oldLines, newStart, newLines, lines }] };
}
