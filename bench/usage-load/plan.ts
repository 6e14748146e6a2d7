/** The same seed makes the same clusters and the same stream of changes again. */
import type { V1Container } from '@kubernetes/client-node';
import { type Random, seededRandom } from '../../test/chaos/random.ts';
import { type NamespaceModel, type ServiceType, usedOf } from './namespace-model.ts';
import { hardOf, type LoadPod, resizedContainer, runningPod, SERVICE, somePod } from './shapes.ts';
import { usedKey } from './used-key.ts';

/** One thing that is done to a namespace. */
export type Operation =
  | { readonly kind: 'podCreated'; readonly pod: LoadPod }
  | { readonly kind: 'podDeleted'; readonly name: string }
  | { readonly kind: 'podFinished'; readonly name: string }
  /** In place, by the resize subresource; then the kubelet reports that it has done so. */
  | { readonly kind: 'podGrown' | 'podShrunk'; readonly name: string; readonly container: V1Container }
  | { readonly kind: 'serviceOpened' | 'serviceClosed'; readonly name: string; readonly type: ServiceType }
  | { readonly kind: 'configMapCreated' | 'configMapDeleted'; readonly name: string };

export type OperationKind = Operation['kind'];

/** Kinds that raise the usage: admission writes the new usage before the object is stored. All others are the controllers' work. */
export const chargedByAdmission: ReadonlySet<OperationKind> = new Set([
  'podCreated',
  'podGrown',
  'serviceOpened',
  'configMapCreated',
]);

export interface Change {
  /** Its number in the whole run. */
  readonly change: number;
  /** When it is to be made, in milliseconds from the start of its phase. */
  readonly dueMs: number;
  readonly namespace: string;
  readonly operation: Operation;
  /** What the quota of the namespace is to show afterwards, as `usedKey` writes it. */
  readonly expected: string;
}

export interface Phase {
  /** Changes a second. */
  readonly rate: number;
  readonly changes: readonly Change[];
}

export interface LoadPlan {
  /** What each namespace has before the first change. */
  readonly namespaces: ReadonlyMap<string, NamespaceModel>;
  readonly phases: readonly Phase[];
}

export interface LoadOptions {
  readonly quotas: number;
  readonly pods: number;
  /** Changes a second of each phase. */
  readonly rates: readonly number[];
  /** How long each phase is. */
  readonly seconds: number;
  readonly seed: number;
}

/** The controller manager puts this ConfigMap into every namespace. */
export const ROOT_CERTIFICATE = 'kube-root-ca.crt';

/** How many pods more or fewer than at the start a namespace may have. */
const DRIFT = 3;

/** One pod of so many runs, and can be resized. */
const RUNNING_EACH = 5;

/** How often each kind comes, in parts of a hundred. */
const mix: readonly (readonly [parts: number, kind: OperationKind])[] = [
  [26, 'podDeleted'],
  [26, 'podCreated'],
  [12, 'podFinished'],
  [5, 'podGrown'],
  [5, 'podShrunk'],
  [5, 'serviceOpened'],
  [5, 'serviceClosed'],
  [8, 'configMapCreated'],
  [8, 'configMapDeleted'],
];

export function planLoad({ quotas, pods, rates, seconds, seed }: LoadOptions): LoadPlan {
  const random = seededRandom(seed);
  const names = Array.from({ length: quotas }, (_, index) => `load-${index}`);
  const namespaces = new Map(names.map((name, index) => [name, fill(random, index, podsOf(index, { quotas, pods }))]));
  const working = new Map([...namespaces].map(([name, model]) => [name, new WorkingNamespace(model)]));
  let change = 0;
  const phases = rates.map((rate): Phase => {
    const changes = Array.from({ length: Math.round(rate * seconds) }, (_, index): Change => {
      const namespace = random.pick(names);
      const { operation, expected } = working.get(namespace)?.next(random) ?? unknown(namespace);
      change += 1;
      return { change, dueMs: (index * 1000) / rate, namespace, operation, expected };
    });
    return { rate, changes };
  });
  return { namespaces, phases };
}

function unknown(namespace: string): never {
  throw new Error(`no namespace ${namespace}`);
}

/** The pods are spread over the namespaces as evenly as they go. */
function podsOf(index: number, { quotas, pods }: Pick<LoadOptions, 'quotas' | 'pods'>): number {
  return Math.floor(((index + 1) * pods) / quotas) - Math.floor((index * pods) / quotas);
}

function fill(random: Random, index: number, pods: number): NamespaceModel {
  const made = Array.from({ length: pods }, (_, at) =>
    at % RUNNING_EACH === 0 ? runningPod(random, `run-${at}`) : somePod(random, `pod-${at}`),
  );
  return {
    hard: hardOf(index),
    pods: new Map(made.map((pod) => [pod.name, pod])),
    configMaps: new Set([ROOT_CERTIFICATE, 'settings-a', 'settings-b']),
    serviceType: 'ClusterIP',
  };
}

