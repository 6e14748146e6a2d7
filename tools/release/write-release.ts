import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildImage } from '../image/build-image.ts';
import { below } from '../image/entry.ts';
import { ARCHITECTURES } from '../image/platforms.ts';
import { programFiles } from '../image/root.ts';
import type { Facts } from '../image/settings.ts';
import { entriesBelow, writeTar } from '../image/tar.ts';
import { ensurePrograms } from '../programs/ensure-programs.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const DEFINITIONS = join(DEPLOY, 'chart-crds/definitions');
/** The charts by their names, in which Helm looks for their files. */
const CHARTS = { headroom: join(DEPLOY, 'chart'), 'headroom-crds': join(DEPLOY, 'chart-crds') };

/**
 * Writes the files of a release into a folder, in place of what was there: for each platform the image as a layout and the
 * programs, the charts, `install.yaml`, the definitions, the bill of materials, the notes, and the checksums of all of them.
 *
 * @param notes what is new, as Markdown.
 */
export async function writeRelease(folder: string, facts: Facts, notes: string): Promise<void> {
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  const name = `headroom-${facts.version}`;
  const put = async (file: string, content: Buffer | string): Promise<void> => {
    await writeFile(join(partial, file), content);
  };
  const programs = await ensurePrograms();
  const images = await mkdtemp(`${folder}.images-`);
  try {
    for (const architecture of ARCHITECTURES) {
      const image = join(images, architecture);
      await buildImage(image, facts, [architecture]);
      await put(`${name}-image-linux-${architecture}.tar`, await writeTar(await entriesBelow(image), facts.created));
      const files = below(name, await programFiles(architecture, programs));
      await put(`${name}-linux-${architecture}.tar.gz`, gzipSync(await writeTar(files, facts.created)));
      // It names the packages of both.
      await put(`${name}.cdx.json`, await readFile(`${image}.cdx.json`));
    }
  } finally {
    await rm(images, { recursive: true, force: true });
  }
  for (const [chart, source] of Object.entries(CHARTS)) {
    const archive = await writeTar(below(chart, await entriesBelow(source)), facts.created);
    await put(`${chart}-${facts.version}.tgz`, gzipSync(archive));
  }
  await put(`${name}-install.yaml`, await readFile(join(DEPLOY, 'install.yaml')));
  await put(`${name}-definitions.yaml`, await definitions());
  await put('notes.md', notes);
  await put('SHA256SUMS', await checksums(partial));
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

/** All of them in one file, for `kubectl apply --server-side -f`. */
async function definitions(): Promise<string> {
  const files = (await readdir(DEFINITIONS)).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml');
  const texts = await Promise.all(
    files.toSorted().map(async (file) => await readFile(join(DEFINITIONS, file), 'utf8')),
  );
  return texts.map((text) => text.replace(/^---\n/, '')).join('---\n');
}

/** As `sha256sum --check` reads them. */
async function checksums(folder: string): Promise<string> {
  const lines = (await readdir(folder)).toSorted().map(async (file) => {
    const hash = createHash('sha256').update(await readFile(join(folder, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  return (await Promise.all(lines)).join('');
}
