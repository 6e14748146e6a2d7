/**
 * The memory of a schedule: what each workload was before it was put to sleep, in ConfigMaps of Headroom's namespace. It
 * is written before the workloads are, and is empty while everything is awake, but for what somebody has approved. The
 * schedule owns the ConfigMaps, so they go with it.
 */
import { GROUP, KIND, MEMORY_OF, VERSION } from '../../domain/lights-out/schedule/names.ts';
import {
  approvedEntries,
  type ApprovedWorkloads,
  isApprovedKey,
  readApproved,
} from '../../domain/lights-out/workload/approved.ts';
import {
  readRemembered,
  type Remembered,
  rememberedText,
  type RememberedWorkloads,
} from '../../domain/lights-out/workload/remembered.ts';
import { labelValue } from '../../domain/lights-out/workload/saved-state.ts';
import { statusCode } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { listAll } from '../kubernetes/list.ts';
import { retryOnConflict } from '../kubernetes/retry-on-conflict.ts';
import { MERGE_PATCH } from './write-object.ts';

/**
 * Bytes of one ConfigMap. Below the 512 KiB that it may have, because each write is answered with the whole object; one
 * has some 300 workloads.
 */
const PART_BYTES = 64 * 1024;
/** Bytes that an entry takes besides its key and value: quotes, a colon, a comma. */
const ENTRY_BYTES = 6;

/** Which schedule's, and where. `scheduleUid` is empty for a schedule that is gone. */
export interface MemoryOwner {
  readonly schedule: string;
  readonly scheduleUid: string;
  readonly systemNamespace: string;
}

/** One ConfigMap, with its entries as they are written, by UID. */
interface Part {
  readonly name: string;
  readonly resourceVersion: string;
  readonly data: Readonly<Record<string, string>>;
}

function bytesOf(uid: string, text: string): number {
  return Buffer.byteLength(uid) + Buffer.byteLength(JSON.stringify(text)) + ENTRY_BYTES;
}

function sizeOf({ data }: Pick<Part, 'data'>): number {
  return Object.entries(data).reduce((sum, [uid, text]) => sum + bytesOf(uid, text), 0);
}

/** Entries by the ConfigMap that they are written into; `part` is null for a new one. Null takes an entry away. */
interface Change {
  readonly part: Part | null;
  readonly data: Record<string, string | null>;
}

/**
 * Where entries go: to the ConfigMap that has one for the workload already, then to those with room, then to new ones.
 * Entries that are written as they are to be do not occur.
 */
export function changesOf(
  parts: readonly Part[],
  entries: ReadonlyMap<string, string | null>,
  limit = PART_BYTES,
): readonly Change[] {
  const changes = new Map<Part, Change>();
  const changeOf = (part: Part): Change => {
    const existing = changes.get(part) ?? { part, data: {} };
    changes.set(part, existing);
    return existing;
  };
  const sizes = new Map(parts.map((part) => [part, sizeOf(part)]));
  const homeless: [string, string][] = [];
  for (const [uid, text] of entries) {
    const [home, ...doubles] = parts.filter(({ data }) => data[uid] !== undefined);
    for (const double of doubles) changeOf(double).data[uid] = null;
    if (home === undefined) {
      if (text !== null) homeless.push([uid, text]);
      continue;
    }
    if (home.data[uid] === text) continue;
    changeOf(home).data[uid] = text;
    const more = (text === null ? 0 : bytesOf(uid, text)) - bytesOf(uid, home.data[uid] ?? '');
    sizes.set(home, (sizes.get(home) ?? 0) + more);
  }
  const fresh: { change: Change; size: number }[] = [];
  for (const [uid, text] of homeless) {
    const bytes = bytesOf(uid, text);
    const roomy = parts.find((part) => (sizes.get(part) ?? 0) + bytes <= limit);
    if (roomy !== undefined) {
      changeOf(roomy).data[uid] = text;
      sizes.set(roomy, (sizes.get(roomy) ?? 0) + bytes);
      continue;
    }
    let last = fresh.at(-1);
    if (last === undefined || last.size + bytes > limit) {
      last = { change: { part: null, data: {} }, size: 0 };
      fresh.push(last);
    }
    last.change.data[uid] = text;
    last.size += bytes;
  }
  return [...changes.values(), ...fresh.map(({ change }) => change)];
}

