import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One row of the table of servers: how a binary is built, and how it tells its version. */
interface ServerRecipe {
  /** The folder under `tools/` whose go.mod and go.sum pin the build. */
  readonly module: string;
  /** The main package that is built. */
  readonly package: string;
  /** The module whose version in go.mod is the server's version. */
  readonly versionModule: string;
  /** The module whose version the project's releases have; absent: that one. */
  readonly releaseModule?: string;
  /** Finds that version (without a leading "v") in what the binary prints when it is asked for it. */
  readonly printedVersion: RegExp;
  /** How the binary is asked for its version; absent: `--version`. */
  readonly versionArguments?: readonly string[];
  /** Go's build tags, which leave out what is never used here. */
  readonly tags?: readonly string[];
  /** The linker's flags for a version such as "1.35.4". */
  readonly linkerFlags: (version: string) => string;
  /** Seconds of a build on two cores with empty caches; only for telling people what to expect. */
  readonly coldBuildSeconds: number;
}

/** No symbol table and no debug information: half the size. */
const STRIPPED = '-s -w';

/** Without these flags a Kubernetes binary reports v0.0.0, which misleads clients that check the version. */
function kubernetesVersionStamp(version: string): string {
  const [major = '', minor = ''] = version.split('.');
  const stamp = (field: string, value: string) => `-X k8s.io/component-base/version.${field}=${value}`;
  return [STRIPPED, stamp('gitVersion', `v${version}`), stamp('gitMajor', major), stamp('gitMinor', minor)].join(' ');
}

function kubernetesServer(name: string, coldBuildSeconds: number): ServerRecipe {
  return {
    module: 'kubernetes',
    package: `k8s.io/kubernetes/cmd/${name}`,
    versionModule: 'k8s.io/kubernetes',
    printedVersion: /Kubernetes v(\S+)/,
    linkerFlags: kubernetesVersionStamp,
    coldBuildSeconds,
  };
}

/**
 * Every server that Headroom's tests and demo start, and the commands that tests compare Headroom with. A new one is one entry
 * here and a go.mod under `tools/`.
 */
const RECIPES = {
  temporal: {
    module: 'temporal',
    package: 'github.com/temporalio/cli/cmd/temporal',
    // The server library decides what works; the command's own version is a placeholder in builds from source.
    versionModule: 'go.temporal.io/server',
    releaseModule: 'github.com/temporalio/cli',
    printedVersion: /Server (\d[^,)\s]*)/,
    // Without the service mesh of Google Cloud, which only archives in its storage would use: 124 of 1,298 packages, and 150 of
    // 520 seconds of the processor.
    tags: ['disable_grpc_modules', 'grpcnotrace'],
    linkerFlags: () => STRIPPED,
    coldBuildSeconds: 190,
  },
  etcd: {
    module: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    versionModule: 'go.etcd.io/etcd/server/v3',
    printedVersion: /etcd Version: (\S+)/,
    linkerFlags: () => STRIPPED,
    coldBuildSeconds: 30,
  },
  // The first Kubernetes binary also compiles the packages that all of them share.
  'kube-apiserver': kubernetesServer('kube-apiserver', 250),
  'kube-controller-manager': kubernetesServer('kube-controller-manager', 65),
  'kube-scheduler': kubernetesServer('kube-scheduler', 10),
  kustomize: {
    module: 'kustomize',
    package: 'sigs.k8s.io/kustomize/kustomize/v5',
    versionModule: 'sigs.k8s.io/kustomize/kustomize/v5',
    printedVersion: /^v(\d\S*)/m,
    versionArguments: ['version'],
    linkerFlags: () => STRIPPED,
    coldBuildSeconds: 15,
  },
  // Its go.mod has the Kubernetes libraries of the API server, so that some of them are compiled already.
  helm: {
    module: 'helm',
    package: 'helm.sh/helm/v3/cmd/helm',
    versionModule: 'helm.sh/helm/v3',
    printedVersion: /^v(\d[^+\s]*)/m,
    versionArguments: ['version', '--short'],
    linkerFlags: (version) => `${STRIPPED} -X helm.sh/helm/v3/internal/version.version=v${version}`,
    coldBuildSeconds: 40,
  },
  memcached_exporter: {
    module: 'memcached-exporter',
    package: 'github.com/prometheus/memcached_exporter/cmd/memcached_exporter',
    versionModule: 'github.com/prometheus/memcached_exporter',
    printedVersion: /memcached_exporter, version (\d\S*)/,
    linkerFlags: (version) => `${STRIPPED} -X github.com/prometheus/common/version.Version=${version}`,
    coldBuildSeconds: 15,
  },
  // The kubelets of nodes that only the tests' clusters have. Its Kubernetes libraries are newer than the API server's: all are compiled.
  kwok: {
    module: 'kwok',
    package: 'sigs.k8s.io/kwok/cmd/kwok',
    versionModule: 'sigs.k8s.io/kwok',
    printedVersion: /kwok version v(\d\S*)/,
    linkerFlags: (version) => `${STRIPPED} -X sigs.k8s.io/kwok/pkg/consts.Version=v${version}`,
    coldBuildSeconds: 75,
  },
} as const satisfies Record<string, ServerRecipe>;

