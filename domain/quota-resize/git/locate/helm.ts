/** The quotas of Helm charts, each limit with the place in a values file (or in the template) that it comes from. */
import { isMap, isScalar } from 'yaml';
import { isQuantity } from '../../../kernel/quantity.ts';
import type { Pointer } from '../yaml/field-path.ts';
import { chartFile, isTemplate, looksLikeValues, templateOf } from './chart.ts';
import { conditionHolds, isTrue } from './condition.ts';
import type { Delivery } from './delivery.ts';
import { type Leaf, leavesAt, leavesOf, type ManifestDocument, nodeAt, textAt } from '../yaml/documents.ts';
import { type Reference, referenceOf, type TemplateScope, topScope } from './expression.ts';
import { isWithin } from './paths.ts';
import type { ResolvedQuota, RivalValue } from './resolved.ts';
import type { SourceNote, ValueSite } from './limit-location.ts';
import { quotasOfTemplate, type TemplateBlock, type TemplateQuota } from './template.ts';
import type { TreeReader } from './tree-reader.ts';
import type { ValueEdit } from '../yaml/value-edit.ts';

/** One installation of a chart: its values in the order of their weight, the weightiest last. */
interface Release {
  readonly chart: string;
  readonly layers: readonly Layer[];
  readonly namespace?: string;
  readonly namespaceBy?: string;
  readonly name?: string;
  readonly obstacles: readonly SourceNote[];
  readonly delivered: boolean;
  /** Nobody says that its values file, outside of the chart, is for this chart. */
  readonly unnamed?: true;
  /** What its namespace and its cluster can be read from. */
  readonly path: string;
}

/** A mapping of values: the root of a file, or a part of an object. */
interface Layer {
  readonly document: ManifestDocument;
  readonly pointer: Pointer;
}

interface Limit {
  readonly key: string;
  readonly edit: ValueEdit;
  readonly path: string;
  readonly line: number;
  readonly text: string | null | undefined;
  readonly site?: ValueSite;
}

interface Draft {
  readonly release: Release;
  readonly template: string;
  readonly line: number;
  readonly name: string | undefined;
  readonly nameSource: string | undefined;
  readonly namespace: string | undefined;
  readonly limits: readonly Limit[];
  readonly problems: readonly SourceNote[];
  readonly flow: TemplateQuota['flow'];
  /** The same quota with values files that nobody names for this chart. */
  readonly rivals: readonly Draft[];
}

/** The quotas of the charts whose templates are among the files. */
export function chartQuotas(
  reader: TreeReader,
  files: readonly string[],
  deliveries: readonly Delivery[],
  values: readonly string[],
): readonly ResolvedQuota[] {
  const templates = new Map<string, string[]>();
  for (const path of files) {
    const chart = templateOf(reader, path);
    if (chart !== undefined && isTemplate(reader, path) && reader.text(path)?.includes('ResourceQuota') === true) {
      templates.set(chart, [...(templates.get(chart) ?? []), path]);
    }
  }
  // Also by releases that are not listed: who has no values file that sets limits has those of the chart.
  const uses = new Map<string, number>();
  const drafts = [...templates].flatMap(([chart, paths]) => {
    const releases = releasesOf(reader, chart, deliveries, values);
    return paths.flatMap((path) =>
      quotasOfTemplate(reader.text(path) ?? '').flatMap((quota) => {
        const all = releases.map((release) => ({ release, quotas: instances(path, quota, release) }));
        const made = all.filter(({ release }) => release.unnamed !== true);
        const chosen = chosenReleases(made);
        const users = made.filter((one) => chosen.includes(one) || isWithin(one.release.path, chart));
        for (const { limits } of users.flatMap(({ quotas }) => quotas)) {
          for (const limit of limits) {
            uses.set(limitKey(limit), (uses.get(limitKey(limit)) ?? 0) + 1);
          }
        }
        const own = chosen.flatMap(({ quotas }) => quotas);
        return chosen.some(({ release }) => release.delivered) ? own : withRivals(own, all);
      }),
    );
  });
  return drafts.map((draft) => resolvedChartQuota(draft, uses));
}

/** Where values files that nobody names set limits of the same quota, it is not known which of them counts. */
function withRivals(
  own: readonly Draft[],
  made: readonly { readonly release: Release; readonly quotas: readonly Draft[] }[],
): readonly Draft[] {
  const unnamed = made.flatMap(({ release, quotas }) =>
    release.unnamed === true ? quotas.filter(({ limits }) => limits.some(({ path }) => path === release.path)) : [],
  );
  const isSame = (one: Draft, other: Draft): boolean => one.namespace === other.namespace && one.name === other.name;
  return [
    ...own.map((draft) => ({ ...draft, rivals: unnamed.filter((other) => isSame(draft, other)) })),
    ...unnamed.filter((other) => other.namespace === undefined || !own.some((draft) => isSame(draft, other))),
  ];
}

