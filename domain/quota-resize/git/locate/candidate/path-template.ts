/**
 * Path templates, from `GIT_PATH_TEMPLATE` or the annotation `resizer.io/git-path`, that say where in the GitOps
 * repository a namespace's manifests are.
 */

/** The fields of a path template. The names are those of Go templates, as in the earlier tool. */
export interface PathFields {
  readonly cluster: string;
  readonly namespace: string;
  readonly quota: string;
}

/** A valid path template. JSON-safe. */
export interface PathTemplate {
  /** As it was written. */
  readonly text: string;
  readonly parts: readonly (string | { readonly field: keyof PathFields })[];
}

/** An invalid path template, or a path that leaves the repository. The message says what would be valid. */
export class GitPathError extends Error {
  override readonly name = 'GitPathError';
}

/** The default layout, when nothing else is configured. */
export const defaultPathTemplate = 'managed-resources/{{ .Cluster }}/{{ .Namespace }}';

const FIELDS: ReadonlyMap<string, keyof PathFields> = new Map([
  ['.Cluster', 'cluster'],
  ['.Namespace', 'namespace'],
  ['.Quota', 'quota'],
]);
const KNOWN = 'the fields are {{ .Cluster }}, {{ .Namespace }} and {{ .Quota }}';

const ACTION = /\{\{-?\s*(.*?)\s*-?\}\}/gs;

/**
 * Reads a template such as `clusters/{{ .Cluster }}/{{ .Namespace }}`; a text without fields is a literal path.
 *
 * @throws {GitPathError} for an unknown field, unbalanced braces, an empty text, or a path that leaves the repository.
 */
export function parsePathTemplate(text: string): PathTemplate {
  const trimmed = text.trim();
  if (trimmed === '') {
    throw new GitPathError('the path template is empty: write a folder or a file, or "." for the whole repository');
  }
  const parts: (string | { field: keyof PathFields })[] = [];
  let position = 0;
  for (const match of trimmed.matchAll(ACTION)) {
    parts.push(literal(trimmed, trimmed.slice(position, match.index)));
    parts.push({ field: fieldNamed(trimmed, match[0], match[1] ?? '') });
    position = match.index + match[0].length;
  }
  parts.push(literal(trimmed, trimmed.slice(position)));
  const template: PathTemplate = { text: trimmed, parts: parts.filter((part) => part !== '') };
  // Rendered once with harmless values, so that a path that is invalid for every namespace is rejected at start.
  renderPath(template, { cluster: 'cluster', namespace: 'namespace', quota: 'quota' });
  return template;
}

function literal(template: string, part: string): string {
  if (part.includes('{{') || part.includes('}}')) {
    throw new GitPathError(`the path template "${template}" has unbalanced braces; ${KNOWN}`);
  }
  return part;
}

function fieldNamed(template: string, action: string, name: string): keyof PathFields {
  const field = FIELDS.get(name);
  if (field === undefined) {
    throw new GitPathError(`the path template "${template}" has ${action}, which is unknown; ${KNOWN}`);
  }
  return field;
}

/**
 * The path for one quota, relative to the root of the repository, without a slash at either end; "" is the root itself.
 *
 * @throws {GitPathError} when a value makes the path leave the repository.
 */
export function renderPath(template: PathTemplate, fields: PathFields): string {
  const path = template.parts.map((part) => (typeof part === 'string' ? part : fields[part.field])).join('');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) {
    throw new GitPathError(`the path "${path}" leaves the repository with "..": write it from the repository's root`);
  }
  // oxlint-disable-next-line no-control-regex -- git trees have no such names
  if (/[\\\u0000-\u001f]/.test(path)) {
    throw new GitPathError(
      `the path ${JSON.stringify(path)} has a backslash or a control character: part folders with "/"`,
    );
  }
  return segments.join('/');
}

/** Whether the path contains the namespace, so that a manifest below it need not name the namespace. */
export function namesNamespace(template: PathTemplate): boolean {
  return template.parts.some((part) => typeof part !== 'string' && part.field === 'namespace');
}

/**
 * The fields that the beginning of a path has by the template; undefined when the path is not below a path of the
 * template. Where a field could end in several places, it ends at the next slash.
 */
export function readPath(template: PathTemplate, path: string): Partial<PathFields> | undefined {
  const { expression, names } = readerOf(template);
  const match = expression.exec(path);
  if (match === null) {
    return undefined;
  }
  const fields: Partial<Record<keyof PathFields, string>> = {};
  for (const [index, name] of names.entries()) {
    const value = match[index + 1] ?? '';
    if (fields[name] !== undefined && fields[name] !== value) {
      return undefined;
    }
    fields[name] = value;
  }
  return fields;
}

interface PathReader {
  readonly expression: RegExp;
  /** The fields of the groups. */
  readonly names: readonly (keyof PathFields)[];
}

const readers = new WeakMap<PathTemplate, PathReader>();

function readerOf(template: PathTemplate): PathReader {
  const cached = readers.get(template);
  if (cached !== undefined) return cached;
  const names: (keyof PathFields)[] = [];
  const pattern = template.parts
    .map((part, index) => {
      if (typeof part !== 'string') {
        names.push(part.field);
        return '([^/]+)';
      }
      const text = index === 0 ? part.replace(/^(?:\.?\/)+/, '') : part;
      return (index === template.parts.length - 1 ? text.replace(/\/+$/, '') : text).replace(
        /[.*+?^${}()|[\]\\]/g,
        '\\$&',
      );
    })
    .join('');
  const reader = { expression: new RegExp(`^${pattern}(?:/|$)`), names };
  readers.set(template, reader);
  return reader;
}
