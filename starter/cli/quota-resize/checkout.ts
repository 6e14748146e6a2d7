/** A local checkout as a tree: what git would carry of a folder, or, without git, what is in it. */
import { execFileSync } from 'node:child_process';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type ContentReader,
  contentReader,
  isMissingFiles,
} from '../../../activities/quota-resize/source/content/content-reader.ts';
import { isKustomizationFile, isManifestFile } from '../../../domain/quota-resize/git/locate/tree/paths.ts';
import type {
  QuestionKind,
  TreeAnswer,
  TreeQuestion,
} from '../../../domain/quota-resize/git/locate/question/question.ts';
import { mattersToScan } from '../../../domain/quota-resize/git/locate/scan/inventory.ts';
import { chooseFiles, symbolicLink, type UnreadFile } from '../../../domain/quota-resize/git/locate/tree/unread.ts';
import { DEFAULT_READ_LIMITS, type ReadLimits } from '../../../domain/kernel/forge.ts';

/** git's own rule for binary files: a zero byte among the first 8,000. */
const BINARY_PREFIX = 8_000;

/** The folder cannot be read; the message says why. */
export class CheckoutError extends Error {
  override readonly name = 'CheckoutError';
}

export interface Checkout {
  readonly root: string;
  /** The way from the top of the git work tree to the root, with a slash at its end; empty at the top, and without git. */
  readonly prefix: string;
  readonly paths: readonly string[];
  /** The texts read so far; `answered` adds those that it needs. */
  readonly texts: Map<string, string | null>;
  readonly unread: Map<string, UnreadFile>;
  /** The bytes of the texts. */
  bytes: number;
  readonly limits: ReadLimits;
}

/**
 * Reads the checkout in a folder, given by its whole path. Files that git ignores are left out; symbolic links, and what
 * is more than the limits, are in it by their names only.
 *
 * @throws {CheckoutError} when the folder is not there or cannot be read.
 */
export function readCheckout(root: string, limits: ReadLimits = DEFAULT_READ_LIMITS): Checkout {
  assertFolder(root);
  const unread = new Map<string, UnreadFile>();
  const files: { path: string; size: number }[] = [];
  for (const path of trackedPaths(root) ?? walkedPaths(root, '')) {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isFile() === true) files.push({ path, size: stats.size });
    else if (stats?.isSymbolicLink() === true) unread.set(path, symbolicLink);
  }
  const paths = [...files.map(({ path }) => path), ...unread.keys()].toSorted();
  const checkout = { root, prefix: prefixOf(root), paths, texts: new Map<string, string | null>(), unread, limits };
  return { ...checkout, bytes: readAll(checkout, files) };
}

/** Reads what matters to a scan, the smallest files first, until the limit; returns the bytes. */
function readAll(
  { root, texts, unread, limits }: Omit<Checkout, 'bytes'>,
  files: readonly { readonly path: string; readonly size: number }[],
): number {
  let bytes = 0;
  for (const file of files.toSorted((a, b) => a.size - b.size)) {
    const { path, size } = file;
    if (!isManifestFile(path) && !isKustomizationFile(path)) continue;
    const { unread: left } = chooseFiles([file], bytes, limits);
    const why = left.get(path);
    if (why !== undefined) {
      unread.set(path, mayMatter(root, path) ? why : { ...why, hasNoQuota: true });
      continue;
    }
    const text = textOf(join(root, path));
    if (text !== null && mattersToScan(path, text)) {
      texts.set(path, text);
      bytes += size;
    }
  }
  return bytes;
}

/** Whether a file that is not read may affect quotas. Its bytes are searched, which costs no more than to read them. */
function mayMatter(root: string, path: string): boolean {
  return isKustomizationFile(path) || mattersToScan(path, '') || hasWord(join(root, path), 'ResourceQuota');
}

const SEARCHED_AT_ONCE = 1_000_000;

