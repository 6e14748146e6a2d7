import { mkdirSync, writeFileSync } from 'node:fs';
import { manifestFiles } from './manifest-files.ts';
import { installManifest } from './render-chart.ts';

/** Writes what of deploy/ is made from the code, and what is rendered from that: `npm run manifests`. */
const deploy = new URL('../../deploy/', import.meta.url);
for (const [path, text] of manifestFiles()) {
  const file = new URL(path, deploy);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}
writeFileSync(new URL('install.yaml', deploy), await installManifest());
