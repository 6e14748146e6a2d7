/** An image as the OCI Image Layout Specification 1.0.0 has it in a folder, and the OCI Image Specification 1.1 what is in it. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Layer } from './root.ts';
import type { Architecture } from './platforms.ts';
import { CONTAINER, type Facts, formatCreated, labelsOf } from './settings.ts';
import { writeTar } from './tar.ts';

const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string; readonly os: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Writes the image of one architecture or of several into a folder. */
export class OciLayout {
  readonly #folder: string;
  readonly #facts: Facts;
  readonly #manifests: Descriptor[] = [];

  /** @param folder an empty one, or none. */
  constructor(folder: string, facts: Facts) {
    this.#folder = folder;
    this.#facts = facts;
  }

  async add(architecture: Architecture, layers: readonly Layer[]): Promise<void> {
    const { created } = this.#facts;
    const written: { readonly diffId: string; readonly descriptor: Descriptor; readonly about: string }[] = [];
    for (const { about, entries } of layers) {
      const archive = await writeTar(entries, created);
      // Its header has neither a name nor a time.
      const descriptor = await this.#blob(MEDIA_TYPES.layer, gzipSync(archive));
      written.push({ diffId: digestOf(archive), descriptor, about });
    }
    const platform = { architecture, os: 'linux' };
    const config = await this.#json(MEDIA_TYPES.config, {
      created: formatCreated(created),
      ...platform,
      config: { ...CONTAINER, Labels: labelsOf(this.#facts) },
      rootfs: { type: 'layers', diff_ids: written.map(({ diffId }) => diffId) },
      history: written.map(({ about }) => ({ created: formatCreated(created), created_by: `make image: ${about}` })),
    });
    const manifest = await this.#json(MEDIA_TYPES.manifest, {
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.manifest,
      config,
      layers: written.map(({ descriptor }) => descriptor),
      annotations: labelsOf(this.#facts),
    });
    this.#manifests.push({ ...manifest, platform });
  }

  /** @returns the digest of the image, of all architectures. */
  async finish(): Promise<string> {
    const image = await this.#json(MEDIA_TYPES.index, {
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.index,
      manifests: this.#manifests,
      annotations: labelsOf(this.#facts),
    });
    // One image with one name: tools that push a layout refuse one that has several.
    const annotations = { 'org.opencontainers.image.ref.name': this.#facts.version };
    const index = { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: [{ ...image, annotations }] };
    await writeFile(join(this.#folder, 'index.json'), JSON.stringify(index));
    await writeFile(join(this.#folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    return image.digest;
  }

  async #json(mediaType: string, value: unknown): Promise<Descriptor> {
    return await this.#blob(mediaType, Buffer.from(JSON.stringify(value)));
  }

  async #blob(mediaType: string, content: Buffer): Promise<Descriptor> {
    const digest = digestOf(content);
    const blobs = join(this.#folder, 'blobs/sha256');
    await mkdir(blobs, { recursive: true });
    await writeFile(join(blobs, digest.replace('sha256:', '')), content);
    return { mediaType, digest, size: content.length };
  }
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
