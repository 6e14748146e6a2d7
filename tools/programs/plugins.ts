import { type Plugin, RolldownMagicString } from 'rolldown';

/** The native part of Temporal's SDK, beside the programs that load it. */
export const NATIVE_FILE = 'temporal-core-bridge.node';

const BUNDLER = '\0no-workflow-bundler';
const NATIVE_PATH = '\0native-path';

/** What stands for two modules of Temporal's SDK. */
const STAND_INS: Readonly<Record<string, string>> = {
  // The bundler of workflows, and with it webpack and a compiler: the workflows are bundled already.
  [BUNDLER]: `
    function unavailable() { throw new Error('this program has its workflows bundled and cannot bundle any'); }
    exports.defaultWorkflowInterceptorModules = [];
    exports.bundleWorkflowCode = unavailable;
    exports.WorkflowCodeBundler = unavailable;`,
  [NATIVE_PATH]: `exports.getPrebuiltPath = () => require('node:path').join(__dirname, '${NATIVE_FILE}');`,
};

/** Takes out of Temporal's SDK what looks for files of its package. */
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
 * Leaves packages out of the source maps. With them, the first error of a process takes Node a second and 110 MB to show
 * (measured); without them 10 MB, and the lines of our own sources are true all the same.
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
 * Takes Node's `http` without an import: an import reads every export at once, and one of them loads the whole of Node's own
 * undici, a twentieth of the start of a program.
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
 * Writes other characters than those of ASCII as escapes: with a single one among its ten megabytes, a program takes twenty in
 * memory, and is read and compiled the more slowly.
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
