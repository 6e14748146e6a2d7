/** Custom resources that own workloads and have a scale subresource: their definitions, and the numbers of their objects. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { z } from 'zod';
import { isRecord } from '../../domain/kernel/record.ts';
import { isAgreedController } from '../../domain/lights-out/schedule/exempt.ts';
import { createdBy, specChange, statusWrittenAt } from '../../domain/lights-out/workload/field-owner.ts';
import { hasReplicas } from '../../domain/lights-out/workload/kinds.ts';
import { byOwner, markedOwner, type OwnerMark } from '../../domain/lights-out/workload/scaled-owner.ts';
import type { OwnerResource, ScaledOwner, Workload } from '../../domain/lights-out/workload/workload.ts';
import { orNull } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { listAll } from '../kubernetes/list.ts';
import { customPage } from '../kubernetes/custom-page.ts';
import { withDates, withLatest } from './read-workload.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' } as const;

/** A kind of owners by its definition. */
export interface OwnerKind extends OwnerResource {
  readonly kind: string;
  /** The field with the number, below `spec`. */
  readonly path: readonly string[];
}

const definition = z.object({
  spec: z.object({
    group: z.string(),
    scope: z.string(),
    names: z.object({ plural: z.string(), kind: z.string() }),
    versions: z.array(
      z.object({
        name: z.string(),
        served: z.boolean(),
        subresources: z.object({ scale: z.object({ specReplicasPath: z.string() }).optional() }).nullish(),
      }),
    ),
  }),
});

/** Null where objects of a namespace have no scale subresource in any version that is served. */
export function ownerKindOf(name: string, object: unknown): OwnerKind | null {
  const { data } = definition.safeParse(object);
  if (data === undefined || data.spec.scope !== 'Namespaced') return null;
  const { group, names, versions } = data.spec;
  const scaled = versions.find(({ served, subresources }) => served && subresources?.scale !== undefined);
  const [, spec, ...path] = scaled?.subresources?.scale?.specReplicasPath.split('.') ?? [];
  if (scaled === undefined || spec !== 'spec' || path.length === 0) return null;
  return { definition: name, group, version: scaled.name, ...names, path };
}

/** The owner is there, and its number cannot be set any more: its definition has lost its scale subresource. */
export class UnscaledOwner extends Error {
  override readonly name = 'UnscaledOwner';

  constructor({ definition: of, name }: Pick<OwnerMark, 'definition' | 'name'>) {
    super(`the number of its owner ${name} cannot be set: ${of} has no scale subresource any more`);
  }
}

interface Definition {
  readonly isThere: boolean;
  /** Null where its objects have no scale subresource. */
  readonly kind: OwnerKind | null;
}

/** Milliseconds for which a definition is taken to be as it was read. */
const KNOWN_MS = 60_000;

/** The kinds of the owners that a process follows, each read at most once a minute. */
export class OwnerKinds {
  readonly #kubernetes: Kubernetes;
  readonly #names: readonly string[];
  readonly #read = new Map<string, { readonly at: number; readonly found: Promise<Definition> }>();

  /** @param names of definitions. */
  constructor(kubernetes: Kubernetes, names: readonly string[]) {
    this.#kubernetes = kubernetes;
    this.#names = names;
  }

