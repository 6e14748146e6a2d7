import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';

/** One module of a package, and what of its imports the programs never use. */
interface Part {
  /** The module that imports it. Other modules that import the same get it. */
  readonly of: RegExp;
  readonly isLeftOut: (imported: string) => boolean;
}

const LEFT_OUT = '\0left-out';

/** undici makes an object of this class when it is loaded. */
const EMPTY = 'exports.CacheStorage = class {};';

/**
 * Leaves out what packages of CommonJS load and no program uses: a bundler keeps all that is required. What is left out by mistake is
 * undefined where it is used. The text of a program is in memory for as long as it runs, and with it what V8 and Node make of it.
 */
export function unusedPartsLeftOut(): Plugin {
  const parts = [
    // `Agent`, `ProxyAgent`, `fetch`, `request` and the global dispatcher stay.
    {
      of: /\/undici\/index\.js$/,
      isLeftOut: (imported: string) =>
        /\/lib\/(?:mock|cache|interceptor|web\/(?:cache|cookies|eventsource|websocket))\//.test(imported) ||
        /\/(?:balanced-pool|round-robin-pool|env-http-proxy-agent|h2c-client|retry-agent|retry-handler)$/.test(
          imported,
        ),
    },
    // A server, and what only a server offers; they bring a second copy of protobufjs.
    {
      of: /\/@grpc\/grpc-js\/build\/src\/index\.js$/,
      isLeftOut: (imported: string) => /^\.\/(?:admin|server(?:-credentials|-interceptors)?)$/.test(imported),
    },
    {
      of: /\/@grpc\/grpc-js\/build\/src\/(?:channelz|orca)\.js$/,
      isLeftOut: (imported: string) => imported === '@grpc/proto-loader',
    },
    // For templates with source maps; Handlebars has its own way without it.
    {
      of: /\/handlebars\/dist\/cjs\/handlebars\/compiler\/code-gen\.js$/,
      isLeftOut: (imported: string) => imported === 'source-map',
    },
    unusedOfRxjs(),
  ] satisfies readonly Part[];
  return {
    name: 'unused-parts-left-out',
    resolveId: {
      order: 'pre',
      handler: (id, importer = '') =>
        parts.some((part) => part.of.test(importer) && part.isLeftOut(id)) ? LEFT_OUT : undefined,
    },
    load: {
      // oxlint-disable-next-line no-control-regex -- By convention, a plugin's own modules begin with a zero.
      filter: { id: /^\0left-out$/ },
      handler: () => ({ code: EMPTY, moduleType: 'js' }),
    },
  };
}

/** Modules that export nothing whose name is a word of Temporal's SDK, the only one that uses the package. */
function unusedOfRxjs(): Part {
  const sdk = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
  const folder = dirname(sdk.resolve('@temporalio/worker'));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
  const words = new Set(files.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(/\w+/g) ?? []));
  const rxjs = dirname(sdk.resolve('rxjs'));
  return {
    of: /\/rxjs\/dist\/cjs\/(?:operators\/)?index\.js$/,
    isLeftOut: (imported) => {
      const [, module] = /\/(internal\/(?:operators|observable)\/.+)$/.exec(imported) ?? [];
      return module !== undefined && !Object.keys(sdk(join(rxjs, module)) as object).some((name) => words.has(name));
    },
  };
}
