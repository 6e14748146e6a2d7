/**
 * Finds the ResourceQuotas in a Helm template and where their values come from, as far as the text tells. A template is
 * not valid YAML before it is rendered, so it is read line by line: its blocks, its keys by indentation, and its
 * expressions.
 */

/** A block that encloses a part of the template. */
export interface TemplateBlock {
  readonly kind: 'range' | 'with' | 'if' | 'else' | 'define';
  /** The expression of the block, without the variables it sets. */
  readonly about: string;
  /** The variables that a range (key, value) or a with (value) sets. */
  readonly variables: readonly string[];
}

/** One line below spec.hard. */
interface TemplateLimit {
  /** The key as written, which may be an expression. */
  readonly key: string;
  /** An expression with its braces, or a literal. */
  readonly value: string;
  /** From 1 on. */
  readonly line: number;
  /** The enclosing blocks, the outermost first. */
  readonly blocks: readonly TemplateBlock[];
}

export interface TemplateQuota {
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /** The line of its name. */
  readonly line: number;
  readonly blocks: readonly TemplateBlock[];
  readonly limits: readonly TemplateLimit[];
  /** A single expression for the whole mapping: `{{ toYaml .Values.hard | nindent 4 }}`. */
  readonly map?: { readonly value: string; readonly line: number; readonly blocks: readonly TemplateBlock[] };
  /** A part in flow style, `metadata: {…}`, which is not supported. */
  readonly flow?: { readonly path: string; readonly line: number };
}

const ACTION_LINE = /^\s*\{\{-?\s*(.*?)\s*-?\}\}\s*$/;
const KEY_LINE = /^(\s*)((?:"[^"]*"|'[^']*'|\{\{.*?\}\}|[^\s:#"'{][^:]*?)):(?:\s+(.*?))?\s*$/;

interface Draft {
  name?: string;
  namespace?: string;
  line: number;
  isQuota: boolean;
  blocks: readonly TemplateBlock[];
  limits: TemplateLimit[];
  map?: TemplateQuota['map'];
  flow?: TemplateQuota['flow'];
}

/** The quotas of a template, in the order of the text. */
export function quotasOfTemplate(text: string): readonly TemplateQuota[] {
  const found: TemplateQuota[] = [];
  let blocks: readonly TemplateBlock[] = [];
  let draft = emptyDraft();
  let above: readonly { readonly indent: number; readonly key: string }[] = [];
  const close = (): void => {
    if (draft.isQuota) {
      const { isQuota: _quota, name, namespace, map, flow, ...rest } = draft;
      found.push({
        ...rest,
        name,
        namespace,
        ...(map === undefined ? {} : { map }),
        ...(flow === undefined ? {} : { flow }),
      });
    }
    draft = emptyDraft();
    above = [];
  };
  for (const [index, raw] of withoutComments(text).split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (/^---(?:\s|$)/.test(line)) {
      close();
      continue;
    }
    const action = ACTION_LINE.exec(line)?.[1];
    if (action !== undefined && !/^\{\{.*\}\}.*\{\{/.test(line.trim())) {
      const next = blocksAfter(blocks, action);
      if (next !== undefined) {
        blocks = next;
      } else if (pathOf(above) === 'spec.hard') {
        draft.map = { value: `{{ ${action} }}`, line: index + 1, blocks };
      }
      continue;
    }
    const match = KEY_LINE.exec(line);
    if (match === null) {
      continue;
    }
    const indent = (match[1] ?? '').length;
    const key = unquoted(match[2] ?? '');
    const value = withoutComment(match[3] ?? '');
    above = [...above.filter((ancestor) => ancestor.indent < indent), { indent, key }];
    readKey(draft, { path: pathOf(above), depth: above.length, key, value, line: index + 1, blocks });
  }
  close();
  return found;
}

/** Replaces the template's comments by blanks, so that line numbers stay the same. */
function withoutComments(text: string): string {
  return text.replace(/\{\{-?\s*\/\*.*?\*\/\s*-?\}\}/gs, (comment) => comment.replace(/[^\n]/g, ' '));
}

function emptyDraft(): Draft {
  return { line: 1, isQuota: false, blocks: [], limits: [] };
}

function pathOf(above: readonly { readonly key: string }[]): string {
  return above.map(({ key }) => key).join('.');
}

/** One key of a template with the text after it, and where both are. */
interface WrittenKey {
  /** The keys from the root of the object: `spec.hard.pods`. */
  readonly path: string;
  /** The number of keys in the path; a key may itself contain dots. */
  readonly depth: number;
  readonly key: string;
  readonly value: string;
  readonly line: number;
  readonly blocks: readonly TemplateBlock[];
}

function readKey(draft: Draft, { path, depth, key, value, line, blocks }: WrittenKey): void {
  if (path === 'kind' && unquoted(value) === 'ResourceQuota') {
    draft.isQuota = true;
    draft.blocks = blocks;
  } else if (path === 'metadata.name') {
    draft.name = unquoted(value);
    draft.line = line;
  } else if (path === 'metadata.namespace') {
    draft.namespace = unquoted(value);
  } else if (/^(?:metadata|spec|spec\.hard)$/.test(path) && /^\{(?!\{)/.test(value)) {
    draft.flow ??= { path, line };
  } else if (path === 'spec.hard' && value.startsWith('{{')) {
    draft.map = { value, line, blocks };
  } else if (depth === 3 && path === `spec.hard.${key}`) {
    draft.limits.push({ key, value: unquoted(value), line, blocks });
  }
}

/** The open blocks after an action; undefined for an action that opens and closes none. */
function blocksAfter(blocks: readonly TemplateBlock[], action: string): readonly TemplateBlock[] | undefined {
  const [, word = '', rest = ''] = /^(\w+)\b\s*(.*)$/.exec(action) ?? [];
  switch (word) {
    case 'end':
      return blocks.slice(0, -1);
    case 'else':
      return [...blocks.slice(0, -1), { kind: 'else', about: rest, variables: [] }];
    case 'range':
    case 'with': {
      const match = /^(\$\w+(?:\s*,\s*\$\w+)?)\s*:=\s*(.*)$/.exec(rest);
      const variables = (match?.[1] ?? '').split(',').map((name) => name.trim());
      return [...blocks, { kind: word, about: match?.[2] ?? rest, variables: match === null ? [] : variables }];
    }
    case 'if':
    case 'define':
    case 'block':
      return [...blocks, { kind: word === 'if' ? 'if' : 'define', about: rest, variables: [] }];
    default:
      return action.startsWith('/*') || /^\$\w+\s*:?=/.test(action) ? blocks : undefined;
  }
}

function withoutComment(text: string): string {
  return text.startsWith('"') || text.startsWith("'") || text.startsWith('{{')
    ? text.replace(/^((?:"[^"]*"|'[^']*'|\{\{.*\}\}))\s+#.*$/, '$1')
    : text.replace(/(?:^|\s+)#.*$/, '');
}

/** Removes the quotes around a literal or an expression. */
function unquoted(text: string): string {
  return /^(["'])(.*)\1$/s.exec(text)?.[2] ?? text;
}
