import type { Logger } from 'pino';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { ResourceClaim } from '../../domain/quota-usage/resource-claim-charge.ts';
import { statusCode } from '../kubernetes/failure.ts';
import { listAll } from '../kubernetes/list.ts';
import type { NamespaceView } from './namespace-view.ts';

const DEFAULT_STORAGE_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** What of the cluster decides how pods and claims come out of admission. Each is asked for when it is needed, and once. */
export class AdmissionDefaults {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #view: NamespaceView;
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(log: Pick<Logger, 'warn'>, view: NamespaceView) {
    this.#log = log;
    this.#view = view;
  }

  /** The class of a claim that names none: the newest of those that are marked as default, as admission chooses it. */
  storageClass(): Promise<string | null> {
    return this.#once('storageclasses', async () => {
      const { storage } = this.#view.kubernetes;
      const classes = await listAll((range) => storage.listStorageClass(range));
      const age = (one: (typeof classes)[number]): number => one.metadata?.creationTimestamp?.getTime() ?? 0;
      const [first] = classes
        .filter(({ metadata }) => metadata?.annotations?.[DEFAULT_STORAGE_CLASS] === 'true')
        .toSorted((a, b) => age(b) - age(a) || ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
      return first?.metadata?.name ?? null;
    });
  }

  /** The class of a pod that names none: the global default; of several, the one of the least priority. */
  priorityClass(): Promise<string | null> {
    return this.#once('priorityclasses', async () => {
      const { scheduling } = this.#view.kubernetes;
      const classes = await listAll((range) => scheduling.listPriorityClass(range));
      const [first] = classes
        .filter(({ globalDefault }) => globalDefault === true)
        .toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0));
      return first?.metadata?.name ?? null;
    });
  }

  /** What a RuntimeClass adds to its pods. Null without the class, with which no pod is admitted anyway. */
  overheadOf(name: string): Promise<ResourceList | null> {
    return this.#once(`runtimeclasses/${name}`, async () => {
      const { node } = this.#view.kubernetes;
      const runtimeClass = await orNone(node.readRuntimeClass({ name }), (code) =>
        this.#log.warn(
          { runtimeClass: name, code },
          'the overhead of a RuntimeClass cannot be read and is not counted',
        ),
      );
      return runtimeClass?.overhead?.podFixed ?? null;
    });
  }

  /** What claims of devices are made of. Null without the template, without which no claim is made either. */
  claimTemplate(name: string): Promise<Pick<ResourceClaim, 'spec'> | null> {
    return this.#once(`resourceclaimtemplates/${name}`, async () => {
      const { kubernetes, namespace } = this.#view;
      const template = await orNone(
        kubernetes.resource.readNamespacedResourceClaimTemplate({ name, namespace }),
        (code) =>
          this.#log.warn(
            { namespace, template: name, code },
            'a ResourceClaimTemplate cannot be read and its claims are not counted',
          ),
      );
      return template === null ? null : { spec: template.spec.spec };
    });
  }

  #once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const cached = this.#answers.get(what) ?? read();
    this.#answers.set(what, cached);
    return cached as Promise<T>;
  }
}

/** What may be missing or forbidden: null, with a word about it. */
async function orNone<T>(read: Promise<T>, say: (code: number) => void): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    const code = statusCode(error);
    if (code !== 403 && code !== 404) throw error;
    say(code);
    return null;
  }
}