function limitKey({ path, line, site }: Limit): string {
  return JSON.stringify([path, line, site?.pointer ?? null]);
}

/**
 * The releases that something is known of: those that somebody delivers; else values files beside the chart's own where they
 * set limits, and only the chart's own where none does.
 */
function chosenReleases<T extends { readonly release: Release; readonly quotas: readonly Draft[] }>(
  made: readonly T[],
): readonly T[] {
  const delivered = made.filter(({ release }) => release.delivered);
  if (delivered.length > 0) {
    return delivered;
  }
  const setting = made.filter(({ release, quotas }) =>
    quotas.some(({ limits }) => limits.some(({ path }) => path === release.path && path !== valuesFile(release.chart))),
  );
  const chosen = setting.length > 0 ? setting : made.slice(0, 1);
  // A release that takes every limit from the chart's own values is a quota all the same, where it has a name of its own.
  const identities = new Set(chosen.flatMap(({ quotas }) => quotas.map(identityOf)));
  const further = made.filter(
    (one) =>
      !chosen.includes(one) &&
      one.release.path !== valuesFile(one.release.chart) &&
      one.quotas.some((quota) => quota.namespace !== undefined && !identities.has(identityOf(quota))),
  );
  return [...chosen, ...further];
}

function identityOf({ namespace, name }: Draft): string {
  return JSON.stringify([namespace ?? null, name ?? null]);
}

function valuesFile(chart: string): string {
  return chart === '' ? 'values.yaml' : `${chart}/values.yaml`;
}

function releasesOf(
  reader: TreeReader,
  chart: string,
  deliveries: readonly Delivery[],
  values: readonly string[],
): readonly Release[] {
  const own = layersOf(reader, valuesFile(chart));
  const dependency = dependencyNote(reader, chart);
  const installed = deliveries.filter(({ folder }) => folder === chart);
  const delivered = installed.map(
    (delivery): Release => ({
      chart,
      layers: [
        ...own,
        ...delivery.valueFiles.flatMap((file) => layersOf(reader, file)),
        ...(delivery.values === undefined ? [] : [delivery.values]),
      ],
      ...(delivery.namespace === undefined ? {} : { namespace: delivery.namespace, namespaceBy: delivery.said }),
      ...(delivery.release === undefined ? {} : { name: delivery.release }),
      obstacles: [...obstaclesOf(reader, delivery), ...dependency],
      delivered: true,
      path: delivery.valueFiles.at(-1) ?? valuesFile(chart),
    }),
  );
  if (delivered.length > 0 && !installed.some(({ one }) => one === true)) {
    return delivered;
  }
  const taken = new Set([valuesFile(chart), ...installed.flatMap(({ valueFiles }) => valueFiles)]);
  const free = values.filter((path) => !taken.has(path));
  const named = new Set(deliveries.flatMap(({ valueFiles }) => valueFiles));
  const known = knownKeys(reader, chart);
  // What is made for another chart sets more than this one knows.
  const unnamed = free.filter(
    (path) =>
      !isWithin(path, chart) &&
      !named.has(path) &&
      !insideSomeChart(reader, path) &&
      layersOf(reader, path)
        .flatMap(topKeys)
        .every((key) => known.has(key)),
  );
  const open = { chart, obstacles: dependency, delivered: false };
  return [
    ...delivered,
    ...(delivered.some(({ path }) => path === valuesFile(chart))
      ? []
      : [{ ...open, layers: own, path: valuesFile(chart) }]),
    ...free
      .filter((path) => isWithin(path, chart))
      .map((path) => ({ ...open, layers: [...own, ...layersOf(reader, path)], path })),
    ...unnamed.map((path) => ({
      ...open,
      layers: [...own, ...layersOf(reader, path)],
      obstacles: [
        {
          path,
          line: 1,
          message: `may be values of the chart ${chart || 'at the root'}, but nothing names it for that`,
        },
        ...dependency,
      ],
      unnamed: true as const,
      path,
    })),
  ];
}

