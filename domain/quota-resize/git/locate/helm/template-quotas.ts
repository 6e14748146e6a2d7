/** The quotas that a chart's template renders for one release, and where the value of each limit is written. */
import { isScalar } from 'yaml';
import { type Leaf, leavesAt, nodeAt } from '../../yaml/documents.ts';
import type { Pointer } from '../../yaml/field-path.ts';
import type { ValueConsumer, ValueEdit } from '../../yaml/value-edit.ts';
import { conditionHolds, isTrue } from './condition.ts';
import { type Reference, referenceOf, type TemplateScope, topScope } from './expression.ts';
import { keysAt, type Layer, lookup, type Release } from './release.ts';
import type { SourceNote, ValueLocation } from '../location/limit-location.ts';
import type { TemplateBlock, TemplateQuota } from './template.ts';

export interface Limit {
  readonly key: string;
  readonly edit: ValueEdit;
  readonly path: string;
  readonly line: number;
  readonly text: string | null | undefined;
  readonly valueLocation?: ValueLocation;
  /** The pointer below `.Values` that the template takes it from. */
  readonly source?: Pointer;
}

export interface Draft {
  readonly release: Release;
  readonly template: string;
  readonly line: number;
  readonly name: string | undefined;
  readonly nameSource: string | undefined;
  readonly namespace: string | undefined;
  readonly limits: readonly Limit[];
  readonly problems: readonly SourceNote[];
  readonly flow: TemplateQuota['flow'];
  /** The same quota by values files that nothing assigns to this chart. */
  readonly rivals: readonly Draft[];
}

/** The quotas that a template renders for a release: one, or one per iteration of a range. */
export function instances(template: string, quota: TemplateQuota, release: Release): readonly Draft[] {
  const scopes = scopesOf(quota.blocks, release);
  if (scopes === 'never') {
    return [];
  }
  const unknown = scopes === 'unknown';
  return (unknown ? [topScope] : scopes).map((scope) => {
    const { limits, problems } = limitsOf(template, quota, release, scope);
    return {
      release,
      template,
      line: quota.line,
      name: textOf(quota.name, scope, release),
      nameSource: quota.name,
      namespace: quota.namespace === undefined ? release.namespace : textOf(quota.namespace, scope, release),
      limits,
      problems: unknown
        ? [{ path: template, line: quota.line, message: 'has a block around the quota that cannot be followed' }]
        : problems,
      flow: quota.flow,
      rivals: [],
    };
  });
}

/** The scopes inside the blocks, one per iteration; `never` when a condition is false. */
function scopesOf(
  blocks: readonly TemplateBlock[],
  release: Release,
  from: TemplateScope = topScope,
): readonly TemplateScope[] | 'never' | 'unknown' {
  let scopes: readonly TemplateScope[] = [from];
  for (const block of blocks) {
    const next: TemplateScope[] = [];
    for (const scope of scopes) {
      const inside = enter(block, scope, release);
      if (inside === 'unknown') {
        return 'unknown';
      }
      next.push(...inside);
    }
    if (next.length === 0) {
      return 'never';
    }
    scopes = next;
  }
  return scopes;
}

function enter(block: TemplateBlock, scope: TemplateScope, release: Release): readonly TemplateScope[] | 'unknown' {
  const about = referenceOf(block.about, scope);
  const variables = new Map(scope.variables);
  switch (block.kind) {
    case 'define':
    case 'else':
      return 'unknown';
    case 'if': {
      const holds = conditionHolds(block.about, scope, (pointer) => lookup(release, pointer));
      return holds === undefined ? 'unknown' : holds ? [scope] : [];
    }
    case 'with': {
      if (about?.kind !== 'value') {
        return 'unknown';
      }
      if (!isTrue(lookup(release, about.pointer))) {
        return [];
      }
      const [name] = block.variables;
      if (name !== undefined) {
        variables.set(name, about);
      }
      return [{ dot: about, variables }];
    }
    case 'range': {
      if (about?.kind !== 'value') {
        return 'unknown';
      }
      return keysAt(release, about.pointer).map((key) => {
        const item: Reference = { kind: 'value', pointer: [...about.pointer, key] };
        const names = block.variables;
        const inside = new Map(variables);
        if (names.length === 2) {
          inside.set(names[0] ?? '', { kind: 'text', text: String(key) });
        }
        const last = names.at(-1);
        if (last !== undefined) {
          inside.set(last, item);
        }
        return { dot: item, variables: inside };
      });
    }
    default:
      return block.kind satisfies never;
  }
}

/** Evaluates a text with expressions; undefined when one of them cannot be resolved. */
function textOf(text: string | undefined, scope: TemplateScope, release: Release): string | undefined {
  if (text === undefined) {
    return undefined;
  }
  let isComplete = true;
  const result = text.replace(/\{\{.*?\}\}/g, (expression) => {
    const value = expressionText(expression, scope, release);
    isComplete &&= value !== undefined;
    return value ?? '';
  });
  return isComplete && result !== '' ? result : undefined;
}

