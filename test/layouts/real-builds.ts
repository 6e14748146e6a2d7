/** What the real `kustomize` and `helm` make of a repository, as whatever delivers it would call them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';
import { resolveServer } from '../../tools/resolver/resolve-server.ts';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import type { Files } from './tree.ts';

const run = promisify(execFile);
/** There are two cores. */
const BUILDS_AT_ONCE = 2;

/** An object as a build gives it; an object of Kubernetes, or what a file holds that cannot be read as one. */
type Built = Readonly<Record<string, unknown>>;

/** The objects of each build, by its name; or why it fails. */
type Builds = ReadonlyMap<string, readonly Built[] | string>;

/** The name of a build, and what makes it of a checkout. */
type Build = readonly [string, (root: string) => Promise<readonly Built[]>];

/** How a chart is installed. */
interface Installation {
  readonly chart: string;
  readonly release?: string;
  readonly namespace?: string;
  /** From the root of the repository. */
  readonly valueFiles?: readonly string[];
  /** The manifest of a Flux HelmRelease, whose values go over those of the chart. */
  readonly helmRelease?: string;
}

interface BuildOptions {
  /** By the folder of a kustomization, or by a manifest: where objects go that name no namespace. */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** By chart; others are installed once, with their own values. */
  readonly installations?: readonly Installation[];
  /** Repositories that kustomizations refer to, by URL. */
  readonly remotes?: Readonly<Record<string, Files>>;
}

interface Tools {
  readonly kustomize: string;
  readonly helm: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A folder of this machine with the files of a repository, and the tools. */
export class RealBuilds implements AsyncDisposable {
  readonly #folder: string;
  readonly #options: BuildOptions;
  readonly #tools: Tools;

  private constructor(folder: string, options: BuildOptions, tools: Tools) {
    this.#folder = folder;
    this.#options = options;
    this.#tools = tools;
  }

  static async start(options: BuildOptions = {}): Promise<RealBuilds> {
    const folder = await mkdtemp(join(tmpdir(), 'headroom-builds-'));
    const environment: NodeJS.ProcessEnv = { ...process.env, HOME: folder };
    const remotes = Object.entries(options.remotes ?? {});
    // kustomize fetches with git, which is told to take the URL from here.
    environment['GIT_CONFIG_COUNT'] = `${remotes.length}`;
    for (const [index, [url, files]] of remotes.entries()) {
      const remote = join(folder, 'remotes', `${index}`);
      await writeFiles(remote, files);
      await gitRepository(remote);
      environment[`GIT_CONFIG_KEY_${index}`] = `url.file://${remote}.insteadOf`;
      environment[`GIT_CONFIG_VALUE_${index}`] = url;
    }
    const [kustomize, helm] = [await resolveServer('kustomize'), await resolveServer('helm')];
    return new RealBuilds(folder, options, { kustomize, helm, environment });
  }

