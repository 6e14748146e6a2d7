/** The quotas of a set of files as they reach a cluster, with the place of each value and how it can be raised. */
import { isQuantity } from '../../../../kernel/quantity.ts';
import { isTemplate } from '../helm/chart.ts';
import { AppliedFolders } from '../delivery/applied-folders.ts';
import { delivered } from '../delivery/apply-delivery.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { chartQuotas } from '../helm/chart-quotas.ts';
import { kustomizationFileIn } from '../kustomize/kustomization.ts';
import { folderOf, isKustomizationFile, isWithin } from '../tree/paths.ts';
import { Renderer } from '../kustomize/render.ts';
import { type AppliedPatch, type ObjectName, quotasOfFile, type RenderedQuota } from './rendered-quota.ts';
import type { Resolution, ResolvedQuota } from './resolved.ts';
import {
  documentKey,
  ownerKey,
  valueLocationKey,
  type SourceNote,
  type ValueLocation,
} from '../location/limit-location.ts';
import type { TreeReader } from '../tree/tree-reader.ts';
import type { DocumentLocation, ValueEdit } from '../../yaml/value-edit.ts';

/** The files to evaluate. */
export interface Region {
  readonly kustomizations: readonly string[];
  /** Files with quotas; kustomizations may include some of them. */
  readonly manifests: readonly string[];
  /** Files that may contain values of charts. */
  readonly values: readonly string[];
  /**
   * What applies which folder, as far as it is known. A kustomization in such a folder counts as applied even if
   * another one includes it.
   */
  readonly deliveries: readonly Delivery[];
  /** What else is known to be applied. */
  readonly applied?: AppliedFolders;
  /** A folder whose kustomization counts as applied, even if another one includes it. */
  readonly root?: string;
  /**
   * Where kustomizations that are not among those that were followed may use files; absent: all are known. `root`: outside
   * of the root. `overlay`: they may be below the root too, so outside of each quota's own overlay.
   */
  readonly sharedOutside?: (isFollowed: (kustomization: string) => boolean) => 'root' | 'overlay' | undefined;
}

export function resolve(reader: TreeReader, region: Region): Resolution {
  const renderer = new Renderer(reader);
  const { rendered, notes } = renderRegion(reader, renderer, region);
  const uses = usesOf(rendered);
  const { root } = region;
  const sharedOutside = region.sharedOutside?.((path) => renderer.hasRead(path));
  const outside =
    (quota: RenderedQuota): Outside =>
    (path) => {
      const overlay = folderOf(quota.chain.at(-1)?.path ?? quota.object.document.path);
      return sharedOutside !== undefined && !isWithin(path, sharedOutside === 'root' ? (root ?? overlay) : overlay);
    };
  const charts = chartQuotas(reader, region.manifests, region.deliveries, region.values);
  return {
    quotas: [...rendered.map((quota) => resolvedQuota(quota, uses, renderer, outside(quota))), ...charts],
    notes,
  };
}

function renderRegion(
  reader: TreeReader,
  renderer: Renderer,
  region: Region,
): { readonly rendered: readonly RenderedQuota[]; readonly notes: readonly SourceNote[] } {
  const referenced = new Set(region.kustomizations.flatMap((path) => renderer.references(path)));
  const listed = new Set(region.kustomizations.flatMap((path) => renderer.listedFiles(path)));
  const inFiles = new AppliedFolders(region.deliveries);
  const deliveriesAt = (folder: string): readonly Delivery[] => [
    ...(region.applied?.at(folder) ?? []),
    ...inFiles.at(folder),
  ];
  const isBuilt = (folder: string): boolean => kustomizationFileIn(reader, folder) !== undefined;
  const isApplied = (folder: string): boolean => folder === region.root || deliveriesAt(folder).length > 0;
  const isRoot = (path: string): boolean => !referenced.has(path) || isApplied(folderOf(path));
  const roots = region.kustomizations.filter((path) => isRoot(path) && !renderer.isComponent(path));
  const renderings = roots.map((path) => renderer.render(path));
  // A base that was followed may be applied by itself as well.
  const known = new Set(region.kustomizations);
  for (const path of renderer.followed()) {
    if (!known.has(path) && deliveriesAt(folderOf(path)).length > 0 && !renderer.isComponent(path)) {
      renderings.push(renderer.render(path));
    }
  }
  const beside = new Map(
    region.kustomizations
      .filter((path) => renderer.kustomization(path) !== undefined)
      .map((path) => [folderOf(path), path]),
  );
  const rendered = renderings.flatMap(({ quotas }) => quotas);
  const notes = renderings.flatMap((rendering) => rendering.notes);
  for (const path of region.manifests) {
    if (listed.has(path) || isKustomizationFile(path) || isTemplate(reader, path)) {
      continue;
    }
    const file = quotasOfFile(reader, path);
    const kustomization = beside.get(folderOf(path));
    if (kustomization === undefined) {
      rendered.push(...file.quotas);
      notes.push(...file.notes);
    } else {
      notes.push(...file.quotas.map((quota) => notApplied(quota, whyNotApplied(renderer, kustomization))));
    }
  }
  return { rendered: withoutRepeats(delivered(rendered, { deliveriesAt, isBuilt })), notes: withoutSameNotes(notes) };
}

