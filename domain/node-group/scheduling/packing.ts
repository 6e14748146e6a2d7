/**
 * A mutable picture of a cluster in which pods can be placed and taken away, nodes can come and go, and everything since a mark
 * can be undone. It holds what kube-scheduler would know: all filters of 1.35 are answered from indexes.
 */
import type { Labels } from '../model/pod.ts';
import { ClassBook } from './class-book.ts';
import { ClosedDomains } from './closed-domains.ts';
import type { LabelCensus } from './label-census.ts';
import type { Misfit } from './misfit.ts';
import type { PodClass } from './packed.ts';
import type { Placeable } from './pod-class.ts';
import { misfitOf } from './rules.ts';
import type { SetAside } from './term-budget.ts';
import type { Slot, SlotSpec } from './packed.ts';
import type { VolumeBook } from './volumes.ts';

/** Kubernetes' own default, for a template that does not say how many pods it holds. */
const DEFAULT_PODS = 110;

type Step =
  | { readonly kind: 'placed'; readonly pods: PodClass; readonly slot: Slot; readonly count: number }
  | { readonly kind: 'opened'; readonly slot: Slot }
  | { readonly kind: 'closed'; readonly slot: Slot };

export interface PackingSurroundings {
  readonly namespaces: Readonly<Record<string, Labels>>;
  readonly volumes: VolumeBook;
  /** Of all pods that the packing may be asked about. */
  readonly census: LabelCensus;
  /** Namespaces that are beyond their budgets of terms. */
  readonly setAside: SetAside;
}

export class Packing {
  /** In the order in which they came, closed ones included. */
  readonly slots: Slot[] = [];
  readonly classes: ClassBook;
  readonly #setAside: SetAside;
  readonly #closed = new ClosedDomains();
  readonly #steps: Step[] = [];
  readonly #shapes = new Map<string, number>();
  readonly #byName = new Map<string, Slot>();
  #shapeCount = 0;

  constructor(surroundings: PackingSurroundings) {
    this.#setAside = surroundings.setAside;
    this.classes = new ClassBook(surroundings, this.slots);
  }

  slotOf(name: string): Slot | undefined {
    return this.#byName.get(name);
  }

  classOf(pod: Placeable): PodClass {
    return this.classes.classOf(pod);
  }

  /** The rule that keeps one more of these pods from the node; null where it fits. */
  misfit(pods: PodClass, slot: Slot): Misfit | null {
    return misfitOf(pods, slot) ?? (this.whyClosed(slot) === null ? null : 'TooManyTerms');
  }

  /** Why none of the namespace's pods is planned for; null where they are. */
  whySetAside(namespace: string): string | null {
    return this.#setAside.get(namespace) ?? null;
  }

  /** Why pods on the node, or near it, could keep everybody else away; null where they do not. */
  whyClosed(slot: Slot): string | null {
    if (this.#setAside.size === 0) return null;
    const namespace = this.#closed.closes(slot);
    return namespace === null ? null : this.whySetAside(namespace);
  }

  /** A node comes. */
  open(spec: SlotSpec): Slot {
    const capacity = this.#capacityOf(spec);
    const slot: Slot = {
      ...spec,
      index: this.slots.length,
      shape: this.#shapeOf(spec),
      capacity,
      free: [...capacity],
      maxPods: spec.allocatable['pods'] ?? (spec.origin === 'existing' ? 0 : DEFAULT_PODS),
      podCount: 0,
      isClosed: false,
      pods: new Map(),
      ports: [...spec.hostPorts],
      attached: new Map(),
      attachedByDriver: new Map(),
    };
    this.slots.push(slot);
    this.#byName.set(slot.name, slot);
    for (const domains of this.classes.domains) domains.open(slot);
    this.#steps.push({ kind: 'opened', slot });
    return slot;
  }

  /** A node goes. Its pods must have been taken away: none of them counts any more. */
  close(slot: Slot): void {
    for (const [pods, count] of slot.pods) this.place(pods, slot, -count);
    slot.isClosed = true;
    for (const domains of this.classes.domains) domains.close(slot);
    this.#steps.push({ kind: 'closed', slot });
  }

  /** So many pods come to the node whether they fit or not, as pods that are bound have; a negative count takes them away. */
  place(pods: PodClass, slot: Slot, count = 1): void {
    this.#change(pods, slot, count);
    this.#steps.push({ kind: 'placed', pods, slot, count });
  }

  /** Where `rollback` goes back to. */
  mark(): number {
    return this.#steps.length;
  }

  /** Undoes everything since the mark. */
  rollback(mark: number): void {
    while (this.#steps.length > mark) {
      const step = this.#steps.pop();
      if (step === undefined) return;
      this.#undo(step);
    }
  }

  #undo(step: Step): void {
    const { slot } = step;
    if (step.kind === 'placed') {
      this.#change(step.pods, slot, -step.count);
      return;
    }
    if (step.kind === 'closed') {
      slot.isClosed = false;
      for (const domains of this.classes.domains) domains.open(slot);
      return;
    }
    for (const domains of this.classes.domains) domains.close(slot);
    this.slots.pop();
    this.#byName.delete(slot.name);
  }