/** What is kept of a schedule: what its workloads were, and which of them somebody has approved (null: no set of them). */
export interface KeptMemory {
  readonly remembered: RememberedWorkloads;
  readonly approved: ApprovedWorkloads | null;
}

function keptOf(parts: readonly Pick<Part, 'data'>[]): KeptMemory {
  return { remembered: entriesOf(parts), approved: readApproved(parts.flatMap(({ data }) => Object.entries(data))) };
}

function entriesOf(parts: readonly Pick<Part, 'data'>[]): RememberedWorkloads {
  const entries = parts.flatMap(({ data }) => Object.entries(data));
  return new Map(
    entries.flatMap(([uid, text]) => {
      const entry = readRemembered(text);
      return entry === null ? [] : [[uid, entry] as const];
    }),
  );
}

/** The memory of one schedule, for as long as a batch takes. */
export class ScalingMemory {
  readonly #kubernetes: Kubernetes;
  readonly #owner: MemoryOwner;
  #parts: readonly Part[] | null = null;
  /** Writes take turns: two at once would both take the room that is left. */
  #turn: Promise<unknown> = Promise.resolve();
  /** What waits for its turn, all of it for one. */
  #waiting: { readonly entries: Map<string, string | null>; readonly written: Promise<void> } | null = null;

  constructor(kubernetes: Kubernetes, owner: MemoryOwner) {
    this.#kubernetes = kubernetes;
    this.#owner = owner;
  }

  /**
   * Everything that is kept. Entries that cannot be read do not occur.
   *
   * @throws ApiException when the ConfigMaps cannot be listed.
   */
  async all(): Promise<KeptMemory> {
    this.#parts = await listParts(this.#kubernetes, this.#owner);
    return keptOf(this.#parts);
  }

  /** Returns when exactly these are approved. */
  async approve(approved: ApprovedWorkloads): Promise<void> {
    const parts = (this.#parts ??= await listParts(this.#kubernetes, this.#owner));
    const before = parts.flatMap(({ data }) => Object.keys(data)).filter(isApprovedKey);
    await this.#write(new Map([...before.map((key) => [key, null] as const), ...approvedEntries(approved)]));
  }

  /** Returns when these are written; without a request when they are already. */
  async remember(entries: readonly (readonly [uid: string, entry: Remembered])[]): Promise<void> {
    await this.#write(new Map(entries.map(([uid, entry]) => [uid, rememberedText(entry)])));
  }

  async forget(uids: readonly string[]): Promise<void> {
    await this.#write(new Map(uids.map((uid) => [uid, null])));
  }

  async #write(entries: ReadonlyMap<string, string | null>): Promise<void> {
    if (entries.size === 0) return;
    const waiting = (this.#waiting ??= this.#queue());
    for (const [uid, text] of entries) waiting.entries.set(uid, text);
    await waiting.written;
  }

  #queue(): { readonly entries: Map<string, string | null>; readonly written: Promise<void> } {
    const entries = new Map<string, string | null>();
    const written = this.#turn.then(async () => {
      this.#waiting = null;
      await this.#writeNow(entries);
    });
    this.#turn = written.catch(() => undefined);
    return { entries, written };
  }

  async #writeNow(entries: ReadonlyMap<string, string | null>): Promise<void> {
    await retryOnConflict(`the memory of the schedule ${this.#owner.schedule}`, async () => {
      const parts = (this.#parts ??= await listParts(this.#kubernetes, this.#owner));
      const written = new Map(parts.map((part) => [part.name, part]));
      try {
        for (const { part, data } of changesOf(parts, entries)) {
          const now = part === null ? await this.#create(data, [...written.keys()]) : await this.#patch(part, data);
          written.set(now.name, now);
        }
        this.#parts = [...written.values()];
      } catch (error) {
        this.#parts = null;
        throw error;
      }
    });
  }

  async #patch({ name, resourceVersion }: Part, data: Readonly<Record<string, string | null>>): Promise<Part> {
    const namespace = this.#owner.systemNamespace;
    const body = { metadata: { resourceVersion }, data };
    return partOf(await this.#kubernetes.core.patchNamespacedConfigMap({ name, namespace, body }, MERGE_PATCH));
  }

  /** A name that exists is one of a schedule of this name before, which goes with that one; the next is free. */
  async #create(data: Readonly<Record<string, string | null>>, taken: readonly string[]): Promise<Part> {
    const { schedule, scheduleUid, systemNamespace: namespace } = this.#owner;
    const owner = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, name: schedule, uid: scheduleUid, controller: true };
    const texts = Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => !!entry[1]));
    for (let number = 1; ; number += 1) {
      const name = `lights-out-${labelValue(schedule)}-${number}`;
      if (taken.includes(name)) continue;
      const labels = { 'app.kubernetes.io/part-of': 'headroom', [MEMORY_OF]: labelValue(schedule) };
      const metadata = { name, labels, ownerReferences: [owner] };
      try {
        return partOf(
          await this.#kubernetes.core.createNamespacedConfigMap({ namespace, body: { metadata, data: texts } }),
        );
      } catch (error) {
        if (statusCode(error) !== 409) throw error;
      }
    }
  }
}

