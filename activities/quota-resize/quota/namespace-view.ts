import type { V1LimitRange } from '@kubernetes/client-node';
import type { denialReasons } from '../../../domain/quota-resize/demand/event-message.ts';
import type { LimitRange } from '../../../domain/quota-usage/limit-range.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { orNull } from '../../kubernetes/failure.ts';
import { listAll } from '../../kubernetes/list.ts';

/** What one observation reads of a namespace: each list and each Deployment is requested at most once. */
export class NamespaceView {
  readonly kubernetes: Kubernetes;
  readonly namespace: string;
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(kubernetes: Kubernetes, namespace: string) {
    this.kubernetes = kubernetes;
    this.namespace = namespace;
  }

  events(reason: (typeof denialReasons)[number]) {
    const { kubernetes, namespace } = this;
    return listAll((range) =>
      kubernetes.core.listNamespacedEvent({ namespace, fieldSelector: `reason=${reason}`, ...range }),
    );
  }

  replicaSets() {
    const { kubernetes, namespace } = this;
    return this.#once('replicasets', () =>
      listAll((range) => kubernetes.apps.listNamespacedReplicaSet({ namespace, ...range })),
    );
  }

  replicationControllers() {
    const { kubernetes, namespace } = this;
    return this.#once('replicationcontrollers', () =>
      listAll((range) => kubernetes.core.listNamespacedReplicationController({ namespace, ...range })),
    );
  }

  /** Null for a Deployment that is gone. */
  deployment(name: string) {
    const { kubernetes, namespace } = this;
    return this.#once(`deployments/${name}`, () =>
      orNull(kubernetes.apps.readNamespacedDeployment({ name, namespace })),
    );
  }

  jobs() {
    const { kubernetes, namespace } = this;
    return this.#once('jobs', () => listAll((range) => kubernetes.batch.listNamespacedJob({ namespace, ...range })));
  }

  /** All pods of the namespace; the pods of one owner are requested by its labels instead. */
  pods() {
    const { kubernetes, namespace } = this;
    return this.#once('pods', () => listAll((range) => kubernetes.core.listNamespacedPod({ namespace, ...range })));
  }

  claims() {
    const { kubernetes, namespace } = this;
    return this.#once('persistentvolumeclaims', () =>
      listAll((range) => kubernetes.core.listNamespacedPersistentVolumeClaim({ namespace, ...range })),
    );
  }

  limitRanges() {
    const { kubernetes, namespace } = this;
    return this.#once('limitranges', async () =>
      (await listAll((range) => kubernetes.core.listNamespacedLimitRange({ namespace, ...range }))).map(limitRangeOf),
    );
  }

  #once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const cached = this.#answers.get(what) ?? read();
    this.#answers.set(what, cached);
    return cached as Promise<T>;
  }
}

/** The client renames the Kubernetes field `default` to `_default`. */
function limitRangeOf({ spec }: V1LimitRange): LimitRange {
  const limits = (spec?.limits ?? []).map(({ type, _default, defaultRequest }) => ({
    type,
    default: _default,
    defaultRequest,
  }));
  return { spec: { limits } };
}
