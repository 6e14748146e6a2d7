import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A change to one file, as a developer might make it. */
export interface Change {
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A copy of the workflows' sources with changes, to be bundled; `remove` when done. */
export interface ChangedWorkflows {
  readonly workflowsPath: string;
  readonly remove: () => Promise<void>;
}

/**
 * Copies what the workflow bundle is made of, and changes it.
 *
 * @throws Error when the text to change is not there exactly once: then the test would prove nothing.
 */
export async function changedWorkflows(changes: readonly Change[]): Promise<ChangedWorkflows> {
  // Inside of the project, so that the packages are found from there.
  await mkdir(join(ROOT, '.headroom'), { recursive: true });
  const copy = await mkdtemp(join(ROOT, '.headroom', 'changed-workflows-'));
  await Promise.all(
    ['workflows', 'domain'].map(
      async (folder) => await cp(join(ROOT, folder), join(copy, folder), { recursive: true }),
    ),
  );
  const remove = async () => await rm(copy, { recursive: true, force: true });
  for (const { file, from, to } of changes) {
    const [before, after, ...more] = (await readFile(join(copy, file), 'utf8')).split(from);
    if (before === undefined || after === undefined || more.length > 0) {
      await remove();
      throw new Error(`${file} has not exactly one "${from}": choose another line to change`);
    }
    await writeFile(join(copy, file), `${before}${to}${after}`);
  }
  return { workflowsPath: join(copy, 'workflows', 'index.ts'), remove };
}