/** The size of a running pod's container, in the steps that `resizedContainer` takes. */
function stepsOf({ spec }: LoadPod): number {
  return Number.parseInt(spec.containers[0]?.resources?.requests?.['cpu'] ?? '50m', 10) / 50;
}

/** A namespace as the changes so far have left it. */
class WorkingNamespace {
  readonly #hard: NamespaceModel['hard'];
  readonly #atStart: number;
  readonly #pods: Map<string, LoadPod>;
  readonly #configMaps: Set<string>;
  #serviceType: ServiceType;
  #made = 0;

  constructor(model: NamespaceModel) {
    this.#hard = model.hard;
    this.#pods = new Map(model.pods);
    this.#configMaps = new Set(model.configMaps);
    this.#serviceType = model.serviceType;
    this.#atStart = model.pods.size;
  }

  /** A change that can be made, as it is made; of the wanted mix as far as the namespace allows it. */
  next(random: Random): { readonly operation: Operation; readonly expected: string } {
    for (;;) {
      const operation = this.#choose(random, kindAt(random.between(1, 100)));
      if (operation === null) continue;
      this.#apply(operation);
      const model = {
        hard: this.#hard,
        pods: this.#pods,
        configMaps: this.#configMaps,
        serviceType: this.#serviceType,
      };
      return { operation, expected: usedKey(usedOf(model)) };
    }
  }

  #choose(random: Random, kind: OperationKind): Operation | null {
    const charged = this.#names((pod) => pod.phase !== 'Succeeded');
    switch (kind) {
      case 'podCreated': {
        if (charged.length >= this.#atStart + DRIFT) return null;
        this.#made += 1;
        return { kind, pod: somePod(random, `new-${this.#made}`) };
      }
      case 'podDeleted': {
        // A pod that has finished counts no more, except as an object.
        const counted = Object.hasOwn(this.#hard, 'count/pods') ? [...this.#pods.keys()] : charged;
        return charged.length <= this.#atStart - DRIFT ? null : onPick(random, counted, (name) => ({ kind, name }));
      }
      case 'podFinished':
        return charged.length <= this.#atStart - DRIFT ? null : onPick(random, charged, (name) => ({ kind, name }));
      case 'podGrown':
      case 'podShrunk':
        return this.#resize(random, kind);
      case 'serviceOpened': {
        const type = random.pick(['NodePort', 'LoadBalancer'] as const);
        return this.#serviceType === 'ClusterIP' ? { kind, name: SERVICE, type } : null;
      }
      case 'serviceClosed':
        return this.#serviceType === 'ClusterIP' ? null : { kind, name: SERVICE, type: 'ClusterIP' };
      case 'configMapCreated': {
        this.#made += 1;
        return { kind, name: `settings-${this.#made}` };
      }
      case 'configMapDeleted': {
        const own = [...this.#configMaps].filter((name) => name !== ROOT_CERTIFICATE);
        return onPick(random, own, (name) => ({ kind, name }));
      }
    }
  }

  #resize(random: Random, kind: 'podGrown' | 'podShrunk'): Operation | null {
    const fitting = this.#names((pod) => pod.phase === 'Running' && (kind === 'podGrown' || stepsOf(pod) > 1));
    return onPick(random, fitting, (name) => {
      const now = stepsOf(this.#pod(name));
      const steps = kind === 'podGrown' ? now + random.between(1, 10) : random.between(1, now - 1);
      return { kind, name, container: resizedContainer(steps) };
    });
  }

  #pod(name: string): LoadPod {
    const pod = this.#pods.get(name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    return pod;
  }

  #names(isWanted: (pod: LoadPod) => boolean): string[] {
    return [...this.#pods].filter(([, pod]) => isWanted(pod)).map(([name]) => name);
  }

  #apply(operation: Operation): void {
    switch (operation.kind) {
      case 'podCreated':
        this.#pods.set(operation.pod.name, operation.pod);
        return;
      case 'podDeleted':
        this.#pods.delete(operation.name);
        return;
      case 'podFinished':
        this.#pods.set(operation.name, { ...this.#pod(operation.name), phase: 'Succeeded' });
        return;
      case 'podGrown':
      case 'podShrunk': {
        const { name, container } = operation;
        this.#pods.set(name, { ...this.#pod(name), spec: { containers: [container] } });
        return;
      }
      case 'serviceOpened':
      case 'serviceClosed':
        this.#serviceType = operation.type;
        return;
      case 'configMapCreated':
        this.#configMaps.add(operation.name);
        return;
      case 'configMapDeleted':
        this.#configMaps.delete(operation.name);
    }
  }
}

function kindAt(part: number): OperationKind {
  let left = part;
  for (const [parts, kind] of mix) {
    left -= parts;
    if (left <= 0) return kind;
  }
  throw new RangeError(`the parts of the mix do not come to ${part}`);
}

function onPick(random: Random, names: readonly string[], make: (name: string) => Operation): Operation | null {
  return names.length === 0 ? null : make(random.pick(names));
}
