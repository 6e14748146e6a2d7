/**
 * The programs as they ship: one file for each, with everything that it imports, and beside them the bundle of the workflows
 * and the native part of Temporal's SDK. The folder runs with Node alone: no package is installed beside it.
 */
import { constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { appendFile, chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type OutputChunk, type OutputOptions, type Plugin, rolldown, type RolldownOutput } from 'rolldown';
import { unusedPartsLeftOut } from './left-out.ts';
import { licensesOf } from './licenses.ts';
import { SOURCES } from './sources.ts';
import { PROGRAM_ENTRIES, PROGRAM_NAMES } from './program-names.ts';
import { usedMessagesOnly } from './used-messages.ts';
import { usedRequestsOnly } from './used-requests.ts';
import {
  adaptTemporalSdk,
  builtinHttpAsItIs,
  LOADED_WHERE_NEEDED,
  loadedWhereNeeded,
  mapOwnSourcesOnly,
  MINIFY,
  NATIVE_FILE,
} from './plugins.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The thread in which Temporal's SDK runs workflows: a file of its own, which the SDK looks for as `workflow-worker-thread`. */
const WORKFLOW_THREAD = 'worker/workflow-thread/workflow-thread-main.ts';

/** The thread that reads files of repositories. `content-thread.ts` looks for it by this name beside its program. */
const CONTENT_THREAD = 'activities/quota-resize/source/content/content-thread-main.ts';

/** The command line as one file. */
const KUBECTL_PLUGIN = 'tools/programs/kubectl.ts';

/** The thread that plans for node groups, which `planner.ts` looks for by this name. */
const PLAN_THREAD = 'starter/node-group/plan-thread-main.ts';

/** OpenTelemetry, which `tracing.ts` looks for by this name. */
const TRACING = 'platform/tracing/open-telemetry.ts';

/** What traces workflows, in a bundle of its own. */
const TRACE_INTERCEPTORS = 'workflows/kernel/trace-interceptors.ts';

/** The messages of Temporal that a client and a worker need. */
const MESSAGES = [
  'coresdk',
  'temporal.api.workflowservice.v1.WorkflowService',
  'temporal.api.operatorservice.v1.OperatorService',
  'temporal.api.testservice.v1.TestService',
  'grpc.health.v1.Health',
  'temporal.api.enums',
  'temporal.api.errordetails',
  'google.rpc.Status',
];

/** Those of the thread that runs workflows. */
const MESSAGES_OF_WORKFLOWS = [
  'coresdk.workflow_activation',
  'coresdk.workflow_completion',
  'temporal.api.enums',
  'temporal.api.history.v1.History',
];

/** Packages that are CommonJS expect these two. */
const COMMON_JS_NAMES = 'const __dirname = import.meta.dirname, __filename = import.meta.filename;';

const SHEBANG = '#!/usr/bin/env node';

/**
 * A file without an extension is of the kind that the next package.json says, or CommonJS where there is none: with these names it runs as
 * both. As a module where there is none, Node would compile it twice, which takes seconds.
 */
const STANDS_ALONE: OutputOptions = {
  format: 'cjs',
  entryFileNames: '[name]',
  sourcemap: false,
  banner: `${SHEBANG}
${ofVersion()}
var __filename = process.getBuiltinModule('node:fs').realpathSync(process.argv[1]);
var __dirname = process.getBuiltinModule('node:path').dirname(__filename);
var require = process.getBuiltinModule('node:module').createRequire(__filename);
var module = { exports: {} };
var exports = module.exports;`,
};

/** People have many versions of Node on their path, and the first syntax or function that one does not know says nothing. */
function ofVersion(): string {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
  const [major = '', minor = ''] = engines.node.replace('>=', '').split('.');
  return `{
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${major} || (major === ${major} && minor < ${minor})) {
  process.stderr.write('headroom needs Node ${major}.${minor} or newer, and this is ' + process.version + '\\n');
  process.exit(2);
}
}`;
}

/**
 * Builds the programs into a folder, which is made where it is missing.
 *
 * @throws Error where a module cannot be found or bundled.
 */
export async function buildPrograms(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // The packages that Temporal's SDK itself uses.
  // Not import.meta.resolve: Vitest's global set-up, which builds them as well, has none.
  const sdk = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
  const { getPrebuiltPath } = sdk('@temporalio/core-bridge/common.js') as { getPrebuiltPath: () => string };
  const requests = usedRequestsOnly(sourceTexts());
  const native = getPrebuiltPath();
  // What `source-map` decodes mappings with; it reads the file from the folder that its code is in.
  const mappings = sdk.resolve('source-map/lib/mappings.wasm');
  const [chunks, workflowModules, tracedModules] = await Promise.all([
    Promise.all([
      ...PROGRAM_NAMES.map(async (name) => await bundle(folder, name, join(ROOT, PROGRAM_ENTRIES[name]), requests)),
      bundle(folder, 'workflow-worker-thread', join(ROOT, WORKFLOW_THREAD), requests, {
        messages: MESSAGES_OF_WORKFLOWS,
      }),
      bundle(folder, 'kubectl-headroom', join(ROOT, KUBECTL_PLUGIN), requests, { output: STANDS_ALONE }),
      bundle(folder, 'content-thread', join(ROOT, CONTENT_THREAD), requests),
      bundle(folder, 'plan-thread', join(ROOT, PLAN_THREAD), requests),
      bundle(folder, 'tracing', join(ROOT, TRACING), requests),
      ...Object.entries(LOADED_WHERE_NEEDED).map(
        async ([name, entry]) => await bundle(folder, name, join(ROOT, entry), requests),
      ),
    ]),
    bundleWorkflows(folder, 'workflow-bundle.js'),
    bundleWorkflows(folder, 'traced-workflow-bundle.js', [join(ROOT, TRACE_INTERCEPTORS)]),
    copyFile(native, join(folder, NATIVE_FILE), constants.COPYFILE_FICLONE),
    copyFile(mappings, join(folder, 'mappings.wasm')),
    writeFile(join(folder, 'package.json'), '{ "type": "module" }\n'),
  ]);
  const modules = chunks.flatMap((chunk) => chunk.moduleIds);
  assertFromSources(modules);
  const licenses = await licensesOf([...modules, ...workflowModules, ...tracedModules, native, mappings]);
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenses);
  await chmod(join(folder, 'headroom.js'), 0o755);
  await writeKubectlPlugin(folder, licenses);
}

