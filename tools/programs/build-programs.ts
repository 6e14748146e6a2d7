/**
 * The programs as they ship: one file for each, with everything that it imports, and beside them the bundle of the workflows
 * and the native part of Temporal's SDK. The folder runs with Node alone: no package is installed beside it.
 */
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type OutputChunk, rolldown, type RolldownOutput } from 'rolldown';
import { licensesOf } from './licenses.ts';
import { SOURCES } from './sources.ts';
import { PROGRAM_ENTRIES, PROGRAM_NAMES } from './program-names.ts';
import { adaptTemporalSdk, asciiOnly, builtinHttpAsItIs, mapOwnSourcesOnly, NATIVE_FILE } from './plugins.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The thread in which Temporal's SDK runs workflows: a file of its own, which the SDK looks for by this name. */
const WORKFLOW_THREAD = '@temporalio/worker/lib/workflow/workflow-worker-thread.js';

/** The thread that reads files of repositories. `content-thread.ts` looks for it by this name beside its program. */
const CONTENT_THREAD = 'activities/quota-resize/source/content/content-thread-main.ts';

/** The thread that plans for node groups, which `planner.ts` looks for by this name. */
const PLAN_THREAD = 'starter/node-group/plan-thread-main.ts';

/** Packages that are CommonJS expect these two. */
const COMMON_JS_NAMES = 'const __dirname = import.meta.dirname, __filename = import.meta.filename;';

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
  const [chunks] = await Promise.all([
    Promise.all([
      ...PROGRAM_NAMES.map(async (name) => await bundle(folder, name, join(ROOT, PROGRAM_ENTRIES[name]))),
      bundle(folder, 'workflow-worker-thread', sdk.resolve(WORKFLOW_THREAD)),
      bundle(folder, 'content-thread', join(ROOT, CONTENT_THREAD)),
      bundle(folder, 'plan-thread', join(ROOT, PLAN_THREAD)),
    ]),
    bundleWorkflows(join(folder, 'workflow-bundle.js')),
    copyFile(getPrebuiltPath(), join(folder, NATIVE_FILE), constants.COPYFILE_FICLONE),
    // What `source-map` decodes mappings with; it reads the file from the folder that its code is in.
    copyFile(sdk.resolve('source-map/lib/mappings.wasm'), join(folder, 'mappings.wasm')),
    writeFile(join(folder, 'package.json'), '{ "type": "module" }\n'),
  ]);
  const modules = chunks.flatMap((chunk) => chunk.moduleIds);
  assertFromSources(modules);
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), await licensesOf(modules));
  await chmod(join(folder, 'headroom.js'), 0o755);
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

async function bundle(folder: string, name: string, entry: string): Promise<OutputChunk> {
  const build = await rolldown({
    cwd: ROOT,
    input: { [name]: entry },
    platform: 'node',
    external: [`./${NATIVE_FILE}`],
    plugins: [adaptTemporalSdk, builtinHttpAsItIs, mapOwnSourcesOnly, asciiOnly],
    treeshake: {
      // Thousands of generated classes without effects, of which we use some dozens; its package.json does not say so.
      moduleSideEffects: [{ test: /\/@kubernetes\/client-node\//, sideEffects: false }],
    },
    // In a client of Redis that is not used.
    checks: { eval: false },
    onLog: (level, { message }) => {
      // Above all a module that is not found, which the program would only miss when it runs.
      if (level === 'warn') throw new Error(`${name} cannot be bundled: ${message}`);
    },
  });
  try {
    const { output }: RolldownOutput = await build.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].js',
      codeSplitting: false,
      banner: name === 'headroom' ? `#!/usr/bin/env node\n${COMMON_JS_NAMES}` : COMMON_JS_NAMES,
      comments: false,
      // Not minified otherwise: an error shows the names of functions, and of a package its lines in the bundle.
      minify: false,
      sourcemap: true,
      sourcemapExcludeSources: true,
    });
    return output[0];
  } finally {
    await build.close();
  }
}

/** Temporal's own bundler: workflows run in a sandbox that it has to prepare. */
async function bundleWorkflows(file: string): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, 'workflows/index.ts'),
    logger: new DefaultLogger('WARN'),
    // Each workflow execution runs all modules of the bundle again and keeps them, so our own modules are concatenated
    // and unused ones removed.
    webpackConfigHook: (config) => ({
      ...config,
      // Without the sources' text, which nobody reads: each workflow thread holds the map once.
      devtool: 'inline-nosources-source-map',
      optimization: { concatenateModules: true, providedExports: true, usedExports: true, sideEffects: true },
    }),
  });
  await writeFile(file, code);
}
