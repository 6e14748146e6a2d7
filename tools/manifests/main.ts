import { writeFileSync } from 'node:fs';
import { manifestFiles } from './manifest-files.ts';

/** Writes the manifests that are made from the code: `npm run manifests`. */
const deploy = new URL('../../deploy/', import.meta.url);
for (const [path, text] of manifestFiles()) writeFileSync(new URL(path, deploy), text);