function hasWord(file: string, word: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(SEARCHED_AT_ONCE + word.length);
    let kept = 0;
    for (;;) {
      const length = readSync(descriptor, buffer, kept, SEARCHED_AT_ONCE, null);
      if (length === 0) return false;
      const end = kept + length;
      if (buffer.subarray(0, end).includes(word)) return true;
      // The word may begin in this piece and end in the next one.
      kept = Math.min(end, word.length - 1);
      buffer.copy(buffer, 0, end - kept, end);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Has a question answered in a thread, reading the files that it needs. A file that takes too much is left out, and is in
 * `unread` from then on.
 *
 * @throws {CheckoutError} when too much was taken, and no file is the reason.
 */
export async function answered<Kind extends QuestionKind>(
  checkout: Checkout,
  question: TreeQuestion<Kind>,
  reader: ContentReader = contentReader,
): Promise<TreeAnswer<Kind>> {
  const budget = { cpuMs: reader.options.cpuMs, isForEachFile: true };
  for (;;) {
    const outcome = await reader.ask(checkout, question as TreeQuestion, budget);
    if (outcome.kind === 'tooMuch') {
      const why = reader.reasonOf(outcome);
      const { path } = outcome;
      if (path === null || checkout.unread.has(path))
        throw new CheckoutError(`${path ?? checkout.root} ${why.message}`);
      checkout.unread.set(path, why);
    } else if (isMissingFiles(outcome.answer)) {
      readMissing(checkout, outcome.answer.paths);
    } else {
      return outcome.answer as TreeAnswer<Kind>;
    }
  }
}

function readMissing(checkout: Checkout, paths: readonly string[]): void {
  const { root, texts, limits } = checkout;
  const asked = paths.map((path) => ({ path, size: lstatSync(join(root, path)).size }));
  const { read, unread, bytes } = chooseFiles(asked, checkout.bytes, limits);
  checkout.bytes = bytes;
  for (const [path, why] of unread) checkout.unread.set(path, why);
  for (const path of read) texts.set(path, textOf(join(root, path)));
}

/** The folder in which the command was called: npm runs a script in the folder of its package. */
export function startedIn(env: Readonly<Record<string, string | undefined>>): string {
  const { INIT_CWD: called, npm_package_json: packageFile } = env;
  const cwd = process.cwd();
  return called !== undefined && packageFile !== undefined && dirname(packageFile) === cwd ? called : cwd;
}

function assertFolder(root: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(root).isDirectory();
  } catch (error) {
    throw new CheckoutError(`the folder ${root} cannot be read: ${reasonOf(error)}`);
  }
  if (!isFolder) {
    throw new CheckoutError(`${root} is not a folder: give the root of a checkout`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function prefixOf(root: string): string {
  try {
    const output = execFileSync('git', ['rev-parse', '--show-prefix'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.toString('utf8').replace(/\n$/, '');
  } catch {
    return '';
  }
}

/** The files that git tracks or would add; undefined without a work tree or without git. */
function trackedPaths(root: string): readonly string[] | undefined {
  try {
    // No file system monitor: a checkout must not be able to run a program.
    const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const output = execFileSync('git', args, { cwd: root, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
    return [
      ...new Set(
        output
          .toString('utf8')
          .split('\0')
          .filter((path) => path !== ''),
      ),
    ];
  } catch {
    return undefined;
  }
}

function* walkedPaths(root: string, folder: string): Generator<string> {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch (error) {
    throw new CheckoutError(`the folder ${join(root, folder)} cannot be read: ${reasonOf(error)}`);
  }
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== '.git') {
      yield* walkedPaths(root, path);
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      yield path;
    }
  }
}

/** Null for what is binary or not UTF-8. A byte order mark stays, so that a file can be written back as it was. */
function textOf(file: string): string | null {
  const bytes = readFileSync(file);
  if (bytes.subarray(0, BINARY_PREFIX).includes(0)) {
    return null;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