function expressionText(expression: string, scope: TemplateScope, release: Release): string | undefined {
  const reference = referenceOf(expression, scope);
  switch (reference?.kind) {
    case 'text':
      return reference.text;
    case 'value': {
      const node = lookup(release, reference.pointer);
      return isScalar(node) ? scalarText(node.value) : undefined;
    }
    case 'builtin':
      return reference.name === 'Release.Name'
        ? release.name
        : reference.name === 'Release.Namespace'
          ? release.namespace
          : undefined;
    case undefined:
      return undefined;
  }
}

function scalarText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? `${value}` : undefined;
}

function limitsOf(
  template: string,
  quota: TemplateQuota,
  release: Release,
  scope: TemplateScope,
): { readonly limits: readonly Limit[]; readonly problems: readonly SourceNote[] } {
  const limits = new Map<string, Limit>();
  const problems: SourceNote[] = [];
  const problem = (line: number, message: string): void => {
    problems.push({ path: template, line, message });
  };
  const add = (limit: Limit, line: number): void => {
    if (limits.has(limit.key)) {
      problem(line, `sets ${limit.key} twice`);
    }
    limits.set(limit.key, limit);
  };
  const outer = quota.blocks.length;
  const inside = (blocks: readonly TemplateBlock[], line: number): readonly TemplateScope[] => {
    const scopes = scopesOf(blocks.slice(outer), release, scope);
    if (scopes === 'unknown') {
      problem(line, `has a block around line ${line} that cannot be followed`);
    }
    return scopes === 'never' || scopes === 'unknown' ? [] : scopes;
  };
  if (quota.map !== undefined) {
    const { value, line, blocks } = quota.map;
    for (const scope of inside(blocks, line)) {
      const reference = referenceOf(value, scope);
      if (reference?.kind !== 'value') {
        problem(line, `computes spec.hard with ${value}, which cannot be followed`);
        continue;
      }
      for (const key of keysAt(release, reference.pointer)) {
        const pointer = [...reference.pointer, key];
        add(fromValues(release, { kind: 'value', pointer }, { key: String(key), path: template, line }), line);
      }
    }
  }
  for (const { key, value, line, blocks } of quota.limits) {
    for (const scope of inside(blocks, line)) {
      const name = key.includes('{{') ? textOf(key, scope, release) : key;
      const reference = value.startsWith('{{') ? referenceOf(value, scope) : undefined;
      if (name === undefined || (value.includes('{{') && reference?.kind !== 'value')) {
        problem(line, `computes a limit with ${value}, which cannot be followed`);
      } else if (reference?.kind === 'value') {
        add(fromValues(release, reference, { key: name, path: template, line }), line);
      } else {
        const edit: ValueEdit = { kind: 'line', path: template, line, from: value };
        add({ key: name, edit, path: template, line, text: value }, line);
      }
    }
  }
  return { limits: [...limits.values()], problems };
}

/** @param written the limit in the template, whose value is that of the reference. */
function fromValues(
  release: Release,
  reference: Extract<Reference, { kind: 'value' }>,
  written: Pick<Limit, 'key' | 'path' | 'line'>,
): Limit {
  const { key } = written;
  const { pointer } = reference;
  const found = release.layers
    .map((layer) => ({ layer, leaf: leafAt(layer, pointer) }))
    .findLast(({ leaf }) => leaf !== undefined);
  const leaf = found?.leaf;
  if (found === undefined || leaf === undefined) {
    const message = `${written.path}:${written.line} takes ${key} from .Values.${pointer.join('.')}, which no values file sets`;
    return { ...written, edit: { kind: 'none', message }, text: undefined };
  }
  const { path, part, index } = found.layer.document;
  const consumer = consumerOf(release, reference, nodeAt(found.layer.document, leaf.pointer));
  const valueLocation: ValueLocation = { ...leaf, key, path, part, index, level: 0, order: 0 };
  return {
    key,
    edit: { kind: 'replace', at: { path, part, index }, pointer: leaf.pointer, ...consumer },
    path,
    line: leaf.line,
    text: leaf.text,
    valueLocation,
    source: pointer,
  };
}

/** What reads a value: nothing that matters, where the template prints it as it is and the chart has no schema. */
function consumerOf(
  { schema }: Release,
  { pointer, form }: Extract<Reference, { kind: 'value' }>,
  value: unknown,
): { readonly consumer?: ValueConsumer } {
  const isInteger = form === 'integer';
  if (!isInteger && schema === undefined) return {};
  const isNumber = isScalar(value) && typeof value.value !== 'string';
  return {
    consumer: { isInteger, isNumber, ...(schema === undefined ? {} : { schema: { path: schema, pointer } }) },
  };
}

function leafAt({ document, pointer: root }: Layer, pointer: Pointer): Leaf | undefined {
  const parent = [...root, ...pointer.slice(0, -1)];
  return leavesAt(document, parent).find(({ key }) => key === String(pointer.at(-1)));
}
