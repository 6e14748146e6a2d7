/** `npm run bundle -- PATH`: writes the workflows' bundle for a worker that is not to make it itself, as in an image. */
import { exitCodes } from '../platform/process/exit-codes.ts';
import { writeWorkflowBundle } from './workflow-code.ts';

const [path, ...rest] = process.argv.slice(2);
if (path === undefined || rest.length > 0) {
  process.stderr.write(
    'expected one argument, the path of the bundle to write: npm run bundle -- workflow-bundle.js\n',
  );
  process.exit(exitCodes.configuration);
}
await writeWorkflowBundle(path);
