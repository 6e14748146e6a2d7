import type { Logger } from 'pino';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { defaultStorageClass } from '../../../domain/quota-resize/demand/stored-object.ts';
import type { ResourceClaim } from '../../../domain/quota-usage/resource-claim-charge.ts';
import { statusCode } from '../../kubernetes/failure.ts';
import { listAll } from '../../kubernetes/list.ts';
import type { NamespaceView } from './namespace-view.ts';

/** Defaults of the cluster that admission applies to pods and claims. Each is read at most once, when needed. */
export class AdmissionDefaults {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #view: NamespaceView;
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(log: Pick<Logger, 'warn'>, view: NamespaceView) {
    this.#log = log;
    this.#view = view;
  }

  /** The class of a volume claim without one. */
  storageClass(): Promise<string | null> {
    return this.#once('storageclasses', async () => {
      const { storage } = this.#view.kubernetes;
      return defaultStorageClass(await listAll((range) => storage.listStorageClass(range)));
    });
  }

  /** The priority class of a pod without one: the global default; of several, the one with the lowest priority. */
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

  /** What a RuntimeClass adds to its pods. Null when the class is missing; admission then rejects the pods anyway. */
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

  /** The spec of a ResourceClaimTemplate. Null when the template is missing; no claim is created then. */
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

/** Null for an object that is missing or forbidden, after logging it. */
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
