import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { factsOfCheckout, isChanged } from '../image/build-image.ts';
import { ImageUnavailable } from '../image/pins.ts';
import { ReleaseRefused, releaseNotes } from './notes.ts';
import { writeRelease } from './write-release.ts';

/** `npm run release` writes the release of package.json's version into `.headroom/release`. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RELEASE = join(ROOT, '.headroom/release');

try {
  const facts = await factsOfCheckout(process.env);
  const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const charts: Record<string, string> = {};
  for (const path of ['deploy/chart/Chart.yaml', 'deploy/chart-crds/Chart.yaml']) {
    charts[path] = await readFile(join(ROOT, path), 'utf8');
  }
  const notes = releaseNotes({ version: facts.version, isChanged: await isChanged(), changelog, charts });
  await writeRelease(RELEASE, facts, notes);
  console.log(`${RELEASE}: headroom ${facts.version} at ${facts.revision}`);
} catch (error) {
  if (!(error instanceof ReleaseRefused) && !(error instanceof ImageUnavailable)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
