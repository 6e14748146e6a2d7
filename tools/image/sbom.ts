/** The packages that are in the image, as CycloneDX. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { packagesOf } from '../programs/licenses.ts';
import { NODE_VERSION, type Pins } from './pins.ts';
import { ARCHITECTURES } from './platforms.ts';
import { type Facts, formatCreated } from './settings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What `npm sbom` says of one package, of which everything is kept. */
const component = z.looseObject({ 'bom-ref': z.string(), name: z.string(), version: z.string() });

const bill = z.looseObject({
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

type Component = z.infer<typeof component>;

/**
 * `npm sbom` has all packages that are installed; of these, the image has those whose licenses it has.
 *
 * @param programs the folder that `npm run build` wrote.
 */
export async function billOfMaterials(programs: string, pins: Pins, facts: Facts): Promise<object> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const { metadata, components, dependencies, ...rest } = bill.parse(JSON.parse(stdout));
  const licenses = await readFile(join(programs, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bundled = new Set(packagesOf(licenses).map(({ name, version }) => `${name}@${version}`));
  const ofNpm = components.filter(({ name, version }) => bundled.has(`${name}@${version}`));
  const known = new Set(ofNpm.map(({ name, version }) => `${name}@${version}`));
  const missing = [...bundled].filter((name) => !known.has(name));
  if (missing.length > 0) throw new Error(`npm sbom has nothing of ${missing.join(', ')}`);
  const others = [...debianComponents(pins), nodeComponent()];
  const all = [...ofNpm, ...others].toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const refs = new Set([...all.map((one) => one['bom-ref']), metadata.component['bom-ref']]);
  const { serialNumber: _, ...described } = rest;
  return {
    ...described,
    metadata: {
      ...metadata,
      timestamp: formatCreated(facts.created),
      component: { ...metadata.component, type: 'container', name: 'headroom' },
    },
    components: all,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
}

function debianComponents({ debian, packages }: Pins): readonly Component[] {
  return Object.entries(packages).flatMap(([name, { version, sha256 }]) =>
    ARCHITECTURES.map((architecture) => {
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${debian}`;
      const hashes = [{ alg: 'SHA-256', content: sha256[architecture] }];
      return { 'bom-ref': purl, type: 'library', name, version, purl, hashes };
    }),
  );
}

function nodeComponent(): Component {
  const purl = `pkg:generic/node@${NODE_VERSION}`;
  const licenses = [{ license: { id: 'MIT' } }];
  return { 'bom-ref': purl, type: 'platform', name: 'node', version: NODE_VERSION, purl, licenses };
}
