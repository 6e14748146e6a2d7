/** The object that a workload would make next, as the API server would take it in. */
import { statusCode } from '../../../activities/ports/kubernetes-failure.ts';
import { listAll } from '../../../activities/ports/kubernetes-list.ts';
import type { NamespaceView } from '../../../activities/quota-resize/namespace-view.ts';
import type { GroupResource } from '../../../domain/kernel/group-resource.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import type { Missing } from '../../../domain/quota-resize/missing.ts';
import type { CountedObject } from '../../../domain/quota-usage/evaluator.ts';
import { withDefaults } from '../../../domain/quota-usage/limit-range.ts';

/** An object that is not there yet. */
export interface TemplateObject {
  readonly resource: GroupResource;
  readonly object: CountedObject;
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** Makes such objects of one namespace, with the defaults that admission gives them before quotas look at them. */
export class Templates {
  readonly #view: NamespaceView;
  readonly #read = new Map<string, Promise<unknown>>();

  constructor(view: NamespaceView) {
    this.#view = view;
  }

  async object(missing: Missing): Promise<TemplateObject> {
    const { namespace } = this.#view;
    switch (missing.of) {
      case 'object':
        return { resource: { group: missing.group, resource: missing.resource }, object: { metadata: { namespace } } };
      case 'claim': {
        const { metadata, spec } = missing.claim;
        const storageClassName = spec?.storageClassName ?? (await this.#defaultStorageClass());
        const claim = {
          metadata: { ...metadata, namespace },
          spec: { ...spec, ...(storageClassName === null ? {} : { storageClassName }) },
        };
        return { resource: { group: '', resource: 'persistentvolumeclaims' }, object: claim };
      }
      case 'pod':
        return { resource: { group: '', resource: 'pods' }, object: await this.#pod(missing.spec) };
    }
  }

  async #pod(template: (Missing & { readonly of: 'pod' })['spec']): Promise<CountedObject> {
    const spec = withDefaults(template, await this.#view.limitRanges());
    const overhead = template.overhead ?? (await this.#overheadOf(template.runtimeClassName ?? ''));
    const named = template.priorityClassName ?? '';
    const priorityClassName = named === '' ? await this.#defaultPriorityClass() : named;
    const pod = {
      metadata: { namespace: this.#view.namespace },
      spec: {
        ...spec,
        ...(overhead === null ? {} : { overhead }),
        ...(priorityClassName === null ? {} : { priorityClassName }),
      },
    };
    return pod;
  }

  /** The newest of the classes that are marked as default, as admission chooses it. */
  async #defaultStorageClass(): Promise<string | null> {
    const { storage } = this.#view.kubernetes;
    const classes = await this.#once('storageclasses', () => listAll((range) => storage.listStorageClass(range)));
    const age = (one: NonNullable<typeof classes>[number]): number => one.metadata?.creationTimestamp?.getTime() ?? 0;
    const [first] = (classes ?? [])
      .filter(({ metadata }) => metadata?.annotations?.[DEFAULT_CLASS] === 'true')
      .toSorted((a, b) => age(b) - age(a));
    return first?.metadata?.name ?? null;
  }

  /** The global default; of several, the one of the least priority, as admission chooses it. */
  async #defaultPriorityClass(): Promise<string | null> {
    const { scheduling } = this.#view.kubernetes;
    const classes = await this.#once('priorityclasses', () => listAll((range) => scheduling.listPriorityClass(range)));
    const [first] = (classes ?? [])
      .filter(({ globalDefault }) => globalDefault === true)
      .toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0));
    return first?.metadata?.name ?? null;
  }

  async #overheadOf(name: string): Promise<ResourceList | null> {
    if (name === '') return null;
    const { node } = this.#view.kubernetes;
    const runtimeClass = await this.#once(`runtimeclasses/${name}`, () => node.readRuntimeClass({ name }));
    return runtimeClass?.overhead?.podFixed ?? null;
  }

  /** Read once; null where it is not there, or may not be read: then the object is judged without it. */
  async #once<T>(what: string, read: () => Promise<T>): Promise<T | null> {
    const known = this.#read.get(what) ?? orNothing(read());
    this.#read.set(what, known);
    return (await known) as T | null;
  }
}

async function orNothing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    const code = statusCode(error);
    if (code !== 403 && code !== 404) throw error;
    return null;
  }
}