  #change(pods: PodClass, slot: Slot, count: number): void {
    slot.podCount += count;
    const left = (slot.pods.get(pods) ?? 0) + count;
    if (left === 0) {
      slot.pods.delete(pods);
      pods.placedOn.delete(slot);
    } else {
      slot.pods.set(pods, left);
      pods.placedOn.add(slot);
    }
    for (const [resource, amount] of pods.requests) take(slot, resource, amount * count);
    for (const tally of pods.countedBy) tally.add(slot, count);
    this.#closed.change(pods, slot, count);
    for (let n = 0; n < Math.abs(count); n += 1) changeAttached(pods, slot, Math.sign(count));
  }

  #shapeOf({ template }: SlotSpec): number {
    const known = template === null ? undefined : this.#shapes.get(template);
    if (known !== undefined) return known;
    const shape = this.#shapeCount;
    this.#shapeCount += 1;
    if (template !== null) this.#shapes.set(template, shape);
    return shape;
  }

  #capacityOf({ allocatable }: SlotSpec): readonly number[] {
    const capacity: number[] = [];
    for (const [name, amount] of Object.entries(allocatable)) capacity[this.classes.resource(name)] = amount;
    return Array.from(capacity, (amount) => amount ?? 0);
  }
}

function take(slot: Slot, resource: number, amount: number): void {
  const before = slot.free[resource] ?? 0;
  const after = before - amount;
  const isExact = Number.isSafeInteger(before) && Number.isSafeInteger(amount) && Number.isSafeInteger(after);
  slot.free[resource] = isExact ? after : recounted(slot, resource);
}

/**
 * What is left beside all pods, where numbers are no longer exact: what a pod of any size has taken must be there again when it
 * has gone.
 */
function recounted({ capacity, pods }: Slot, resource: number): number {
  let free = BigInt(Math.trunc(capacity[resource] ?? 0));
  for (const [{ requests }, count] of pods) {
    const amount = requests.find(([of]) => of === resource)?.[1] ?? 0;
    free -= BigInt(Math.trunc(amount)) * BigInt(count);
  }
  return Number(BigInt.asIntN(64, free));
}

/** Ports and volumes, which most pods have none of. */
function changeAttached({ constraints, volumes }: PodClass, slot: Slot, by: number): void {
  for (const port of constraints.hostPorts) {
    if (by > 0) slot.ports.push(port);
    else
      slot.ports.splice(
        slot.ports.findIndex((other) => samePort(other, port)),
        1,
      );
  }
  for (const use of volumes.onePodClaims) use.podCount += by;
  for (const { driver, unique } of volumes.attachments) {
    const before = slot.attached.get(unique) ?? 0;
    const after = before + by;
    if (after === 0) slot.attached.delete(unique);
    else slot.attached.set(unique, after);
    if (before === 0 || after === 0) slot.attachedByDriver.set(driver, (slot.attachedByDriver.get(driver) ?? 0) + by);
  }
}

function samePort(a: { port: number; protocol: string; ip: string }, b: typeof a): boolean {
  return a.port === b.port && a.protocol === b.protocol && a.ip === b.ip;
}
