import pino from 'pino';

const HIDDEN = '[redacted]';

/** Names of fields with credentials, anywhere in a log line. `tokenFile`, a path, is not one. */
const SECRET_FIELD =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|token$|api-?_?key$|password$|passphrase$|private-?_?key$|^client-?_?key(?:-?_?data)?$|secret$/i;

/** Formats of credentials: bearer and basic headers, GitHub's tokens, JSON Web Tokens, private keys, users in a URL. */
const SECRET_VALUES: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/\b(?:gh[pousr]_\w{16,}(?:\.[\w-]+)*|github_pat_\w{16,})/g, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
  // In JSON, line breaks are written as \n. A truncated key is hidden to the end of its text.
  [/(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:\\+[nr]|\s)*[\w+/=]{16}[\s\S]*?(?:-----END|(?=")|$)/g, `$1${HIDDEN}`],
  [/(:\/\/)[^\s/@"\\]+@/g, `$1${HIDDEN}@`],
];

/** How deep a logged object is copied; deeper levels show only the type's name. */
const MAX_DEPTH = 8;

/** Redacts everything that has the format of a credential. */
export function scrub(text: string): string {
  return SECRET_VALUES.reduce((scrubbed, [form, replacement]) => scrubbed.replace(form, replacement), text);
}

/**
 * A copy of a log line's fields for JSON: credentials are redacted by the field's name, errors become their type,
 * message, stack and fields, bigints become texts, and circular references are cut.
 */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  return copyFields(fields, [], 0);
}

function copyFields(source: object, above: readonly object[], depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(source)) {
    const hide = SECRET_FIELD.test(name) && value !== undefined && value !== null && typeof value !== 'boolean';
    copy[name] = hide ? HIDDEN : copyValue(value, [...above, source], depth + 1);
  }
  return copy;
}

function copyValue(value: unknown, above: readonly object[], depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (depth > MAX_DEPTH) return `[${value.constructor?.name ?? 'Object'}]`;
  if (value instanceof Error) return copyFields(pino.stdSerializers.err(value), [...above, value], depth);
  if (Array.isArray(value)) return value.map((item) => copyValue(item, [...above, value], depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Map || value instanceof Set) return copyValue([...value], [...above, value], depth + 1);
  if ('toJSON' in value && typeof value.toJSON === 'function') return value.toJSON();
  return copyFields(value, above, depth);
}
