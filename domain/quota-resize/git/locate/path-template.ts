/**
 * Where in the GitOps repository a namespace's manifests are: a path template as in `GIT_PATH_TEMPLATE` or the annotation
 * `resizer.io/git-path`, and the files of a repository tree that it names.
 */

/** What a path template can ask for. The names are those of Go templates, as the earlier tool had them. */
export interface PathFields {
  readonly cluster: string;
  readonly namespace: string;
  readonly quota: string;
}

/** A template that was read and found right. JSON-safe. */
export interface PathTemplate {
  /** As it was written. */
  readonly text: string;
  readonly parts: readonly (string | { readonly field: keyof PathFields })[];
}

/** A path template that cannot be read, or a path that leaves the repository. The message says what would be right. */
export class GitPathError extends Error {
  override readonly name = 'GitPathError';
}

/** The layout that is looked for where nothing else is configured. */
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
  // With harmless values in place of the fields, so that a path that is wrong for every namespace is refused at start.
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

/** Whether the path is one namespace's own, so that a manifest below it need not name the namespace. */
export function namesNamespace(template: PathTemplate): boolean {
  return template.parts.some((part) => typeof part !== 'string' && part.field === 'namespace');
}

/**
 * What a path says by the template: the fields of the first folders that fit it, or undefined where the path is not below one
 * that the template gives. Where a field could end in several places the path is cut at the slashes.
 */
export function readPath(template: PathTemplate, path: string): Partial<PathFields> | undefined {
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
  const match = new RegExp(`^${pattern}(?:/|$)`).exec(path);
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
