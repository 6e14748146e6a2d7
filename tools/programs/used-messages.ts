import type { Plugin } from 'rolldown';
import { withoutLines } from './plugins.ts';

/** What `@temporalio/proto` makes its classes of, when it is loaded: every message of Temporal's interfaces. */
const DESCRIPTION = /\/@temporalio\/proto\/protos\/json-module\.js$/;
const BEFORE = '.addJSON(';
const AFTER = ');';

/** A part of a description, in the form of protobufjs. */
interface Part {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly nested?: Readonly<Record<string, Part>>;
  readonly fields?: Readonly<Record<string, Field>>;
  readonly methods?: Readonly<Record<string, Method>>;
  readonly values?: unknown;
  readonly extend?: string;
}
interface Field {
  readonly type: string;
  readonly protoName?: string;
}
interface Method {
  readonly requestType: string;
  readonly responseType: string;
  readonly requestStream?: boolean;
  readonly responseStream?: boolean;
}

/**
 * Leaves out the messages of Temporal that nothing begins with: each thread makes classes of all when it starts, which
 * take megabytes.
 *
 * @param roots names of packages, messages and services, such as `temporal.api.enums`, of which everything stays, and
 *   everything that is in their fields or requests.
 */
export function usedMessagesOnly(roots: readonly string[]): Plugin {
  return {
    name: 'used-messages-only',
    transform: {
      filter: { id: DESCRIPTION },
      handler: (code, id) => {
        const from = code.indexOf(BEFORE) + BEFORE.length;
        const to = code.lastIndexOf(AFTER);
        if (from < BEFORE.length || to < from)
          throw new Error('@temporalio/proto has another form: see used-messages.ts');
        const all = { nested: JSON.parse(code.slice(from, to)) as Record<string, Part> };
        const kept = only(all, reachable(all, roots)).nested;
        // Read as text: of a literal, V8 would also keep how to make it again.
        const text = `JSON.parse(${JSON.stringify(JSON.stringify(kept))})`;
        return { code: code.slice(0, from) + text + code.slice(to), map: withoutLines(id) };
      },
    },
  };
}

/** The full names of the messages, enums and services that stay. */
function reachable(all: Part, roots: readonly string[]): ReadonlySet<string> {
  const parts = new Map(partsIn(all, ''));
  const isRoot = (name: string): boolean => roots.some((root) => name === root || name.startsWith(`${root}.`));
  const waiting = [...parts.keys()].filter(isRoot);
  for (const root of roots) {
    if (!parts.has(root)) throw new Error(`@temporalio/proto has no ${root}: see used-messages.ts`);
  }
  const found = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const part = parts.get(name) ?? {};
    const within = name;
    const types = [
      ...Object.values(part.fields ?? {}).map(({ type }) => type),
      ...Object.values(part.methods ?? {}).flatMap(({ requestType, responseType }) => [requestType, responseType]),
    ];
    waiting.push(...types.flatMap((type) => resolved(type, within, parts)));
    // Messages and enums within a message.
    if (part.fields !== undefined) waiting.push(...Object.keys(part.nested ?? {}).map((inner) => `${within}.${inner}`));
  }
  return found;
}

function* partsIn(part: Part, name: string): Generator<readonly [string, Part]> {
  yield [name, part];
  for (const [inner, nested] of Object.entries(part.nested ?? {})) {
    yield* partsIn(nested, name === '' ? inner : `${name}.${inner}`);
  }
}

/** The full name of a type as it is written within another one; none for a scalar. */
function resolved(type: string, within: string, parts: ReadonlyMap<string, Part>): readonly string[] {
  if (type.startsWith('.')) return [type.slice(1)];
  for (let scope = within; ; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.')))) {
    const name = scope === '' ? type : `${scope}.${type}`;
    if (parts.has(name)) return [name];
    if (scope === '') return [];
  }
}

function only(part: Part, kept: ReadonlySet<string>, name = ''): Part {
  const { nested = {}, fields, methods, options, ...rest } = part;
  const inner = Object.entries(nested).flatMap(([key, value]): [string, Part][] => {
    const full = name === '' ? key : `${name}.${key}`;
    // Extensions are of options, which nobody reads.
    if (value.extend !== undefined) return [];
    if (kept.has(full) && !isPackage(value)) return [[key, only(value, kept, full)]];
    const within = only(value, kept, full);
    return isPackage(value) && Object.keys(within.nested ?? {}).length > 0 ? [[key, within]] : [];
  });
  return {
    ...rest,
    // Those of packages and services are for other languages and for gateways.
    ...(options === undefined || isPackage(part) || methods !== undefined ? {} : { options }),
    ...(fields === undefined ? {} : { fields: Object.fromEntries(Object.entries(fields).map(withoutProtoName)) }),
    ...(methods === undefined ? {} : { methods: Object.fromEntries(Object.entries(methods).map(bare)) }),
    ...(inner.length === 0 ? {} : { nested: Object.fromEntries(inner) }),
  };
}

function isPackage({ fields, methods, values, extend }: Part): boolean {
  return fields === undefined && methods === undefined && values === undefined && extend === undefined;
}

function withoutProtoName([name, { protoName: _unread, ...field }]: [string, Field]): [string, Field] {
  return [name, field];
}

/** Its options are paths of HTTP, for gateways. */
function bare([name, method]: [string, Method]): [string, Method] {
  const { requestType, responseType, requestStream, responseStream } = method;
  const streams = { ...(requestStream && { requestStream }), ...(responseStream && { responseStream }) };
  return [name, { requestType, responseType, ...streams }];
}
