/** A processor that the image is for, as OCI and Debian name it. */
export type Architecture = 'amd64' | 'arm64';

export const ARCHITECTURES: readonly Architecture[] = ['amd64', 'arm64'];

/** As Node's packages, and the native part of Temporal's SDK, name it. */
export const NAMES_OF = {
  amd64: { node: 'x64', rust: 'x86_64-unknown-linux-gnu' },
  arm64: { node: 'arm64', rust: 'aarch64-unknown-linux-gnu' },
} as const satisfies Record<Architecture, { readonly node: string; readonly rust: string }>;
