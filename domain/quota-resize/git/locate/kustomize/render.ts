/**
 * Computes what `kustomize build` makes of ResourceQuotas: their names, their namespaces, and the place that finally
 * sets each limit. Everything else is ignored.
 *
 * The order of the transformers is kustomize's own: strategic merge patches, patches, namespace, prefix and suffix,
 * JSON patches (builtin transformers of api/internal/target/kusttarget_configplugin.go).
 */
import { textAt } from '../../yaml/documents.ts';
import {
  type BrokenKustomization,
  isRemote,
  type Kustomization,
  kustomizationFileIn,
  readKustomization,
} from './kustomization.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { applyEntry } from './patch.ts';
import { pathFrom } from '../tree/paths.ts';
import { type ObjectName, quotasOfFile, type RenderedQuota, type Rendering } from '../resolve/rendered-quota.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** Kustomizations that include each other more deeply are not followed: each level is another request. */
const MAX_DEPTH = 32;

export class Renderer {
  readonly #reader: TreeReader;
  readonly #renderings = new Map<string, Rendering>();
  readonly #kustomizations = new Map<string, Kustomization | BrokenKustomization | undefined>();

  constructor(reader: TreeReader) {
    this.#reader = reader;
  }

  kustomization(path: string): Kustomization | BrokenKustomization | undefined {
    if (!this.#kustomizations.has(path)) {
      this.#kustomizations.set(path, readKustomization(this.#reader, path));
    }
    return this.#kustomizations.get(path);
  }

  /** Whether a kustomization was evaluated, and not just named by another one. */
  hasRead(path: string): boolean {
    return this.#kustomizations.has(path) && this.#reader.whyUnread(path) === undefined;
  }

