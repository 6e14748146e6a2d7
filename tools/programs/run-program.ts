import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensurePrograms } from './ensure-programs.ts';
import type { ProgramName } from './program-names.ts';

/** Runs one of the programs in this process, with these arguments. */
export async function runProgram(name: ProgramName, args: readonly string[]): Promise<void> {
  const folder = await ensurePrograms();
  const file = join(folder, `${name}.js`);
  enableCompileCache(join(folder, 'compiled'));
  process.argv = [process.execPath, file, ...args];
  const program = (await import(pathToFileURL(file).href)) as { readonly start?: () => void };
  // Where it is not the process's own file, it waits to be started.
  program.start?.();
}
