/** `npm run conformance -- DIR`: 0 when no case disagrees, 1 when one does, 2 when the cases cannot be read. */
import { CasesUnreadable, runConformance } from './run.ts';

const DEFAULT_DIRECTORY = 'test/cases';

try {
  const { lines, passed, failed, notApplicable } = runConformance(process.argv[2] ?? DEFAULT_DIRECTORY);
  for (const line of lines) {
    console.log(line);
  }
  console.log(`${notApplicable} not applicable`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof CasesUnreadable)) {
    throw error;
  }
  console.error(`conformance: ${error.message}`);
  process.exitCode = 2;
}
