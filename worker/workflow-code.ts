import { join } from 'node:path';

/** The workflows as the workers of a process load them: bundled, in the folder of the program. `npm run build` puts it there. */
export const workflowBundle = { codePath: join(import.meta.dirname, 'workflow-bundle.js') };
