import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../resolver/find-executable.ts';
import { git } from './git.ts';

/** What was tested: the tree of the commit, and whether the files were those of that tree. */
export interface TestedTree {
  readonly tree: string;
  readonly clean: boolean;
}

/** A line of `gate.jsonl`: what is about to land is looked up in it by its tree. */
export interface GateEntry extends TestedTree {
  readonly ring: string;
  /** From the start of `make`, npm's installation included. */
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  /** The files of the core that failed first and passed when they were run again alone, with their first failure. */
  readonly flaky: readonly string[];
}

/**
 * The tree that is checked out in the current folder.
 *
 * @throws Error where git knows none, as in an unpacked archive.
 */
export async function testedTree(): Promise<TestedTree> {
  const tree = await git('rev-parse', 'HEAD^{tree}');
  return { tree, clean: (await git('status', '--porcelain', '--untracked-files=normal')) === '' };
}

/** Adds a line to `gate.jsonl` in Headroom's cache folder, and returns the path of that file. */
export async function writeGateEntry(entry: GateEntry, environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const folder = cacheFolder(environment);
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'gate.jsonl');
  await appendFile(file, `${JSON.stringify(entry)}\n`);
  return file;
}