export type ServerName = keyof typeof RECIPES;

export const SERVER_NAMES = Object.keys(RECIPES) as readonly ServerName[];

export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(RECIPES, name);
}

/** A server with everything that its go.mod pins filled in. */
export interface PinnedServer {
  readonly name: ServerName;
  /** Such as "1.35.4". */
  readonly version: string;
  /** The version that its release files have. */
  readonly releaseVersion: string;
  /** The Go version that go.mod asks for, such as "1.25.0". */
  readonly goVersion: string;
  /** Where `go build` runs: the absolute folder of the go.mod. */
  readonly moduleFolder: string;
  /** The arguments of `go` up to and without `-o` and the package. */
  readonly buildArguments: readonly string[];
  readonly package: string;
  readonly printedVersion: RegExp;
  readonly versionArguments: readonly string[];
  readonly coldBuildSeconds: number;
  /** Name of the cache folder: changes with go.mod, go.sum, the flags and the platform. */
  readonly cacheKey: string;
}

const TOOLS_FOLDER = join(import.meta.dirname, '..');

/**
 * Reads what `tools/<module>/go.mod` pins for a server.
 * @throws Error when go.mod does not name the server's module.
 */
export function pinnedServer(name: ServerName): PinnedServer {
  const recipe: ServerRecipe = RECIPES[name];
  const moduleFolder = join(TOOLS_FOLDER, recipe.module);
  const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
  const goSum = readFileSync(join(moduleFolder, 'go.sum'), 'utf8');
  const pinned = (what: string, value: string | undefined): string => {
    if (value !== undefined) return value;
    throw new Error(`tools/${recipe.module}/go.mod pins no ${what}; it must, since ${name} is built from it`);
  };
  const releaseModule = recipe.releaseModule ?? recipe.versionModule;
  const version = pinned(recipe.versionModule, versionIn(goMod, recipe.versionModule));
  const releaseVersion = pinned(releaseModule, versionIn(goMod, releaseModule));
  const goVersion = pinned('Go version', /^go (\S+)/m.exec(goMod)?.[1]);
  const tags = recipe.tags === undefined ? [] : ['-tags', recipe.tags.join(',')];
  const buildArguments = ['build', '-trimpath', '-v', ...tags, '-ldflags', recipe.linkerFlags(version)];
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([goMod, goSum, buildArguments, recipe.package, process.platform, process.arch]))
    .digest('hex')
    .slice(0, 12);
  return {
    name,
    version,
    releaseVersion,
    goVersion,
    moduleFolder,
    buildArguments,
    package: recipe.package,
    printedVersion: recipe.printedVersion,
    versionArguments: recipe.versionArguments ?? ['--version'],
    coldBuildSeconds: recipe.coldBuildSeconds,
    cacheKey: `${name}-${version}-${fingerprint}`,
  };
}

function versionIn(goMod: string, module: string): string | undefined {
  for (const line of goMod.split('\n')) {
    const [first, second] = line
      .replace(/^require\s/, '')
      .trim()
      .split(/\s+/);
    if (first === module && second?.startsWith('v') === true) {
      return second.slice(1);
    }
  }
  return undefined;
}
