/**
 * Files that are not read: too large, too costly, or no files at all. What anybody can write into a repository must not
 * cost more than this.
 */
import type { ReadLimits } from '../../../../kernel/forge.ts';
import type { SourceProblem } from '../../../model/observation.ts';

export interface UnreadFile {
  readonly why: 'TooLarge' | 'TooCostly' | 'NoFile';
  /** A phrase that follows the file's name: "is a symbolic link, which is not followed". */
  readonly message: string;
  /** Set where the file's bytes were searched for the word ResourceQuota, which is not in them. */
  readonly hasNoQuota?: true;
}

const MEGABYTE = 1_000_000;

export const symbolicLink: UnreadFile = { why: 'NoFile', message: 'is a symbolic link, which is not followed' };
export const submodule: UnreadFile = { why: 'NoFile', message: 'is a submodule, which is not read' };

export function tooLarge(bytes: number, { fileBytes }: Pick<ReadLimits, 'fileBytes'>): UnreadFile {
  const most = shownSize(fileBytes);
  return { why: 'TooLarge', message: `has ${shownSize(bytes)}, more than the ${most} that are read of a file` };
}

/** @param what what it exceeds: "5 s of CPU time". */
export function tooCostly(what: string): UnreadFile {
  return { why: 'TooCostly', message: `takes more than ${what} to read` };
}

/** The problem of a lookup that needs the file. */
export function problemOf({ why }: UnreadFile): SourceProblem {
  return why === 'NoFile' ? 'Unplaceable' : 'ContentTooCostly';
}

/**
 * What a file counts for at least where it comes over the network, as its part of a request: what names thousands of small
 * files must not cost thousands of times as much as it has bytes.
 */
export const LEAST_FILE_BYTES = 4_000;

/** A file that a lookup asks for, and its size where that is known. */
export interface AskedFile {
  readonly path: string;
  readonly size: number | undefined;
}

/**
 * Chooses what is read of the files that a lookup asks for. Where not all fit, the smallest are read: manifests of quotas
 * are small, and large files of one tenant then take nothing from another one's.
 *
 * @param bytesBefore the bytes that the lookup has read already.
 * @param leastBytes what a file counts for at least.
 */
export function chooseFiles(
  asked: readonly AskedFile[],
  bytesBefore: number,
  limits: ReadLimits,
  leastBytes = 0,
): { readonly read: readonly string[]; readonly unread: ReadonlyMap<string, UnreadFile>; readonly bytes: number } {
  const read: string[] = [];
  const unread = new Map<string, UnreadFile>();
  let bytes = bytesBefore;
  for (const { path, size = 0 } of asked.toSorted((a, b) => (a.size ?? 0) - (b.size ?? 0))) {
    const counted = Math.max(size, leastBytes);
    if (size > limits.fileBytes) {
      unread.set(path, tooLarge(size, limits));
    } else if (bytes + counted > limits.lookupBytes) {
      const most = shownSize(limits.lookupBytes);
      unread.set(path, { why: 'TooLarge', message: `is left out of the ${most} that one lookup reads` });
    } else {
      bytes += counted;
      read.push(path);
    }
  }
  return { read, unread, bytes };
}

/** A size for people, rounded up. */
function shownSize(bytes: number): string {
  return bytes < MEGABYTE ? `${Math.ceil(bytes / 1_000)} kB` : `${Math.ceil(bytes / 100_000) / 10} MB`;
}

/** How many files a sentence names; their number says the rest. */
const NAMES_SHOWN = 3;

/** `a.yaml is a symbolic link, which is not followed; b.yaml has 2 MB, …; and 4 more files` */
export function unreadText(files: ReadonlyMap<string, UnreadFile>): string {
  const shown = [...files].slice(0, NAMES_SHOWN).map(([path, { message }]) => `${path} ${message}`);
  const more = files.size - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more file${more === 1 ? '' : 's'}`] : [])].join('; ');
}
