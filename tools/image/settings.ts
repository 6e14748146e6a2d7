import packageJson from '../../package.json' with { type: 'json' };

/** How a container of the image starts, whoever builds it; a test holds deploy/Dockerfile to it. */

/** The flags of Node: what is allocated in between two scavenges stays in memory, by default up to 32 MB. Programs collect their garbage when they come to rest. */
export const NODE_FLAGS = ['--max-semi-space-size=2', '--expose-gc'] as const;

/** Memory that is free goes back to the machine: glibc would give each of the many threads an arena of its own, and keep what was freed. */
export const ALLOCATOR = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '65536',
  MALLOC_MMAP_THRESHOLD_: '65536',
} as const;

/** The `config` of an OCI image, but for its labels. The argument is what to run: worker.js or starter.js. */
export const CONTAINER = {
  User: '1000:1000',
  Env: [
    'PATH=/usr/local/bin',
    'NODE_ENV=production',
    ...Object.entries(ALLOCATOR).map(([name, value]) => `${name}=${value}`),
  ],
  Entrypoint: ['node', ...NODE_FLAGS],
  Cmd: ['worker.js'],
  WorkingDir: '/app',
} as const;

/** What is known of the image, by the keys that OCI gives names to. */
export interface Facts {
  readonly version: string;
  /** The commit. */
  readonly revision: string;
  readonly created: Date;
  /** Where the source is; undefined where nobody said it. */
  readonly source: string | undefined;
}

/** Labels and annotations of the image. */
export function labelsOf({ version, revision, created, source }: Facts): Readonly<Record<string, string>> {
  const known = {
    title: 'headroom',
    description: packageJson.description,
    version,
    revision,
    created: formatCreated(created),
    licenses: 'Apache-2.0',
    ...(source === undefined ? {} : { source }),
  };
  return Object.fromEntries(Object.entries(known).map(([name, value]) => [`org.opencontainers.image.${name}`, value]));
}

/** As RFC 3339, of whole seconds. */
export function formatCreated(created: Date): string {
  return created.toISOString().replace('.000Z', 'Z');
}
