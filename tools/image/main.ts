import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildImage, factsOfCheckout, writeRoot } from './build-image.ts';
import { newPins } from './downloads.ts';
import { ImageUnavailable, writePins } from './pins.ts';
import { ARCHITECTURES } from './platforms.ts';

/**
 * `npm run image` builds the image into `.headroom/image`. `--root FOLDER --architecture amd64|arm64` writes its file system alone;
 * `--pin` pins the packages that are served now.
 */

/** "A service is unavailable" and "the command was used incorrectly" of sysexits.h. */
const [EXIT_UNAVAILABLE, EXIT_USAGE] = [69, 64];

const IMAGE = fileURLToPath(new URL('../../.headroom/image', import.meta.url));

const DOCKERFILE = fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { pin: { type: 'boolean' }, root: { type: 'string' }, architecture: { type: 'string' } },
  });
  if (values.pin === true) {
    await writePins(await newPins());
    return 0;
  }
  if (values.root !== undefined) {
    const architecture = ARCHITECTURES.find((one) => one === values.architecture);
    if (architecture === undefined) {
      console.error(`--architecture is one of ${ARCHITECTURES.join(', ')}`);
      return EXIT_USAGE;
    }
    await writeRoot(values.root, architecture);
    return 0;
  }
  const facts = await factsOfCheckout(process.env);
  const digest = await buildImage(IMAGE, facts);
  console.log(`${IMAGE}: headroom ${facts.version}, ${digest}`);
  if (facts.source === undefined) console.log('It does not say where its source is: SOURCE_URL=https://… does');
  if (/BASE_DIGEST=sha256:0{64}$/m.test(await readFile(DOCKERFILE, 'utf8').catch(() => ''))) {
    console.log('deploy/Dockerfile has a placeholder for the digest of its base: docs/image.md says where to find it');
  }
  console.log(`Push it with \`skopeo copy --all oci:${join('.headroom', 'image')}:${facts.version} docker://…\``);
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ImageUnavailable)) throw error;
  console.error(error.message);
  process.exitCode = EXIT_UNAVAILABLE;
}
