import { execFile } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { ensurePrograms } from '../programs/ensure-programs.ts';
import { download } from './downloads.ts';
import { withFolders } from './entry.ts';
import { OciLayout } from './oci-layout.ts';
import { ImageUnavailable, readPins } from './pins.ts';
import { type Architecture, ARCHITECTURES } from './platforms.ts';
import { type Layer, layersOf } from './root.ts';
import { billOfMaterials } from './sbom.ts';
import type { Facts } from './settings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Writes an OCI layout, in place of what was there, and beside it what is in the image: `FOLDER.cdx.json`.
 *
 * @returns the digest of the image.
 * @throws ImageUnavailable when a package cannot be had, or nothing says which commit this is.
 */
export async function buildImage(
  folder: string,
  facts: Facts,
  architectures: readonly Architecture[] = ARCHITECTURES,
): Promise<string> {
  const [pins, programs] = await Promise.all([readPins(), ensurePrograms()]);
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  const layout = new OciLayout(partial, facts);
  for (const architecture of architectures) {
    await layout.add(architecture, await layersOf(architecture, await download(pins, architecture), programs));
  }
  const digest = await layout.finish();
  const bill = await billOfMaterials(programs, pins, facts);
  await writeFile(`${folder}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
  return digest;
}

/** Writes the file system of the image into a folder, for those who build with Docker. */
export async function writeRoot(folder: string, architecture: Architecture): Promise<void> {
  const [pins, programs] = await Promise.all([readPins(), ensurePrograms()]);
  const layers: readonly Layer[] = await layersOf(architecture, await download(pins, architecture), programs);
  for (const entry of withFolders(layers.flatMap(({ entries }) => entries))) {
    const path = join(folder, entry.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    if (entry.kind === 'folder') await mkdir(path, { recursive: true, mode: 0o755 });
    else if (entry.kind === 'link') await symlink(entry.target, path);
    else await writeFile(path, entry.content, { mode: entry.mode });
  }
}

/**
 * What git, package.json and the environment say: SOURCE_DATE_EPOCH (seconds) and REVISION in place of the commit, and SOURCE_URL,
 * which neither of the two knows.
 *
 * @throws ImageUnavailable where there is no commit either.
 */
export async function factsOfCheckout(environment: Readonly<Record<string, string | undefined>>): Promise<Facts> {
  const epoch = environment['SOURCE_DATE_EPOCH'] ?? (await git(['log', '-1', '--format=%ct']));
  const seconds = Number(epoch);
  if (!Number.isSafeInteger(seconds) || seconds < 0) {
    throw new ImageUnavailable(`SOURCE_DATE_EPOCH is ${epoch}: it has to be seconds since 1970`);
  }
  const revision = environment['REVISION'] ?? (await revisionOfCheckout());
  const source = environment['SOURCE_URL'] || undefined;
  return { version: packageJson.version, revision, created: new Date(seconds * 1000), source };
}

async function revisionOfCheckout(): Promise<string> {
  const [commit, changed] = await Promise.all([git(['rev-parse', 'HEAD']), isChanged()]);
  return changed ? `${commit}-dirty` : commit;
}

/** Whether files differ from the commit. */
export async function isChanged(): Promise<boolean> {
  return (await git(['status', '--porcelain'])) !== '';
}

async function git(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('git', [...args], { cwd: ROOT })).stdout.trim();
  } catch (error) {
    throw new ImageUnavailable(
      `git does not say which commit this is, so set SOURCE_DATE_EPOCH and REVISION: ${String(error)}`,
    );
  }
}
