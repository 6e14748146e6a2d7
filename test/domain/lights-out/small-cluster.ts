/** A few workloads as a cluster holds them, with what writes to them: merge patches bound to a version, people, controllers. */
import { FIELD_MANAGER } from '../../../domain/lights-out/schedule/names.ts';
import type { ObjectChange } from '../../../domain/lights-out/workload/evaluation.ts';
import type {
  Autoscaler,
  FieldChange,
  ScopedNamespace,
  Workload,
} from '../../../domain/lights-out/workload/workload.ts';

type Json = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** RFC 7386: null takes a key away, an object is merged, anything else replaces. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

interface Stored {
  readonly metadata: {
    readonly annotations: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly replicas?: number; readonly suspend?: boolean };
}

function stored(over: Pick<Workload, 'annotations' | 'labels'>, spec: Stored['spec']): Stored {
  return { metadata: { annotations: over.annotations, labels: over.labels }, spec };
}

export class SmallCluster {
  readonly namespaces = new Map<string, ScopedNamespace>();
  readonly workloads = new Map<string, Workload>();
  #version = 1;

  #next(): string {
    this.#version += 1;
    return `${this.#version}`;
  }

  /** Puts a workload there, new or changed by something else than Headroom. */
  put(key: string, workload: Workload): void {
    this.workloads.set(key, { ...workload, resourceVersion: this.#next() });
  }

  remove(key: string): void {
    this.workloads.delete(key);
  }

  get(key: string): Workload {
    const workload = this.workloads.get(key);
    if (workload === undefined) throw new Error(`there is no ${key}`);
    return workload;
  }

  /** Replicas; of a CronJob 1 while it runs and 0 while it is suspended. */
  value(key: string): number {
    const { replicas, isSuspended } = this.get(key);
    return replicas ?? (isSuspended ? 0 : 1);
  }

  /** Somebody sets the field that matters. */
  set(key: string, value: number, changed: FieldChange): void {
    const workload = this.get(key);
    const field = workload.replicas === null ? { isSuspended: value === 0 } : { replicas: value };
    const { owner } = workload;
    this.put(key, {
      ...workload,
      ...field,
      changed,
      ...(owner === undefined ? {} : { owner: this.#sized(owner, value) }),
    });
  }

  /** Its operator gives the number to the workload at once. */
  #sized(owner: NonNullable<Workload['owner']>, replicas: number): NonNullable<Workload['owner']> {
    const generation = owner.generation + 1;
    return { ...owner, replicas, workloadReplicas: replicas, generation, resourceVersion: this.#next() };
  }

  #scaleOwner(key: string, workload: Workload, { uid, resourceVersion, patch }: ObjectChange, now: number): boolean {
    const { owner } = workload;
    if (owner === undefined || owner.uid !== uid || owner.resourceVersion !== resourceVersion) return false;
    const { replicas = 0 } = (patch as { readonly spec: Stored['spec'] }).spec;
    this.set(key, replicas, { manager: FIELD_MANAGER, at: now, isOnlyIt: true });
    return true;
  }

  /** Writes as the API server does: false, and nothing is written, where another version is there by now. */
  write(key: string, change: ObjectChange, now: number): boolean {
    const workload = this.workloads.get(key);
    if (workload === undefined) return false;
    if (change.kind === 'ScaledOwner') return this.#scaleOwner(key, workload, change, now);
    if (change.kind !== workload.kind) return this.#writeAutoscaler(key, workload, change);
    if (workload.uid !== change.uid || workload.resourceVersion !== change.resourceVersion) return false;
    const { replicas, isSuspended } = workload;
    const spec = replicas === null ? { suspend: isSuspended } : { replicas };
    const { metadata, spec: after } = merged(stored(workload, spec), change.patch) as Stored;
    const isChanged = JSON.stringify(after) !== JSON.stringify(spec);
    this.put(key, {
      ...workload,
      annotations: metadata.annotations,
      labels: metadata.labels,
      replicas: replicas === null ? null : (after.replicas ?? 1),
      isSuspended: after.suspend ?? false,
      changed: isChanged ? { manager: FIELD_MANAGER, at: now, isOnlyIt: true } : workload.changed,
    });
    return true;
  }

  #writeAutoscaler(key: string, workload: Workload, change: ObjectChange): boolean {
    const found = workload.autoscalers.find(({ kind, uid }) => kind === change.kind && uid === change.uid);
    if (found === undefined || found.resourceVersion !== change.resourceVersion) return false;
    const { metadata } = merged(stored(found, {}), change.patch) as Stored;
    const written: Autoscaler = { ...found, ...metadata, resourceVersion: this.#next() };
    const autoscalers = workload.autoscalers.map((autoscaler) => (autoscaler === found ? written : autoscaler));
    this.workloads.set(key, { ...workload, autoscalers });
    return true;
  }
}
