/** The objects of one Memcached as the API server keeps them, and what a plan makes of them. */
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import type { WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { type ChildKind, childKinds, childName } from '../../../domain/memcached/children/children.ts';
import { writeEvent, writeResult, type WriteResult } from '../../../domain/memcached/plan/events.ts';
import { type LiveObject, uidOf } from '../../../domain/memcached/plan/live.ts';
import { type Plan, planOf } from '../../../domain/memcached/plan/plan.ts';
import type { Step } from '../../../domain/memcached/plan/steps.ts';

/** What the API server fills in where nothing is said. */
const STORED_DEFAULTS: Partial<Record<ChildKind, LiveObject['spec']>> = {
  Deployment: { replicas: 1 },
  HorizontalPodAutoscaler: { minReplicas: 1 },
};

export class Reconciled {
  readonly #name: string;
  readonly #objects = new Map<ChildKind, LiveObject>();
  #versions = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get(kind: ChildKind): LiveObject | null {
    return this.#objects.get(kind) ?? null;
  }

  /** Somebody else deletes an object. */
  remove(kind: ChildKind): void {
    this.#objects.delete(kind);
  }

  /** Somebody else changes fields of an object. */
  edit(kind: ChildKind, { metadata, spec }: Pick<LiveObject, 'metadata' | 'spec'>): void {
    const live = this.get(kind);
    if (live === null) return;
    this.#store(kind, { ...live, metadata: { ...live.metadata, ...metadata }, spec: { ...live.spec, ...spec } });
  }

  /** Looks once, and makes the writes of the plan. */
  reconcile(spec: WrittenSpec): Plan {
    const children = Object.fromEntries(childKinds.map((kind) => [kind, this.get(kind)])) as Record<
      ChildKind,
      LiveObject | null
    >;
    const plan = planOf({
      memcached: readMemcached({
        metadata: { name: this.#name, namespace: 'default', uid: 'uid', generation: 1 },
        spec,
      }),
      children,
      at: 0,
      otherOperator: null,
      endpointSlices: [],
      unserved: [],
      secrets: { hash: '', missing: [], lacking: [], unreadable: [] },
    });
    for (const step of plan.steps) this.#write(step);
    return plan;
  }

  /** What a look writes of one object, and the Event about it. */
  report(kind: ChildKind, spec: WrittenSpec): { readonly result: WriteResult; readonly event: string | null } {
    const before = this.get(kind);
    this.reconcile(spec);
    const after = this.get(kind);
    if (after === null) throw new Error(`no ${kind} is wanted`);
    const result = writeResult(before, after);
    const event = writeEvent(result, kind, childName(kind, this.#name));
    return { result, event: event === null ? null : `${event.type} ${event.reason} ${event.message}` };
  }

  #write(step: Step): void {
    if (step.kind === 'delete') return this.remove(step.child);
    if (step.kind === 'scale') return this.edit('Deployment', { spec: { replicas: step.replicas } });
    const live = this.get(step.child);
    this.#store(step.child, {
      ...step.body,
      metadata: {
        ...live?.metadata,
        ...step.body.metadata,
        uid: live === null ? `uid-${this.#versions}` : uidOf(live),
      },
      spec: { ...STORED_DEFAULTS[step.child], ...live?.spec, ...step.body.spec },
    });
  }

  #store(kind: ChildKind, object: LiveObject): void {
    this.#versions += 1;
    this.#objects.set(kind, { ...object, metadata: { ...object.metadata, resourceVersion: `${this.#versions}` } });
  }
}