/** Why a file beside a kustomization is not applied: no known kustomization includes it. */
function whyNotApplied(renderer: Renderer, kustomization: string): string {
  const read = renderer.kustomization(kustomization);
  return read === undefined || 'resources' in read
    ? `${kustomization} beside it does not name this file, so it is not applied`
    : `${kustomization} beside it cannot be read (line ${read.line}: ${read.message}), so kustomize refuses to build this folder`;
}

function notApplied({ object, name, namespace }: RenderedQuota, message: string): SourceNote {
  return {
    path: object.document.path,
    line: object.line,
    reason: 'Unplaceable',
    message,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function withoutSameNotes(notes: readonly SourceNote[]): readonly SourceNote[] {
  return [...new Map(notes.map((note) => [`${note.path}:${note.line}:${note.message}`, note])).values()];
}

/** Removes copies: a kustomization that only includes another one does not define a second quota. */
function withoutRepeats(rendered: readonly RenderedQuota[]): RenderedQuota[] {
  const kept = new Map<string, RenderedQuota>();
  for (const quota of rendered) {
    const valueLocations = [...quota.values]
      .map(([key, valueLocation]) => `${key} ${valueLocationKey(valueLocation)}`)
      .toSorted();
    const key = JSON.stringify([
      quota.namespace,
      quota.name,
      objectKey(quota),
      quota.chain[0]?.path ?? null,
      valueLocations,
    ]);
    const other = kept.get(key);
    if (other === undefined || quota.chain.length < other.chain.length) {
      kept.set(key, quota);
    }
  }
  return [...kept.values()];
}

function objectKey({ object }: RenderedQuota): string {
  const { path, part, index } = object.document;
  return JSON.stringify([path, part, index, object.pointer]);
}

/** The quotas that use an object or a patch, or an object in a certain kustomization. */
type Uses = ReadonlyMap<string, ReadonlySet<RenderedQuota>>;

function usesOf(rendered: readonly RenderedQuota[]): Uses {
  const uses = new Map<string, Set<RenderedQuota>>();
  const note = (key: string, quota: RenderedQuota): void => {
    const users = uses.get(key) ?? new Set();
    users.add(quota);
    uses.set(key, users);
  };
  for (const quota of rendered) {
    for (const made of quota.made) {
      note(made, quota);
    }
    for (const { path } of quota.chain) {
      for (const name of quota.names) note(passKey(path, quota, name), quota);
    }
  }
  return uses;
}

/** A patch of a kustomization changes whatever had its name and namespace before, so one that only one has is its own. */
function passKey(kustomization: string, quota: RenderedQuota, { name, namespace }: ObjectName): string {
  return JSON.stringify(['pass', kustomization, objectKey(quota), name, namespace ?? null]);
}

/** Whether kustomizations that were not read may use a file. */
type Outside = (path: string) => boolean;

function resolvedQuota(quota: RenderedQuota, uses: Uses, renderer: Renderer, outside: Outside): ResolvedQuota {
  const { object, name, namespace, namespaceBy, chain } = quota;
  const readable = [...quota.values].filter(([, { text }]) => typeof text === 'string' && isQuantity(text));
  const unreadable = [...quota.values].filter(([key]) => !readable.some(([other]) => other === key));
  return {
    name,
    namespace,
    ...(namespaceBy === undefined ? {} : { namespaceBy }),
    path: object.document.path,
    line: object.line,
    layout: chain.length === 0 ? 'manifest' : 'kustomize',
    values: new Map(
      readable.map(([key, valueLocation]) => [
        key,
        {
          value: { path: valueLocation.path, line: valueLocation.line, text: valueLocation.text ?? '' },
          edit: editOf(quota, valueLocation, uses, renderer, outside),
        },
      ]),
    ),
    unreadable: unreadable.map(([key, { path, line, text }]) => ({
      key,
      note: {
        path,
        line,
        reason: 'Unplaceable',
        message: `the value of ${key}${text === undefined || text === null || text === '' ? '' : `, ${text},`} is not a quantity such as 2, 500m or 4Gi${text === undefined ? ' (a number that begins with 0 is none)' : ''}`,
      },
    })),
    obstacles: quota.opaque,
    paths: [...chain.map(({ path }) => path).toReversed(), object.document.path],
    ...(quota.delivery === undefined ? {} : { delivery: quota.delivery }),
  };
}

function editOf(
  quota: RenderedQuota,
  valueLocation: ValueLocation,
  uses: Uses,
  renderer: Renderer,
  outside: Outside,
): ValueEdit {
  const usersOf = uses.get(ownerKey(valueLocation));
  const own =
    usersOf?.size === 1 &&
    !outside(valueLocation.path) &&
    valueLocation.shared === undefined &&
    valueLocation.inline?.literal !== false;
  if (own) {
    return { kind: 'replace', at: documentLocation(valueLocation), pointer: valueLocation.pointer };
  }
  const overlay = quota.chain.find(
    ({ path, as }, level) =>
      level >= valueLocation.level &&
      uses.get(passKey(path, quota, as))?.size === 1 &&
      !outside(path) &&
      // A new patch would be applied before this JSON patch of patchesJson6902 and so be overridden by it.
      !(valueLocation.owner === path && valueLocation.order >= LAST_FIELD),
  );
  const kustomization = overlay === undefined ? undefined : renderer.kustomization(overlay.path);
  if (overlay === undefined || kustomization === undefined || !('document' in kustomization)) {
    return {
      kind: 'none',
      message: whyNot(valueLocation, outside(valueLocation.path) ? 'other' : [...(usersOf ?? [])]),
    };
  }
  const extended = quota.patches.findLast(
    (patch) =>
      patch.owner === overlay.path &&
      uses.get(documentKey(patch))?.size === 1 &&
      !outside(patch.path) &&
      patch.inline?.literal !== false &&
      (valueLocation.owner !== overlay.path || patch.order > valueLocation.order),
  );
  if (extended !== undefined) {
    return { kind: 'add', at: documentLocation(extended), pointer: extended.hard, key: valueLocation.key };
  }
  const { part, index } = kustomization.document;
  return {
    kind: 'patch',
    at: { path: overlay.path, part, index },
    name: overlay.as.name,
    ...(overlay.as.namespace === undefined ? {} : { namespace: overlay.as.namespace }),
    key: valueLocation.key,
  };
}

/** Orders from here on belong to patchesJson6902, see `applyEntry`. */
const LAST_FIELD = 2_000_000;

function whyNot({ key, path, line, shared, inline }: ValueLocation, users: readonly RenderedQuota[] | 'other'): string {
  if (users === 'other') {
    return `the value of ${key} at ${path}:${line} may be used by other kustomizations, and there is no overlay of its own that could patch it`;
  }
  if (users.length > 1) {
    const deliveries = [...new Set(users.flatMap(({ delivery }) => delivery?.learntFrom ?? []))];
    const by = deliveries.length === 0 ? '' : ` (of ${listed(deliveries)})`;
    return `the value of ${key} at ${path}:${line} is used by ${users.length} quotas${by}, and there is no overlay of its own that could patch it`;
  }
  if (inline?.literal === false) {
    return `the patch with the value of ${key} at ${path}:${line} is no literal block: write it with |- over several lines`;
  }
  return `the value of ${key} at ${path}:${line} belongs to the YAML anchor &${shared ?? ''}, which other places use; write the value out`;
}

const DELIVERIES_SHOWN = 5;

function listed(names: readonly string[]): string {
  const more = names.length - DELIVERIES_SHOWN;
  return `${names.slice(0, DELIVERIES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function documentLocation({ path, part, index, inline }: ValueLocation | AppliedPatch): DocumentLocation {
  return {
    path,
    part,
    index,
    ...(inline === undefined ? {} : { inline: { part: inline.part, index: inline.index, pointer: inline.pointer } }),
  };
}