/**
 * The memories of all schedules, by the name of the schedule, whether or not it exists.
 *
 * @throws ApiException when the ConfigMaps cannot be listed.
 */
async function listMemories({ core }: Kubernetes, namespace: string): Promise<ReadonlyMap<string, KeptMemory>> {
  const found = await listAll((range) =>
    core.listNamespacedConfigMap({ namespace, labelSelector: MEMORY_OF, ...range }),
  );
  const owned = Map.groupBy(found, ({ metadata }) => metadata?.ownerReferences?.[0]?.name ?? '');
  return new Map([...owned].map(([schedule, parts]) => [schedule, keptOf(parts.map(partOf))]));
}

/** The memories of all schedules as far as they can be read; `withoutMemory` is why they cannot, null when they can. */
export async function readMemories(
  kubernetes: Kubernetes,
  namespace: string,
): Promise<{ readonly memories: Awaited<ReturnType<typeof listMemories>>; readonly withoutMemory: unknown }> {
  try {
    return { memories: await listMemories(kubernetes, namespace), withoutMemory: null };
  } catch (error) {
    if (statusCode(error) === undefined) throw error;
    return { memories: new Map(), withoutMemory: error };
  }
}

interface ConfigMap {
  readonly metadata?: {
    readonly name?: string;
    readonly resourceVersion?: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

function partOf({ metadata, data = {} }: ConfigMap): Part {
  return { name: metadata?.name ?? '', resourceVersion: metadata?.resourceVersion ?? '', data };
}

/** Those of another schedule of the same name do not count: they are about to go. */
async function listParts(
  { core }: Kubernetes,
  { schedule, scheduleUid, systemNamespace: namespace }: MemoryOwner,
): Promise<readonly Part[]> {
  const labelSelector = `${MEMORY_OF}=${labelValue(schedule)}`;
  const found = await listAll((range) => core.listNamespacedConfigMap({ namespace, labelSelector, ...range }));
  return found
    .filter(
      ({ metadata }) =>
        scheduleUid === '' || metadata?.ownerReferences?.some(({ uid }) => uid === scheduleUid) === true,
    )
    .map(partOf);
}
