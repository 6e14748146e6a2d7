import { join } from 'node:path';

/**
 * The workflows as the workers of a process load them: bundled, in the folder of the program. `npm run build` puts them there, once
 * as they are and once with what traces them.
 */
export function workflowBundle(isTraced: boolean): { readonly codePath: string } {
  return { codePath: join(import.meta.dirname, isTraced ? 'traced-workflow-bundle.js' : 'workflow-bundle.js') };
}