/**
 * The command line as one file under the name by which kubectl finds it, with the licenses in it as nothing has to be beside it, and the
 * program that kubectl asks for completions.
 */
async function writeKubectlPlugin(folder: string, licenses: string): Promise<void> {
  const file = join(folder, 'kubectl-headroom');
  await appendFile(file, `\n/*\n${inAscii(licenses).replaceAll('*/', '* /')}\n*/\n`);
  await chmod(file, 0o755);
  const complete = '#!/bin/sh\nexec kubectl-headroom __complete -- "$@"\n';
  await writeFile(join(folder, 'kubectl_complete-headroom'), complete, { mode: 0o755 });
}

/** The texts of all modules that are not of packages. */
function sourceTexts(): readonly string[] {
  return SOURCES.flatMap((source) => {
    const path = join(ROOT, source);
    if (!statSync(path).isDirectory()) return [];
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(path, file), 'utf8'));
  });
}

/** A module from elsewhere could change without another build being made. */
function assertFromSources(modules: readonly string[]): void {
  for (const path of modules) {
    // Plugins' own modules begin with a zero, by convention.
    if (path.startsWith('\0') || path.includes('/node_modules/')) continue;
    const file = relative(ROOT, path);
    if (SOURCES.some((source) => file === source || file.startsWith(`${source}/`))) continue;
    throw new Error(`a program imports ${file}, which is in none of ${SOURCES.join(', ')}: add it in sources.ts`);
  }
}

interface BundleOptions {
  readonly messages?: readonly string[];
  readonly output?: OutputOptions;
}

