import type { PinnedServer, ServerName } from './pinned-servers.ts';

/** As Go names them, and the file names of releases with it. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
}

/** An official file of a release, for one platform. */
export interface ReleaseFile {
  readonly url: string;
  /** Where the release publishes the SHA-256 of that file: alone, or in a list with the names of its files. */
  readonly checksumUrl: string;
  /** The executable in the archive that the file is; absent: the file is the executable. */
  readonly member?: string;
}

/** Those that any of the projects publishes servers for, and that Headroom's demo and tests run on. */
export const PLATFORMS: readonly Platform[] = ['linux', 'darwin'].flatMap((os) =>
  ['amd64', 'arm64'].map((arch) => ({ os, arch })),
);

export const THIS_PLATFORM: Platform = {
  os: process.platform,
  arch: process.arch === 'x64' ? 'amd64' : process.arch,
};

type Layout = (version: string, platform: Platform) => ReleaseFile | undefined;

function kubernetes(name: ServerName): Layout {
  return (version, { os, arch }) => {
    // Of the servers, Kubernetes publishes no others.
    if (os !== 'linux') return undefined;
    const url = `https://dl.k8s.io/v${version}/bin/${os}/${arch}/${name}`;
    return { url, checksumUrl: `${url}.sha256` };
  };
}

const LAYOUTS: Readonly<Partial<Record<ServerName, Layout>>> = {
  temporal: (version, { os, arch }) => {
    const folder = `https://github.com/temporalio/cli/releases/download/v${version}`;
    return {
      url: `${folder}/temporal_cli_${version}_${os}_${arch}.tar.gz`,
      checksumUrl: `${folder}/checksums.txt`,
      member: 'temporal',
    };
  },
  etcd: (version, { os, arch }) => {
    const folder = `https://github.com/etcd-io/etcd/releases/download/v${version}`;
    const name = `etcd-v${version}-${os}-${arch}`;
    return {
      url: `${folder}/${name}.${os === 'linux' ? 'tar.gz' : 'zip'}`,
      checksumUrl: `${folder}/SHA256SUMS`,
      member: `${name}/etcd`,
    };
  },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
};

/** The file of the very version that go.mod pins, or undefined where none is published for the platform. */
export function releaseFile(server: PinnedServer, platform: Platform = THIS_PLATFORM): ReleaseFile | undefined {
  const isKnown = PLATFORMS.some(({ os, arch }) => os === platform.os && arch === platform.arch);
  return isKnown ? LAYOUTS[server.name]?.(server.releaseVersion, platform) : undefined;
}