/** The values that a chart knows: those that its own file sets, and those that its templates name. */
function knownKeys(reader: TreeReader, chart: string): ReadonlySet<string> {
  const folder = chart === '' ? 'templates/' : `${chart}/templates/`;
  const inTemplates = reader.tree.paths
    .filter((path) => path.startsWith(folder))
    .flatMap((path) => [...(reader.tree.texts.get(path) ?? '').matchAll(/\.Values\.([\w-]+)/g)])
    .map(([, key = '']) => key);
  return new Set(['global', ...inTemplates, ...layersOf(reader, valuesFile(chart)).flatMap(topKeys)]);
}

function topKeys({ document }: Layer): readonly string[] {
  const { root } = document;
  return isMap(root) ? root.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
}

function obstaclesOf(reader: TreeReader, { opaque, path, line, said, valueFiles }: Delivery): readonly SourceNote[] {
  const gone = valueFiles.find((file) => !reader.isFile(file));
  const why = opaque ?? (gone === undefined ? undefined : `names the values file ${gone}, which is not there`);
  return why === undefined ? [] : [{ path, line, message: `${said} ${why}` }];
}

/** The chart that has another one in its folder `charts` may set the values of that one. */
function dependencyNote(reader: TreeReader, chart: string): readonly SourceNote[] {
  const parent = /^(?:(.*)\/)?charts\/[^/]+$/.exec(chart);
  const above = parent === null ? undefined : chartFile(parent[1] ?? '');
  return above === undefined || !reader.isFile(above)
    ? []
    : [{ path: chartFile(chart), line: 1, message: `is a dependency of ${above}, whose values may override its own` }];
}

function insideSomeChart(reader: TreeReader, path: string): boolean {
  const parts = path.split('/');
  return parts.some((_part, depth) => reader.isFile(chartFile(parts.slice(0, depth).join('/'))));
}

function layersOf(reader: TreeReader, path: string): readonly Layer[] {
  return reader.isFile(path)
    ? reader.documents(path).flatMap((document) =>
        // An object of Kubernetes is no mapping of values.
        document.error === undefined && isMap(document.root) && textAt(document, ['apiVersion']) === undefined
          ? [{ document, pointer: [] }]
          : [],
      )
    : [];
}

/** The quotas that a template makes for a release: one, or one for each round of a range. */
function instances(template: string, quota: TemplateQuota, release: Release): readonly Draft[] {
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

/** The scopes inside of the blocks, one for each round; `never` where a condition is false. */
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

/** The value at a place, from the weightiest layer that has it. */
function lookup(release: Release, pointer: Pointer): unknown {
  return release.layers
    .map((layer) => nodeAt(layer.document, [...layer.pointer, ...pointer]))
    .findLast((node) => node !== undefined && node !== null);
}

/** The keys of a mapping, of all layers together, or the indices of a sequence. */
function keysAt(release: Release, pointer: Pointer): readonly (string | number)[] {
  const keys = new Set<string | number>();
  for (const layer of release.layers) {
    const node = nodeAt(layer.document, [...layer.pointer, ...pointer]);
    if (isMap(node)) {
      for (const { key } of leavesOf(layer.document, node, [])) {
        keys.add(key);
      }
    } else if (typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items)) {
      for (const index of node.items.keys()) {
        keys.add(index);
      }
    }
  }
  return [...keys];
}

