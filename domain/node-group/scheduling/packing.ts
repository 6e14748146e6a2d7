/**
 * A mutable picture of a cluster in which pods can be placed and taken away, nodes can come and go, and everything since a mark
 * can be undone. It holds what kube-scheduler would know: all filters of 1.35 are answered from indexes.
 */
import type { Labels } from '../model/pod.ts';
import { ClassBook } from './class-book.ts';
import type { Misfit } from './misfit.ts';
import type { PodClass } from './packed.ts';
import type { Placeable } from './pod-class.ts';
import { misfitOf } from './rules.ts';
import type { Slot, SlotSpec } from './packed.ts';
import type { Tally } from './tally.ts';
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
  /** The labels that tell pods apart (`selectedKeys`). */
  readonly keys: ReadonlySet<string>;
}

export class Packing {
  /** In the order in which they came, closed ones included. */
  readonly slots: Slot[] = [];
  readonly classes: ClassBook;
  readonly #steps: Step[] = [];
  readonly #shapes = new Map<string, number>();
  readonly #byName = new Map<string, Slot>();
  #shapeCount = 0;

  constructor(surroundings: PackingSurroundings) {
    this.classes = new ClassBook({ ...surroundings, countPlaced: (tally) => this.#countPlaced(tally) });
  }

  slotOf(name: string): Slot | undefined {
    return this.#byName.get(name);
  }

  classOf(pod: Placeable): PodClass {
    return this.classes.classOf(pod);
  }

  /** The rule that keeps one more of these pods from the node; null where it fits. */
  misfit(pods: PodClass, slot: Slot): Misfit | null {
    return misfitOf(pods, slot);
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
    for (const tally of this.classes.spreading) tally.open(slot);
    this.#steps.push({ kind: 'opened', slot });
    return slot;
  }

  /** A node goes. Its pods must have been taken away: none of them counts any more. */
  close(slot: Slot): void {
    for (const [pods, count] of slot.pods) this.place(pods, slot, -count);
    slot.isClosed = true;
    for (const tally of this.classes.spreading) tally.close(slot);
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
      for (const tally of this.classes.spreading) tally.open(slot);
      return;
    }
    for (const tally of this.classes.spreading) tally.close(slot);
    this.slots.pop();
    this.#byName.delete(slot.name);
  }

  #change(pods: PodClass, slot: Slot, count: number): void {
    slot.podCount += count;
    const left = (slot.pods.get(pods) ?? 0) + count;
    if (left === 0) slot.pods.delete(pods);
    else slot.pods.set(pods, left);
    for (const [resource, amount] of pods.requests) take(slot, resource, amount * count);
    for (const tally of pods.countedBy) tally.add(slot, count);
    for (let n = 0; n < Math.abs(count); n += 1) changeAttached(pods, slot, Math.sign(count));
  }

  /** A tally that is made late counts what is there. */
  #countPlaced(tally: Tally): void {
    for (const slot of this.slots) {
      if (slot.isClosed) continue;
      if (tally.rule.spreads) tally.open(slot);
      for (const [pods, count] of slot.pods) if (tally.rule.counts(pods)) tally.add(slot, count);
    }
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