  /** Null for a definition that is not there, or has no scale subresource. @throws ApiException where it cannot be read. */
  async of(name: string): Promise<OwnerKind | null> {
    return (await this.#definition(name)).kind;
  }

  async #definition(name: string): Promise<Definition> {
    const known = this.#read.get(name);
    if (known !== undefined && Date.now() - known.at < KNOWN_MS) return await known.found;
    const found = orNull<unknown>(this.#kubernetes.custom.getClusterCustomObject({ ...DEFINITIONS, name })).then(
      (object) => ({ isThere: object !== null, kind: ownerKindOf(name, object) }),
    );
    this.#read.set(name, { at: Date.now(), found });
    // What failed is asked again at once.
    found.catch(() => this.#read.delete(name));
    return await found;
  }

  async all(): Promise<readonly OwnerKind[]> {
    const kinds = await Promise.all(this.#names.map(async (name) => await this.of(name)));
    return kinds.filter((kind) => kind !== null);
  }

  /** All of them in the cluster, with those that are given. */
  async list(owners = new Owners()): Promise<Owners> {
    for (const kind of await this.all()) {
      const { group, version, plural } = kind;
      const found = await listAll(async (range) => {
        const request = this.#kubernetes.custom.listClusterCustomObject({ group, version, plural, ...range });
        const { metadata = {}, items } = await customPage(request, (object) => ownerOf(kind, object));
        return { metadata, items };
      });
      owners.follow(kind);
      for (const owner of found) owners.put(owner);
    }
    return owners;
  }

  /** The workload by its owner, read now: the one that its mark names, or one of the kinds that are followed. */
  async attached(workload: Workload): Promise<Workload> {
    if (!hasReplicas(workload.kind)) return workload;
    const named = markedOwner(workload) ?? (await this.#followed(workload));
    if (named === null) return workload;
    return byOwner(workload, ownOf(workload, await this.read(named, workload.namespace)), false);
  }

  async #followed({ controller }: Workload): Promise<Pick<OwnerMark, 'definition' | 'name'> | null> {
    if (controller === undefined || isAgreedController(controller)) return null;
    const kind = (await this.all()).find((each) => isOfKind(each, controller));
    return kind === undefined ? null : { definition: kind.definition, name: controller.name };
  }

  /** Null where it is gone. @throws UnscaledOwner where it may be there, and has no number that can be set. */
  async read(mark: Pick<OwnerMark, 'definition' | 'name'>, namespace: string): Promise<ScaledOwner | null> {
    const found = await this.#readAs(mark, namespace);
    if (found !== null) return found;
    // A version that is not served any more answers like an owner that is gone.
    this.#read.delete(mark.definition);
    return await this.#readAs(mark, namespace);
  }

  async #readAs(mark: Pick<OwnerMark, 'definition' | 'name'>, namespace: string): Promise<ScaledOwner | null> {
    const { isThere, kind } = await this.#definition(mark.definition);
    if (!isThere) return null;
    if (kind === null) throw new UnscaledOwner(mark);
    const { group, version, plural } = kind;
    const { name } = mark;
    const request = this.#kubernetes.custom.getNamespacedCustomObject({ group, version, plural, namespace, name });
    const object = await orNull<unknown>(request);
    return object === null ? null : ownerOf(kind, object);
  }
}

function isOfKind(kind: Pick<OwnerKind, 'group' | 'kind'>, controller: NonNullable<Workload['controller']>): boolean {
  return kind.group === controller.group && kind.kind === controller.kind;
}

/** The owner, where it is the one that the workload's owner reference means, and no other of that name. */
function ownOf({ controller }: Workload, owner: ScaledOwner | null): ScaledOwner | null {
  return owner?.uid === controller?.uid ? owner : null;
}

/** An owner and where it is. */
export type LocatedOwner = ScaledOwner & { readonly namespace: string };

/** An owner by its object. */
export function ownerOf(kind: OwnerKind, object: unknown): LocatedOwner {
  const { metadata = {}, ...rest } = withDates(object as KubernetesObject);
  const { spec, status } = rest as { readonly spec?: unknown; readonly status?: unknown };
  const { managedFields = [], generation = 0 } = metadata;
  const { path, ...resource } = kind;
  const value = path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), spec);
  const changed = specChange(managedFields, path);
  const observed = isRecord(status) ? Number(status['observedGeneration'] ?? 0) : 0;
  return {
    ...resource,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation,
    createdAt: metadata.creationTimestamp?.getTime() ?? 0,
    createdBy: createdBy(managedFields),
    replicas: typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null,
    changed: observed < generation ? changed : withLatest(changed, statusWrittenAt(managedFields)),
  };
}

/** The owners of a cluster. */
export class Owners {
  readonly #kinds = new Map<string, OwnerKind>();
  readonly #owners = new Map<string, ScaledOwner>();

  follow(kind: OwnerKind): void {
    this.#kinds.set(`${kind.group}/${kind.kind}`, kind);
  }

  put({ namespace, ...owner }: LocatedOwner): void {
    this.#owners.set(keyOf(owner, namespace), owner);
  }

  remove(owner: LocatedOwner): void {
    this.#owners.delete(keyOf(owner, owner.namespace));
  }

  get(mark: Pick<OwnerMark, 'definition' | 'name'>, namespace: string): ScaledOwner | null {
    return this.#owners.get(keyOf(mark, namespace)) ?? null;
  }

  /** One workload by its owner; `others`: those of its namespace. */
  attached(workload: Workload, others: () => readonly Workload[]): Workload {
    const owner = this.#kinds.size === 0 ? null : this.of(workload);
    if (owner === null) return workload;
    const isSame = (other: Workload): boolean =>
      other.uid !== workload.uid && other.replicas === owner.replicas && this.of(other)?.uid === owner.uid;
    return byOwner(workload, owner, workload.replicas === owner.replicas && others().some(isSame));
  }

  /** Workloads by their owners. */
  attachedAll(workloads: readonly Workload[]): readonly Workload[] {
    if (this.#kinds.size === 0) return workloads;
    const shared = Map.groupBy(workloads, (workload) => {
      const owner = this.of(workload);
      return owner === null || owner.replicas !== workload.replicas ? null : owner.uid;
    });
    return workloads.map((workload) => {
      const owner = this.of(workload);
      return byOwner(workload, owner, owner !== null && (shared.get(owner.uid)?.length ?? 0) > 1);
    });
  }

  /** The owner of a workload, before it is attached; null: it has none that is followed. */
  of(workload: Workload): ScaledOwner | null {
    if (!hasReplicas(workload.kind)) return null;
    const marked = markedOwner(workload);
    if (marked !== null) return ownOf(workload, this.get(marked, workload.namespace));
    const { controller } = workload;
    if (controller === undefined || isAgreedController(controller)) return null;
    const kind = this.#kinds.get(`${controller.group}/${controller.kind}`);
    if (kind === undefined) return null;
    return ownOf(workload, this.get({ definition: kind.definition, name: controller.name }, workload.namespace));
  }
}

function keyOf({ definition: name, name: of }: Pick<OwnerMark, 'definition' | 'name'>, namespace: string): string {
  return `${name} ${namespace}/${of}`;
}