/** A text with expressions in it; undefined where one of them cannot be followed. */
function textOf(text: string | undefined, scope: TemplateScope, release: Release): string | undefined {
  if (text === undefined) {
    return undefined;
  }
  let known = true;
  const result = text.replace(/\{\{.*?\}\}/g, (expression) => {
    const value = expressionText(expression, scope, release);
    known &&= value !== undefined;
    return value ?? '';
  });
  return known && result !== '' ? result : undefined;
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

/** What a text with expressions can be. */
function patternOf(text: string): RegExp {
  const parts = text.split(/\{\{.*?\}\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
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
    for (const one of inside(blocks, line)) {
      const reference = referenceOf(value, one);
      if (reference?.kind !== 'value') {
        problem(line, `computes spec.hard with ${value}, which cannot be followed`);
        continue;
      }
      for (const key of keysAt(release, reference.pointer)) {
        add(fromValues(release, String(key), [...reference.pointer, key], template, line), line);
      }
    }
  }
  for (const { key, value, line, blocks } of quota.limits) {
    for (const one of inside(blocks, line)) {
      const name = key.includes('{{') ? textOf(key, one, release) : key;
      const reference = value.startsWith('{{') ? referenceOf(value, one) : undefined;
      if (name === undefined || (value.includes('{{') && reference?.kind !== 'value')) {
        problem(line, `computes a limit with ${value}, which cannot be followed`);
      } else if (reference?.kind === 'value') {
        add(fromValues(release, name, reference.pointer, template, line), line);
      } else {
        const edit: ValueEdit = { kind: 'line', path: template, line, from: value };
        add({ key: name, edit, path: template, line, text: value }, line);
      }
    }
  }
  return { limits: [...limits.values()], problems };
}

function fromValues(release: Release, key: string, pointer: Pointer, template: string, line: number): Limit {
  const found = release.layers
    .map((layer) => ({ layer, leaf: leafAt(layer, pointer) }))
    .findLast(({ leaf }) => leaf !== undefined);
  const leaf = found?.leaf;
  if (found === undefined || leaf === undefined) {
    const message = `${template}:${line} takes ${key} from .Values.${pointer.join('.')}, which no values file sets`;
    return { key, edit: { kind: 'none', message }, path: template, line, text: undefined };
  }
  const { path, part, index } = found.layer.document;
  const site: ValueSite = { ...leaf, key, path, part, index, level: 0, order: 0 };
  return {
    key,
    edit: { kind: 'replace', at: { path, part, index }, pointer: leaf.pointer },
    path,
    line: leaf.line,
    text: leaf.text,
    site,
  };
}

function leafAt({ document, pointer: root }: Layer, pointer: Pointer): Leaf | undefined {
  const parent = [...root, ...pointer.slice(0, -1)];
  return leavesAt(document, parent).find(({ key }) => key === String(pointer.at(-1)));
}

function resolvedChartQuota(draft: Draft, uses: ReadonlyMap<string, number>): ResolvedQuota {
  const { release, template, line, limits, name, namespace } = draft;
  const readable = limits.filter(({ text }) => typeof text === 'string' && isQuantity(text));
  const unnamed: SourceNote[] =
    draft.flow !== undefined
      ? [
          {
            path: template,
            line: draft.flow.line,
            message: `writes ${draft.flow.path} between braces in line ${draft.flow.line}, where it cannot be followed: write a line for each key`,
          },
        ]
      : name === undefined
        ? [
            {
              path: template,
              line,
              message: `computes the name with ${draft.nameSource ?? 'nothing'}, which is not known here`,
            },
          ]
        : [];
  return {
    name: name ?? '',
    ...(name === undefined ? { namePattern: patternOf(draft.nameSource ?? '') } : {}),
    namespace,
    ...(release.namespaceBy === undefined || namespace !== release.namespace
      ? {}
      : { namespaceBy: release.namespaceBy }),
    path: template,
    line,
    layout: 'helm',
    values: new Map(
      readable.map((limit) => [
        limit.key,
        { value: { path: limit.path, line: limit.line, text: limit.text ?? '' }, edit: editOf(limit, uses) },
      ]),
    ),
    unreadable: limits
      .filter((limit) => !readable.includes(limit))
      .map(({ key, edit, path, line, text }) => ({
        key,
        note: {
          path,
          line,
          reason: 'Unplaceable',
          message:
            edit.kind === 'none'
              ? edit.message
              : `the value of ${key}, ${text ?? 'nothing'}, is not a quantity such as 2, 500m or 4Gi`,
        },
      })),
    obstacles: [...unnamed, ...release.obstacles, ...draft.problems],
    ...(draft.rivals.length === 0 ? {} : { rivals: rivalValues(draft.rivals) }),
    paths: [release.path, template],
  };
}

/** What those values files say of their own. */
function rivalValues(rivals: readonly Draft[]): readonly RivalValue[] {
  return rivals.flatMap(({ release, limits }) =>
    limits.flatMap(({ key, path, line, text }) =>
      path === release.path ? [{ key, path, line, text: text ?? '' }] : [],
    ),
  );
}

function editOf(limit: Limit, uses: ReadonlyMap<string, number>): ValueEdit {
  const users = uses.get(limitKey(limit)) ?? 0;
  if (users > 1) {
    return {
      kind: 'none',
      message: `the value of ${limit.key} at ${limit.path}:${limit.line} may be used by ${users} quotas: give this one a value of its own, or say where with the annotation resizer.io/git-field`,
    };
  }
  const { site } = limit;
  return site?.shared === undefined
    ? limit.edit
    : {
        kind: 'none',
        message: `the value of ${limit.key} at ${limit.path}:${limit.line} belongs to the YAML anchor &${site.shared}, which other places use; write the value out`,
      };
}

/** The files of a list that may hold values. */
export function valuesFilesIn(reader: TreeReader, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => looksLikeValues(path) && templateOf(reader, path) === undefined);
}