  /** All that is delivered of these files. */
  async of(files: Files): Promise<Builds> {
    const root = await mkdtemp(join(this.#folder, 'checkout-'));
    try {
      await writeFiles(root, files);
      const built = await inParallel(
        BUILDS_AT_ONCE,
        this.#builds(files),
        async ([name, build]) =>
          [name, await build(root).catch((error: unknown) => `it does not build: ${reasonOf(error, root)}`)] as const,
      );
      return new Map(built);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }

  /** The builds of a repository: its overlays, its charts, and each manifest that belongs to neither. */
  #builds(files: Files): readonly Build[] {
    const paths = Object.keys(files);
    const foldersOf = (file: string) => paths.filter((path) => basename(path) === file).map((path) => dirname(path));
    const kustomizations = foldersOf('kustomization.yaml');
    const charts = foldersOf('Chart.yaml');
    const { installations = [] } = this.#options;
    const built = (path: string) =>
      [...kustomizations, ...charts].some((folder) => path.startsWith(`${folder}/`)) ||
      installations.some(({ valueFiles = [] }) => valueFiles.includes(path));
    return [
      ...kustomizations
        // A component is built with what has it.
        .filter((folder) => files[`${folder}/kustomization.yaml`]?.includes('kind: Component') !== true)
        .map((folder): Build => [`kustomize build ${folder}`, (root) => this.#kustomize(root, folder)]),
      ...charts.flatMap((chart) => {
        const installed = installations.filter((installation) => installation.chart === chart);
        return (installed.length === 0 ? [{ chart }] : installed).map((installation: Installation): Build => {
          const { valueFiles = [], helmRelease = '' } = installation;
          return [
            ['helm template', chart, ...valueFiles, helmRelease].join(' '),
            (root) => this.#helm(root, installation),
          ];
        });
      }),
      ...paths
        .filter((path) => !built(path))
        .map((path): Build => [path, () => Promise.resolve(this.#into(path, manifestsIn(files[path] ?? '')))]),
    ];
  }

  /** The objects with the namespace that they are applied into. */
  #into(path: string, objects: readonly Built[], namespace = this.#options.namespaces?.[path]): readonly Built[] {
    return objects.flatMap(itemsOf).map((object) => {
      const metadata = (object['metadata'] ?? {}) as Built;
      return namespace === undefined ? object : { ...object, metadata: { namespace, ...metadata } };
    });
  }

  async #kustomize(root: string, folder: string): Promise<readonly Built[]> {
    const { stdout } = await run(this.#tools.kustomize, ['build', join(root, folder)], {
      env: this.#tools.environment,
    });
    return this.#into(folder, objectsIn(stdout));
  }

  async #helm(root: string, installation: Installation): Promise<readonly Built[]> {
    const { chart, release = 'release', namespace = 'default', valueFiles = [], helmRelease } = installation;
    const files = valueFiles.map((path) => join(root, path));
    if (helmRelease !== undefined) {
      const [object] = objectsIn(await readFile(join(root, helmRelease), 'utf8'));
      const values = join(root, '.values.yaml');
      await writeFile(values, stringify((object?.['spec'] as { readonly values?: unknown } | undefined)?.values ?? {}));
      files.push(values);
    }
    const given = files.flatMap((file) => ['--values', file]);
    const args = ['template', release, join(root, chart), '--namespace', namespace, ...given];
    const { stdout } = await run(this.#tools.helm, args, { env: this.#tools.environment });
    return this.#into(chart, objectsIn(stdout), namespace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function writeFiles(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function gitRepository(folder: string): Promise<void> {
  if (existsSync(join(folder, '.git'))) return;
  const git = async (...args: readonly string[]) => await run('git', ['-C', folder, ...args]);
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'first');
  await git('tag', 'v1');
}

function objectsIn(text: string): readonly Built[] {
  return parseAllDocuments(text).flatMap((document): readonly Built[] => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value: unknown = document.toJS();
    return value === null || typeof value !== 'object' ? [] : [value as Built];
  });
}

/** The objects of a manifest; of a file that is not YAML its text, which an edit has to leave as it is. */
function manifestsIn(text: string): readonly Built[] {
  try {
    return objectsIn(text).map(withoutReleaseValues);
  } catch {
    return [{ text }];
  }
}

/** The values of a HelmRelease are what the chart is built with. */
function withoutReleaseValues(object: Built): Built {
  if (object['kind'] !== 'HelmRelease') return object;
  const { values: _, ...spec } = object['spec'] as Readonly<Record<string, unknown>>;
  return { ...object, spec };
}

function reasonOf(error: unknown, root: string): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  return text.replaceAll(root, '').trim();
}

/** One field of one object that two commits are built with differently. */
interface Difference {
  readonly build: string;
  /** `ResourceQuota team-a/compute` */
  readonly object: string;
  readonly field: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** All that differs between the builds of two commits. */
export function differences(before: Builds, after: Builds): readonly Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((build) =>
    changedFields(byIdentity(before.get(build)), byIdentity(after.get(build))).map(
      ({ field: [object = '', ...field], ...values }) => ({ build, object, field, ...values }),
    ),
  );
}

/** The objects by kind, namespace and name; why there are none as it is. */
function byIdentity(built: readonly Built[] | string | undefined): unknown {
  if (typeof built !== 'object') return built;
  return Object.fromEntries(
    built.map((object, index) => {
      const { namespace = '', name = index } = (object['metadata'] ?? {}) as Built;
      return [`${String(object['kind'])} ${String(namespace)}/${String(name)}`, object];
    }),
  );
}

function changedFields(
  before: unknown,
  after: unknown,
  field: readonly string[] = [],
): readonly Omit<Difference, 'build' | 'object'>[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changedFields(before[key], after[key], [...field, key]));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ field, before, after }];
}

/** The objects of a List; any other object is one. */
function itemsOf(object: Built): readonly Built[] {
  return object['kind'] === 'List' ? (object['items'] as readonly Built[]) : [object];
}

function isRecord(value: unknown): value is Built {
  return typeof value === 'object' && value !== null;
}
