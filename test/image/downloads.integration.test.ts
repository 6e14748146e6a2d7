/** What is said where a pinned package cannot be had, by Debian's own tools. */
import { expect, it } from 'vitest';
import { download } from '../../tools/image/downloads.ts';
import { type Pins, readPins } from '../../tools/image/pins.ts';

/** Milliseconds: apt reads the lists of a release. */
const APT_MS = 120_000;
const NONE = '0'.repeat(64);

async function withZones(change: (zones: Pins['packages'][string]) => Pins['packages'][string]): Promise<Pins> {
  const pins = await readPins();
  const zones = pins.packages['tzdata'];
  if (zones === undefined) throw new Error('tzdata is not pinned');
  return { ...pins, packages: { tzdata: change(zones) } };
}

it('a version that is no longer served is named, with the command that pins anew', { timeout: APT_MS }, async () => {
  const pins = await withZones((zones) => ({ ...zones, version: '1999a-1', sha256: { amd64: NONE, arm64: NONE } }));
  await expect(download(pins, 'arm64')).rejects.toThrow(
    /^packages for arm64 cannot be had from Debian \(.*1999a-1.*tzdata.*\): build on Debian bookworm.*npm run image -- --pin/,
  );
});

it('a package with another checksum is not taken', { timeout: APT_MS }, async () => {
  const pins = await withZones((zones) => ({ ...zones, sha256: { amd64: NONE, arm64: NONE } }));
  await expect(download(pins, 'arm64')).rejects.toThrow(
    `the package tzdata ${pins.packages['tzdata']?.version} of arm64 does not have the pinned checksum ${NONE}`,
  );
});
