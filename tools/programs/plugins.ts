import { type Plugin, RolldownMagicString } from 'rolldown';

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

/**
 * Omits packages from the source maps. With them, the first error of a process costs Node a second and 110 MB
 * (measured); without them 10 MB, and lines of our own sources are still right.
 */
export const mapOwnSourcesOnly: Plugin = {
  name: 'map-own-sources-only',
  transform: {
    filter: { id: /\/node_modules\// },
    handler: (code) => ({ code, map: { version: 3, mappings: '', sources: [], names: [] } }),
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
 * Escapes non-ASCII characters: with a single one in its ten megabytes, a program takes twenty megabytes of memory and
 * is read and compiled more slowly.
 */
export const asciiOnly: Plugin = {
  name: 'ascii-only',
  renderChunk: (code) => {
    const text = new RolldownMagicString(code);
    // oxlint-disable-next-line no-control-regex -- ASCII is just these.
    for (const { index, 0: character } of code.matchAll(/[^\x00-\x7f]/g)) {
      if (code[index - 1] === '\\')
        throw new Error(`a backslash before ${character}: write it as an escape in the source`);
      text.overwrite(index, index + 1, `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
    }
    return { code: text };
  },
};
