/** A copy of the workflows' sources, changed as a developer might change it, and with decisions that tell what they decided. */
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A change to one file, as a developer might make it. */
export interface Change {
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A function that returns a verdict, alone or as the last of a tuple: the decision of a controller. */
export interface TracedDecision {
  /** From the root of the project. */
  readonly file: string;
  readonly name: string;
  /** `given`: the verdict is its first argument, which it only describes. Default: `returned`. */
  readonly verdict?: 'returned' | 'given';
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
export async function changedWorkflows(
  changes: readonly Change[],
  decisions: readonly TracedDecision[] = [],
): Promise<ChangedWorkflows> {
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
  for (const { file, name, verdict = 'returned' } of decisions) {
    const untraced = file.replace(/\.ts$/, '.untraced.ts');
    await rename(join(copy, file), join(copy, untraced));
    await writeFile(join(copy, file), tracing(`./${basename(untraced)}`, name, verdict));
  }
  return { workflowsPath: join(copy, 'workflows', 'index.ts'), remove };
}

/** A module in the place of another one, whose decision also tells the kind of its verdict. */
function tracing(untraced: string, name: string, verdict: 'returned' | 'given'): string {
  const told = verdict === 'given' ? 'input[0]' : '[decided].flat().at(-1)';
  return `
import { proxySinks } from '@temporalio/workflow';
import { ${name} as untraced } from '${untraced}';
export * from '${untraced}';
export function ${name}(...input) {
  const decided = untraced(...input);
  proxySinks().trace.verdict(${told}.kind);
  return decided;
}
`;
}
