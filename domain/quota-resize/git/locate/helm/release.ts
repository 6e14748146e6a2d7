/** The known and possible installations of a chart, and the values of each. */
import { isMap, isScalar } from 'yaml';
import { leavesOf, type ManifestDocument, nodeAt, textAt } from '../../yaml/documents.ts';
import type { Pointer } from '../../yaml/field-path.ts';
import { chartFile } from './chart.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { isWithin } from '../tree/paths.ts';
import type { TreeReader } from '../tree/tree-reader.ts';
import { problemOf } from '../tree/unread.ts';

/** One installation of a chart. A later layer of values overrides an earlier one. */
export interface Release {
  readonly chart: string;
  readonly layers: readonly Layer[];
  readonly namespace?: string;
  readonly namespaceBy?: string;
  readonly name?: string;
  /** The file with the chart's schema of its values, if it has one. */
  readonly schema?: string;
  readonly obstacles: readonly SourceNote[];
  /** The Argo CD or Flux object that installs the release, where it is known. */
  readonly delivery?: Delivery;
  /** Set when nothing says that its values file, which is outside of the chart, belongs to this chart. */
  readonly unnamed?: true;
  /** A path that the namespace and the cluster can be derived from. */
  readonly path: string;
}

/** A mapping of values: the root of a file, or a part of an object. */
export interface Layer {
  readonly document: ManifestDocument;
  readonly pointer: Pointer;
}

export function valuesFile(chart: string): string {
  return inChart(chart, 'values.yaml');
}

function inChart(chart: string, file: string): string {
  return chart === '' ? file : `${chart}/${file}`;
}

export function releasesOf(
  reader: TreeReader,
  chart: string,
  deliveries: readonly Delivery[],
  values: readonly string[],
): readonly Release[] {
  const schema = inChart(chart, 'values.schema.json');
  const releases = installationsOf(reader, chart, deliveries, values);
  if (!reader.isFile(schema)) return releases;
  // An edit needs it.
  reader.text(schema);
  return releases.map((release) => ({ ...release, schema }));
}

function installationsOf(
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
      ...(delivery.namespace === undefined ? {} : { namespace: delivery.namespace, namespaceBy: delivery.learntFrom }),
      ...(delivery.release === undefined ? {} : { name: delivery.release }),
      obstacles: [
        ...obstaclesOf(reader, delivery),
        ...unreadValues(reader, [valuesFile(chart), ...delivery.valueFiles]),
        ...dependency,
      ],
      delivery,
      path: delivery.valueFiles.at(-1) ?? valuesFile(chart),
    }),
  );
  if (delivered.length > 0 && !installed.some(({ isOneOfMany }) => isOneOfMany === true)) {
    return delivered;
  }
  const inUse = new Set([valuesFile(chart), ...installed.flatMap(({ valueFiles }) => valueFiles)]);
  const free = values.filter((path) => !inUse.has(path));
  const named = new Set(deliveries.flatMap(({ valueFiles }) => valueFiles));
  const keys = keysOf(reader, chart);
  // A values file for another chart usually sets keys that this chart does not know.
  const unnamed = free.filter(
    (path) =>
      !isWithin(path, chart) &&
      !named.has(path) &&
      !insideSomeChart(reader, path) &&
      layersOf(reader, path)
        .flatMap(topKeys)
        .every((key) => keys.has(key)),
  );
  const open = (...files: readonly string[]): Pick<Release, 'chart' | 'obstacles'> => ({
    chart,
    obstacles: [...unreadValues(reader, [valuesFile(chart), ...files]), ...dependency],
  });
  return [
    ...delivered,
    ...(delivered.some(({ path }) => path === valuesFile(chart))
      ? []
      : [{ ...open(), layers: own, path: valuesFile(chart) }]),
    ...free
      .filter((path) => isWithin(path, chart))
      .map((path) => ({ ...open(path), layers: [...own, ...layersOf(reader, path)], path })),
    ...unnamed.map((path) => ({
      ...open(path),
      layers: [...own, ...layersOf(reader, path)],
      obstacles: [
        {
          path,
          line: 1,
          message: `may be values of the chart ${chart || 'at the root'}, but nothing names it for that`,
        },
        ...open(path).obstacles,
      ],
      unnamed: true as const,
      path,
    })),
  ];
}

/** The top-level values that a chart knows: those that its values.yaml sets and those that its templates use. */
function keysOf(reader: TreeReader, chart: string): ReadonlySet<string> {
  const folder = chart === '' ? 'templates' : `${chart}/templates`;
  const inTemplates = reader.index
    .below(folder)
    .flatMap((path) => [...(reader.tree.texts.get(path) ?? '').matchAll(/\.Values\.([\w-]+)/g)])
    .map(([, key = '']) => key);
  return new Set(['global', ...inTemplates, ...layersOf(reader, valuesFile(chart)).flatMap(topKeys)]);
}

function topKeys({ document }: Layer): readonly string[] {
  const { root } = document;
  return isMap(root) ? root.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
}

function obstaclesOf(
  reader: TreeReader,
  { opaque, path, line, learntFrom, valueFiles }: Delivery,
): readonly SourceNote[] {
  const gone = valueFiles.find((file) => !reader.isFile(file));
  const why = opaque ?? (gone === undefined ? undefined : `names the values file ${gone}, which is not there`);
  return why === undefined ? [] : [{ path, line, message: `${learntFrom} ${why}` }];
}

/** Values files that are not read: what they set is not known. */
function unreadValues(reader: TreeReader, files: readonly string[]): readonly SourceNote[] {
  return [...new Set(files)].flatMap((path) => {
    const unread = reader.isFile(path) && reader.text(path) === null ? reader.whyUnread(path) : undefined;
    return unread === undefined ? [] : [{ path, line: 1, message: unread.message, reason: problemOf(unread) }];
  });
}

/** A parent chart, with this one in its folder `charts`, may override this chart's values. */
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
        // A Kubernetes object is not a mapping of values.
        document.error === undefined && isMap(document.root) && textAt(document, ['apiVersion']) === undefined
          ? [{ document, pointer: [] }]
          : [],
      )
    : [];
}

/** The value at a pointer, from the last layer that sets it. */
export function lookup(release: Release, pointer: Pointer): unknown {
  return release.layers
    .map((layer) => nodeAt(layer.document, [...layer.pointer, ...pointer]))
    .findLast((node) => node !== undefined && node !== null);
}

/** The keys of a mapping, merged over all layers, or the indices of a sequence. */
export function keysAt(release: Release, pointer: Pointer): readonly (string | number)[] {
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
