/** A local checkout as a tree: what git would carry of a folder, or, without git, what is in it. */
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isManifestFile } from '../../../domain/quota-resize/git/locate/tree/paths.ts';
import { isKustomizationFile } from '../../../domain/quota-resize/git/locate/kustomize/kustomization.ts';
import type { TreeSnapshot, MissingFiles } from '../../../domain/quota-resize/git/locate/location/location.ts';
import { mattersToScan } from '../../../domain/quota-resize/git/locate/scan/inventory.ts';

/** A larger file is no manifest that people write; GitHub does not show it either. */
const MAX_BYTES = 5 * 1024 * 1024;
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
}

/**
 * Reads a checkout. Files that git ignores, symbolic links, and whatever is larger than 5 MB are left out.
 *
 * @throws {CheckoutError} when the folder is not there or cannot be read.
 */
export function readCheckout(folder: string): Checkout {
  const root = resolve(startedIn(), folder);
  assertFolder(root);
  const paths = (trackedPaths(root) ?? [...walkedPaths(root, '')]).toSorted();
  const files: string[] = [];
  const texts = new Map<string, string | null>();
  for (const path of paths) {
    const size = sizeOf(join(root, path));
    if (size === undefined || size > MAX_BYTES) {
      continue;
    }
    files.push(path);
    if (isManifestFile(path) || isKustomizationFile(path)) {
      const text = textOf(join(root, path));
      if (text !== null && mattersToScan(path, text)) {
        texts.set(path, text);
      }
    }
  }
  return { root, prefix: prefixOf(root), paths: files, texts };
}

/** Repeats a question, reading the files that it needs, until it needs no more. */
export function answered<T extends { readonly kind: string }>(
  { root, paths, texts }: Checkout,
  ask: (tree: TreeSnapshot) => T | MissingFiles,
): Exclude<T, MissingFiles> {
  for (;;) {
    const answer = ask({ paths, texts });
    if (answer.kind !== 'missingFiles') {
      return answer as Exclude<T, MissingFiles>;
    }
    for (const path of (answer as MissingFiles).paths) {
      texts.set(path, textOf(join(root, path)));
    }
  }
}

/** The folder in which the command was called: npm runs a script in the folder of its package. */
function startedIn(): string {
  const { INIT_CWD: called, npm_package_json: packageFile } = process.env;
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
    } else if (entry.isFile()) {
      yield path;
    }
  }
}

/** Undefined for what is no plain file, or is gone. */
function sizeOf(file: string): number | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : undefined;
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
