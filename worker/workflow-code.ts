import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Runtime, type WorkerOptions } from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));

/**
 * The workflows as the workers of a process load them: bundled already, or bundled now from their source. That takes
 * a second and a compiler that unpacks itself below the user's home or `/tmp`, so a read-only image needs the bundle.
 *
 * @param bundle the path of a bundle, made by `npm run bundle`.
 */
export async function workflowBundle(
  bundle: string | undefined,
): Promise<NonNullable<WorkerOptions['workflowBundle']>> {
  if (bundle !== undefined) return { codePath: bundle };
  return await bundleWorkflowCode({ workflowsPath, logger: Runtime.instance().logger });
}

/** Writes the bundle of this source's workflows. */
export async function writeWorkflowBundle(path: string): Promise<void> {
  const { code } = await bundleWorkflowCode({ workflowsPath });
  await writeFile(path, code);
}
