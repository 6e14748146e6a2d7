import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import type { Environment } from './go-build.ts';

/** What is looked for, and how one knows that it is the right one. */
export interface Wanted {
  readonly name: string;
  /** Such as "1.35.4"; one of the same major.minor fits. */
  readonly version: string;
  /** How it is asked for its version, and where that is in what it prints. */
  readonly versionArguments: readonly string[];
  readonly printedVersion: RegExp;
}

/** The folder that holds what was built and unpacked: `$XDG_CACHE_HOME/headroom`, or `~/.cache/headroom`. */
export function cacheFolder(environment: Environment): string {
  const base = environment['XDG_CACHE_HOME'];
  // The XDG specification has relative paths ignored.
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), '.cache'), 'headroom');
}

/** The first executable on PATH of the right version, or undefined. */
export async function findOnPath(wanted: Wanted, environment: Environment): Promise<string | undefined> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter)) {
    const candidate = join(folder, wanted.name);
    if (isAbsolute(folder) && (await isExecutable(candidate)) && (await fits(candidate, wanted))) {
      return candidate;
    }
  }
  return undefined;
}

/** Whether an executable starts, and is of the right version. */
export async function fits(binary: string, wanted: Wanted): Promise<boolean> {
  const found = await printedVersion(binary, wanted);
  return found !== undefined && majorMinor(found) === majorMinor(wanted.version);
}

/** The version that an executable says it has; undefined where it does not start or says none. */
export async function printedVersion(binary: string, wanted: Wanted): Promise<string | undefined> {
  try {
    // A binary that does not respond in this time (milliseconds) is not the expected server. The right one has a
    // hundred megabytes, which a busy machine reads for seconds, and rejecting it costs a build of minutes.
    const { stdout, stderr } = await promisify(execFile)(binary, [...wanted.versionArguments], { timeout: 60_000 });
    return wanted.printedVersion.exec(`${stdout}\n${stderr}`)?.[1];
  } catch {
    return undefined;
  }
}

function majorMinor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

export async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