async function bundle(
  folder: string,
  name: string,
  entry: string,
  requests: Plugin,
  { messages = MESSAGES, output = {} }: BundleOptions = {},
): Promise<OutputChunk> {
  const build = await rolldown({
    cwd: ROOT,
    input: { [name]: entry },
    platform: 'node',
    external: [`./${NATIVE_FILE}`],
    plugins: [
      ...(output === STANDS_ALONE ? [] : [loadedWhereNeeded]),
      adaptTemporalSdk,
      builtinHttpAsItIs,
      requests,
      usedMessagesOnly(messages),
      unusedPartsLeftOut(),
      mapOwnSourcesOnly,
    ],
    // As Node bundles undici: without a second parser of HTTP, which a variable of the environment would choose.
    transform: { define: { esbuildDetection: 'true' } },
    treeshake: {
      // Thousands of generated classes without effects, of which we use some dozens; its package.json does not say so.
      moduleSideEffects: [{ test: /\/@kubernetes\/client-node\//, sideEffects: false }],
    },
    checks: {
      // In a client of Redis that is not used.
      eval: false,
      // A warning about nothing but how long a build takes, on a machine that does other things as well.
      bundlerTimings: false,
    },
    onLog: (level, { message }) => {
      // Above all a module that is not found, which the program would only miss when it runs.
      if (level === 'warn') throw new Error(`${name} cannot be bundled: ${message}`);
    },
  });
  try {
    const written: RolldownOutput = await build.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].js',
      codeSplitting: false,
      banner: name === 'headroom' ? `${SHEBANG}\n${COMMON_JS_NAMES}` : COMMON_JS_NAMES,
      comments: false,
      minify: MINIFY,
      sourcemap: true,
      sourcemapExcludeSources: true,
      sourcemapPathTransform: (source, map) => relative(ROOT, resolve(dirname(map), source)),
      ...output,
    });
    return written.output[0];
  } finally {
    await build.close();
  }
}

/**
 * Escapes what is not ASCII: with a single such character, a text takes two bytes for each in memory.
 *
 * @throws Error for a character that an escape would change.
 */
function inAscii(code: string): string {
  // oxlint-disable-next-line no-control-regex -- ASCII is just these.
  return code.replaceAll(/[^\x00-\x7f]/g, (character, at: number) => {
    if (code[at - 1] === '\\') throw new Error(`a backslash before ${character}: write it as an escape in the source`);
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/**
 * Temporal's own bundler: workflows run in a sandbox that it has to prepare.
 *
 * @returns the paths of the modules.
 */
async function bundleWorkflows(
  folder: string,
  name: string,
  workflowInterceptorModules: string[] = [],
): Promise<readonly string[]> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, 'workflows/index.ts'),
    workflowInterceptorModules,
    logger: new DefaultLogger('WARN'),
    // Each workflow execution runs all modules of the bundle again and keeps them, so our own modules are concatenated
    // and unused ones removed.
    webpackConfigHook: (config) => ({
      ...config,
      // Lines alone, and without the sources' text: each workflow thread holds the map.
      devtool: 'inline-nosources-cheap-module-source-map',
      optimization: { concatenateModules: true, providedExports: true, usedExports: true, sideEffects: true },
    }),
  });
  const [text, map] = mapOf(code);
  await writeFile(join(folder, name), inAscii(code.replace(text, encodedWithoutPlace(map, name))));
  // Some modules are there in name only.
  return map.sources.filter((source) => source.startsWith(ROOT));
}

/** The map in the last line of the bundle. */
const INLINE_MAP = /(?<=^\/\/# sourceMappingURL=data:application\/json;charset=utf-8;base64,)\S+/m;

interface SourceMap {
  readonly sources: readonly string[];
}

function mapOf(code: string): readonly [text: string, map: SourceMap] {
  const [text] = INLINE_MAP.exec(code) ?? [];
  if (text === undefined) throw new Error('the bundle of the workflows has no source map');
  return [text, JSON.parse(Buffer.from(text, 'base64').toString()) as SourceMap];
}

/** Has the sources from the root of the repository, and no random name: two builds of one source are the same, wherever they are made. */
function encodedWithoutPlace(map: SourceMap, file: string): string {
  const sources = map.sources.map((source) => source.replace(ROOT, ''));
  return Buffer.from(JSON.stringify({ ...map, file, sources })).toString('base64');
}
