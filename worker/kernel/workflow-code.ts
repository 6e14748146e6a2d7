import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkerOptions } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));

/**
 * The workflows as a worker loads them: bundled already, or their source, which is then bundled at every start. That takes
 * a second and a compiler that unpacks itself below the user's home or `/tmp`, so a read-only image needs the bundle.
 *
 * @param bundle the path of a bundle, made by `npm run bundle`.
 */
export function workflowCode(bundle: string | undefined): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  return bundle === undefined ? { workflowsPath } : { workflowBundle: { codePath: bundle } };
}

/** Writes the bundle of this source's workflows. */
export async function writeWorkflowBundle(path: string): Promise<void> {
  const { code } = await bundleWorkflowCode({ workflowsPath });
  await writeFile(path, code);
}
