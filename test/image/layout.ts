import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { digestOf } from '../../tools/image/oci-layout.ts';
import { type Member, readTar } from '../../tools/image/tar.ts';

/** What the OCI Image Specification asks of each kind of document, as far as an image for Linux has it. */
const sha256 = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const annotations = z.record(z.string(), z.string());
const descriptor = <Type extends string>(mediaType: Type) =>
  z.strictObject({
    mediaType: z.literal(mediaType),
    digest: sha256,
    size: z.int().positive(),
    platform: z.strictObject({ architecture: z.enum(['amd64', 'arm64']), os: z.literal('linux') }).optional(),
    annotations: annotations.optional(),
  });
const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const indexOf = <Type extends string>(mediaType: Type) =>
  z.strictObject({
    schemaVersion: z.literal(2),
    mediaType: z.literal(INDEX),
    manifests: z.array(descriptor(mediaType)).min(1),
    annotations: annotations.optional(),
  });
const manifest = z.strictObject({
  schemaVersion: z.literal(2),
  mediaType: z.literal(MANIFEST),
  config: descriptor('application/vnd.oci.image.config.v1+json'),
  layers: z.array(descriptor('application/vnd.oci.image.layer.v1.tar+gzip')).min(1),
  annotations,
});
const config = z.strictObject({
  created: z.iso.datetime(),
  architecture: z.enum(['amd64', 'arm64']),
  os: z.literal('linux'),
  config: z.strictObject({
    User: z.string(),
    Env: z.array(z.string().regex(/^\w+=/)),
    Entrypoint: z.array(z.string()),
    Cmd: z.array(z.string()),
    WorkingDir: z.string(),
    Labels: annotations,
  }),
  rootfs: z.strictObject({ type: z.literal('layers'), diff_ids: z.array(sha256) }),
  history: z.array(z.strictObject({ created: z.iso.datetime(), created_by: z.string() })),
});

export interface PlatformImage {
  readonly architecture: 'amd64' | 'arm64';
  readonly config: z.infer<typeof config>['config'];
  /** The paths of the layers' blobs, the lowest first. */
  readonly layers: readonly string[];
  /** What is at each path, by all layers. */
  readonly members: ReadonlyMap<string, Member>;
}

export interface ReadLayout {
  readonly refName: string | undefined;
  readonly images: readonly PlatformImage[];
  /** The digests of all blobs that something refers to. */
  readonly digests: ReadonlySet<string>;
}

/** Reads a layout as a tool does that trusts nothing in it. @throws Error where something is not as the specification has it. */
export async function readLayout(folder: string): Promise<ReadLayout> {
  const digests = new Set<string>();
  const pathOf = (digest: string): string => join(folder, 'blobs/sha256', digest.replace('sha256:', ''));
  const blob = async ({ digest, size }: { readonly digest: string; readonly size: number }): Promise<Buffer> => {
    const content = await readFile(pathOf(digest));
    if (digestOf(content) !== digest) throw new Error(`the blob ${digest} has another content`);
    if (content.length !== size) throw new Error(`the blob ${digest} has ${content.length} bytes, and not ${size}`);
    digests.add(digest);
    return content;
  };
  const json = async (from: { readonly digest: string; readonly size: number }): Promise<unknown> =>
    JSON.parse((await blob(from)).toString());
  z.strictObject({ imageLayoutVersion: z.literal('1.0.0') }).parse(
    JSON.parse(await readFile(join(folder, 'oci-layout'), 'utf8')),
  );
  const entry = indexOf(INDEX).parse(JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')));
  const [only, ...more] = entry.manifests;
  if (only === undefined || more.length > 0) throw new Error('tools that push a layout want one image in it');
  const index = indexOf(MANIFEST).parse(await json(only));
  const images: PlatformImage[] = [];
  for (const described of index.manifests) {
    const { config: configDescriptor, layers } = manifest.parse(await json(described));
    const read = config.parse(await json(configDescriptor));
    if (described.platform?.architecture !== read.architecture) throw new Error('a manifest is of another platform');
    if (read.history.length !== layers.length) throw new Error('not each layer has its history');
    const members = new Map<string, Member>();
    const diffIds: string[] = [];
    for (const layer of layers) {
      const archive = gunzipSync(await blob(layer));
      diffIds.push(digestOf(archive));
      for (const [path, member] of await readTar(archive)) {
        if (member.header.type !== 'directory' && members.has(path)) throw new Error(`${path} is in two layers`);
        members.set(path, member);
      }
    }
    if (String(diffIds) !== String(read.rootfs.diff_ids)) throw new Error('a layer is not what its diff_id says');
    const paths = layers.map(({ digest }) => pathOf(digest));
    images.push({ architecture: read.architecture, config: read.config, layers: paths, members });
  }
  return { refName: only.annotations?.['org.opencontainers.image.ref.name'], images, digests };
}
