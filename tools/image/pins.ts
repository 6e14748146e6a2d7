import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import packageLock from '../../package-lock.json' with { type: 'json' };

/** Why no image can be made here, in one sentence. */
export class ImageUnavailable extends Error {}

const PINS_FILE = join(import.meta.dirname, 'pins.json');

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const pinnedPackage = z.strictObject({
  version: z.string(),
  /** Of the package's file for each architecture; the same twice where it is for all. */
  sha256: z.strictObject({ amd64: sha256, arm64: sha256 }),
});

const pins = z.strictObject({
  /** Debian's release: packages of another one are others. */
  debian: z.string(),
  packages: z.record(z.string(), pinnedPackage),
  node: z.strictObject({
    version: z.string(),
    /** As npm says it of the package with Node for that architecture. */
    integrity: z.strictObject({ amd64: z.string(), arm64: z.string() }),
  }),
});

export type Pins = z.infer<typeof pins>;

/** The packages of Debian that the image has files of. */
export const DEBIAN_PACKAGES = [
  'base-files',
  'ca-certificates',
  'gcc-12-base',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'tzdata',
] as const;

/** The version of Node that tests and checks run on, which is that of the image. */
export const NODE_VERSION = packageLock.packages['node_modules/node'].version;

/** @throws ImageUnavailable when they are not those of the lock file. */
export async function readPins(): Promise<Pins> {
  const read = pins.parse(JSON.parse(await readFile(PINS_FILE, 'utf8')));
  if (read.node.version !== NODE_VERSION) {
    throw new ImageUnavailable(
      `package-lock.json has Node ${NODE_VERSION}, and tools/image/pins.json pins ${read.node.version}: \`npm run image -- --pin\` pins it anew`,
    );
  }
  return read;
}

export async function writePins(found: Pins): Promise<void> {
  await writeFile(PINS_FILE, `${JSON.stringify(pins.parse(found), null, 2)}\n`);
}
