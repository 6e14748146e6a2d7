import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';

/** The native library of Temporal's SDK, beside the programs that load it. */
export const NATIVE_FILE = 'temporal-core-bridge.node';

const BUNDLER = '\0no-workflow-bundler';
const NATIVE_PATH = '\0native-path';

/** Replacements for two modules of Temporal's SDK. */
const STAND_INS: Readonly<Record<string, string>> = {
  // The workflow bundler, with webpack and a compiler, is not needed: the workflows are already bundled.
  [BUNDLER]: `
    function unavailable() { throw new Error('this program has its workflows bundled and cannot bundle any'); }
    exports.defaultWorkflowInterceptorModules = [];
    exports.bundleWorkflowCode = unavailable;
    exports.WorkflowCodeBundler = unavailable;`,
  [NATIVE_PATH]: `exports.getPrebuiltPath = () => require('node:path').join(__dirname, '${NATIVE_FILE}');`,
};

/** Removes the code of Temporal's SDK that looks for files of its package. */
export const adaptTemporalSdk: Plugin = {
  name: 'adapt-temporal-sdk',
  resolveId: {
    filter: { id: /^\.\/(?:workflow\/bundler|common)$/ },
    handler: (id, importer = '') => {
      if (/\/@temporalio\/worker\/lib\/(?:index|worker)\.js$/.test(importer)) return BUNDLER;
      if (importer.endsWith('/@temporalio/core-bridge/index.js')) return NATIVE_PATH;
      return undefined;
    },
  },
  load: {
    // oxlint-disable-next-line no-control-regex -- By convention, a plugin's own modules begin with a zero.
    filter: { id: /^\0/ },
    handler: (id) => {
      const code = STAND_INS[id];
      return code === undefined ? undefined : { code, moduleType: 'js' };
    },
  },
};

/** The map of a module of which only the name is of interest: its begin is the begin of its first line. */
const NO_LINES = 'AAAA';

/**
 * Has packages in the source maps with their names alone, by which it is seen that a place is in none of our sources. With all of
 * their lines, the maps would be ten times as large.
 */
export const mapOwnSourcesOnly: Plugin = {
  name: 'map-own-sources-only',
  transform: {
    filter: { id: /\/node_modules\// },
    handler: (code, id) => ({ code, map: withoutLines(id) }),
  },
};

/** For plugins that change modules of packages. */
export function withoutLines(id: string): { version: number; mappings: string; sources: string[]; names: string[] } {
  return { version: 3, mappings: NO_LINES, sources: [id], names: [] };
}

/**
 * What a program imports only where it needs it, as files beside it, by name: the text of a program is in memory for as long as it runs,
 * whether it is used or not.
 */
export const LOADED_WHERE_NEEDED = {
  'web-framework': 'starter/kernel/web-framework.ts',
  certificates: 'starter/admission/issue.ts',
} as const;

/** Leaves these files out of a program. */
export const loadedWhereNeeded: Plugin = {
  name: 'loaded-where-needed',
  resolveId: {
    filter: { id: /\.ts$/ },
    handler: (id, importer = '', { kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      const path = join(dirname(importer), id);
      const [name] = Object.entries(LOADED_WHERE_NEEDED).find(([, source]) => path.endsWith(`/${source}`)) ?? [];
      return name === undefined ? undefined : { id: `./${name}.js`, external: true };
    },
  },
};

const HTTP = '\0node-http';

/**
 * Loads Node's `http` without an import: an import reads all exports at once, and one of them loads Node's whole
 * undici, a twentieth of a program's start.
 */
export const builtinHttpAsItIs: Plugin = {
  name: 'builtin-http-as-it-is',
  resolveId: { filter: { id: /^(?:node:)?http$/ }, handler: () => HTTP },
  load: {
    // oxlint-disable-next-line no-control-regex -- As above.
    filter: { id: /^\0node-http$/ },
    handler: () => ({ code: "module.exports = process.getBuiltinModule('node:http');", moduleType: 'js' }),
  },
};

/**
 * Removes white space, and escapes what is not ASCII: with a single such character, a program takes two bytes for each of its
 * characters. Not minified otherwise: the stack of an error shows the names of functions.
 */
export const MINIFY = {
  compress: false,
  mangle: false,
  codegen: { removeWhitespace: true, asciiOnly: true },
};