  /** The kustomizations that were evaluated so far. */
  followed(): readonly string[] {
    return [...this.#kustomizations.keys()];
  }

  /** The kustomization files that a kustomization includes as resources, bases or components. */
  references(path: string): readonly string[] {
    const kustomization = this.kustomization(path);
    if (kustomization === undefined || !('resources' in kustomization)) {
      return [];
    }
    return [...kustomization.resources, ...kustomization.components].flatMap((resource) => {
      const folder = isRemote(resource) ? undefined : pathFrom(kustomization.folder, resource);
      return folder === undefined ? [] : (kustomizationFileIn(this.#reader, folder) ?? []);
    });
  }

  isComponent(path: string): boolean {
    const kustomization = this.kustomization(path);
    return (
      kustomization !== undefined &&
      'resources' in kustomization &&
      textAt(kustomization.document, ['kind']) === 'Component'
    );
  }

  /** The files that a kustomization includes as resources or patches. */
  listedFiles(path: string): readonly string[] {
    const kustomization = this.kustomization(path);
    if (kustomization === undefined || !('resources' in kustomization)) {
      return [];
    }
    const resources = kustomization.resources.map((resource) => pathFrom(kustomization.folder, resource));
    const patches = kustomization.patches.map((patch) => patch.path);
    return [...resources, ...patches].filter((file) => file !== undefined && this.#reader.isFile(file)) as string[];
  }

  render(path: string): Rendering {
    return this.#renderings.get(path) ?? this.#renderOnce(path, []);
  }

  #renderOnce(path: string, trail: readonly string[]): Rendering {
    const cached = this.#renderings.get(path);
    if (cached !== undefined) {
      return cached;
    }
    if (trail.length >= MAX_DEPTH) {
      const message = `is included by more than ${MAX_DEPTH} kustomizations, one in the other, and not followed`;
      return { quotas: [], notes: [{ path, line: 1, reason: 'Unplaceable', message }] };
    }
    const kustomization = this.kustomization(path);
    if (kustomization === undefined) {
      return { quotas: [], notes: [] };
    }
    if (!('resources' in kustomization)) {
      return { quotas: [], notes: [kustomization] };
    }
    if (trail.includes(path)) {
      return {
        quotas: [],
        notes: [{ path, line: 1, reason: 'Unplaceable', message: 'the kustomization includes itself' }],
      };
    }
    const rendering = this.#build(kustomization, [], [...trail, path]);
    this.#renderings.set(path, rendering);
    return rendering;
  }

  /** The resources of a kustomization after its transformers. A component also transforms the quotas `before` it. */
  #build(kustomization: Kustomization, before: readonly RenderedQuota[], trail: readonly string[]): Rendering {
    const { path } = kustomization;
    const notes: SourceNote[] = [];
    let quotas = [...before];
    for (const resource of kustomization.resources) {
      const part = this.#resource(kustomization, resource, trail);
      quotas.push(...part.quotas);
      notes.push(...part.notes);
    }
    for (const component of kustomization.components) {
      const file = this.#folderFile(kustomization, component);
      const inner = file === undefined ? undefined : this.kustomization(file);
      if (file === undefined || trail.includes(file) || (inner !== undefined && !('resources' in inner))) {
        const problem = { path, line: 1, message: `its component ${component} cannot be read` };
        quotas = quotas.map((quota) => ({ ...quota, opaque: [...quota.opaque, problem] }));
      } else if (inner !== undefined) {
        const built = this.#build(inner, quotas, [...trail, file]);
        quotas = [...built.quotas];
        notes.push(...built.notes);
      }
    }
    const transformed = transform(this.#reader, kustomization, quotas);
    const isComponent = this.isComponent(path);
    return {
      quotas: transformed.quotas.map((quota, index) => {
        const entry = transformed.before[index];
        return isComponent || entry === undefined ? quota : { ...quota, chain: [...quota.chain, { path, as: entry }] };
      }),
      notes: [...notes, ...transformed.notes],
    };
  }

  #folderFile(kustomization: Kustomization, resource: string): string | undefined {
    const folder = isRemote(resource) ? undefined : pathFrom(kustomization.folder, resource);
    return folder === undefined ? undefined : kustomizationFileIn(this.#reader, folder);
  }

  #resource(kustomization: Kustomization, resource: string, trail: readonly string[]): Rendering {
    const path = isRemote(resource) ? undefined : pathFrom(kustomization.folder, resource);
    if (path === undefined) {
      return { quotas: [], notes: [] };
    }
    if (this.#reader.isFile(path)) {
      return quotasOfFile(this.#reader, path);
    }
    const file = kustomizationFileIn(this.#reader, path);
    return file === undefined ? { quotas: [], notes: [] } : this.#renderOnce(file, trail);
  }
}

interface Transformed extends Rendering {
  /** The name of each quota before this kustomization renamed it. */
  readonly before: readonly ObjectName[];
}

function transform(reader: TreeReader, kustomization: Kustomization, incoming: readonly RenderedQuota[]): Transformed {
  const notes: SourceNote[] = [];
  let quotas = incoming.map((quota) => ({ quota, before: { name: quota.name, namespace: quota.namespace } }));
  const runPatches = (fields: readonly string[]): void => {
    for (const entry of kustomization.patches.filter(({ field }) => fields.includes(field))) {
      const result = applyEntry(
        reader,
        kustomization,
        entry,
        quotas.map(({ quota }) => quota),
      );
      quotas = quotas.flatMap(({ before }, index) => {
        const quota = result.quotas[index];
        return quota === undefined ? [] : [{ quota, before }];
      });
      notes.push(...result.notes);
    }
  };
  runPatches(['patchesStrategicMerge', 'patches']);
  quotas = quotas.map(({ quota, before }) => ({ quota: renamed(quota, kustomization), before }));
  runPatches(['patchesJson6902']);
  const opaque = kustomization.opaque.map((message) => ({ path: kustomization.path, line: 1, message }));
  return {
    quotas: quotas.map(({ quota }) =>
      opaque.length === 0 ? quota : { ...quota, opaque: [...quota.opaque, ...opaque] },
    ),
    before: quotas.map(({ before }) => before),
    notes,
  };
}

function renamed(quota: RenderedQuota, { path, namespace, prefix, suffix }: Kustomization): RenderedQuota {
  if (namespace === undefined && prefix === '' && suffix === '') {
    return quota;
  }
  const now = { name: `${prefix}${quota.name}${suffix}`, namespace: namespace ?? quota.namespace };
  return {
    ...quota,
    ...now,
    ...(namespace === undefined ? {} : { namespaceBy: path }),
    names: [...quota.names, now],
  };
}
