import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Plugin, RolldownMagicString } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

/** The generated part of client-node: a class for each group of the API, and one for each type. */
const GENERATED = /\/@kubernetes\/client-node\/dist\/gen\/(?:apis|types|models)\/\w+\.js$/;
const WITH_HTTP = 'WithHttpInfo';

/**
 * Leaves out what is never called of the generated classes of client-node, and the types that only this would read. They
 * have 6,000 methods, of which fewer than 100 are used, and no bundler removes methods of a class that is used.
 *
 * A method stays where its name is a word anywhere in the sources: names must not be put together at run time.
 *
 * @param sources the texts of all modules of the programs that are not packages.
 */
export function usedRequestsOnly(sources: readonly string[]): Plugin {
  const words = new Set(sources.flatMap((text) => text.match(/\w+/g) ?? []));
  const isUsed = (method: string): boolean => {
    // One request is a method with each of the two names in several classes.
    const name = method.endsWith(WITH_HTTP) ? method.slice(0, -WITH_HTTP.length) : method;
    return words.has(name) || words.has(name + WITH_HTTP);
  };
  const types = typesOf(words, isUsed);
  return {
    name: 'used-requests-only',
    transform: {
      filter: { id: GENERATED },
      handler: (code, id) => {
        if (id.includes('/models/')) return id.endsWith('/ObjectSerializer.js') ? withTypes(code, types) : undefined;
        return withoutMethods(code, isUsed);
      },
    },
  };
}

/** A node of a syntax tree, as far as this file reads it. */
interface Part {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}
interface Method extends Part {
  readonly key: { readonly name?: string };
}

function withoutMethods(code: string, isUsed: (method: string) => boolean): { readonly code: RolldownMagicString } {
  const text = new RolldownMagicString(code);
  for (const method of methodsIn(code)) if (!isUsed(method.key.name ?? '')) text.remove(method.start, method.end);
  return { code: text };
}

/** The methods of all classes of a module, without constructors. */
function methodsIn(code: string): readonly Method[] {
  const statements = parseAst(code).body as unknown as readonly (Part & {
    readonly declaration?: Part & { readonly body?: { readonly body: readonly Method[] } };
  })[];
  const classes = statements.flatMap(({ declaration }) =>
    declaration?.type === 'ClassDeclaration' ? declaration : [],
  );
  const members = classes.flatMap(({ body }) => body?.body ?? []);
  return members.filter(({ type, key }) => type === 'MethodDefinition' && key.name !== 'constructor');
}

/** Removes the other types from the table by which answers are read. */
function withTypes(code: string, types: ReadonlySet<string>): { readonly code: RolldownMagicString } {
  const text = new RolldownMagicString(code);
  const from = code.indexOf('let typeMap = {');
  if (from < 0) throw new Error('client-node has no table of types where it was: see used-requests.ts');
  for (const entry of code.slice(from).matchAll(/^ {4}"(\w+)": \1,\n/gm)) {
    const [line, type = ''] = entry;
    if (!types.has(type)) text.remove(from + entry.index, from + entry.index + line.length);
  }
  return { code: text };
}

/** What the used methods send and receive, and everything in it. */
function typesOf(words: ReadonlySet<string>, isUsed: (method: string) => boolean): ReadonlySet<string> {
  const generated = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen');
  const apis = readdirSync(join(generated, 'apis')).filter((file) => /^\w+Api\.js$/.test(file));
  const waiting = apis
    .filter((file) => words.has(file.slice(0, -'.js'.length)))
    .flatMap((file) => {
      const code = readFileSync(join(generated, 'apis', file), 'utf8');
      return methodsIn(code)
        .filter(({ key }) => isUsed(key.name ?? ''))
        .flatMap(({ start, end }) => typesIn(code.slice(start, end)));
    });
  const types = new Set<string>();
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (types.has(type)) continue;
    types.add(type);
    waiting.push(...typesIn(readModel(join(generated, 'models', `${type}.js`))));
  }
  return types;
}

/** Also those in texts such as `Array<V1Lease>`. Words that are no types do no harm: there is no model of them. */
function typesIn(code: string): readonly string[] {
  return [...code.matchAll(/"([^"\n]*[A-Z][^"\n]*)"/g)].flatMap(([, text = '']) => text.match(/\b[A-Z]\w+/g) ?? []);
}

function readModel(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
