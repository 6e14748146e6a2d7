import { writeFileSync } from 'node:fs';
import { definitionFile, lightsOutFile } from './definition-file.ts';

/** Writes the definitions of custom resources from the types of the code: `npm run definitions`. */
writeFileSync(lightsOutFile, definitionFile());
