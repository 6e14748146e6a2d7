/**
 * What people have said of nodes, and which drains have failed, for every group: in the Lease of plans, so that whoever plans knows it,
 * and another plan than the one that was made without it is acted on. Nobody but Headroom and admins may write there.
 */
import { isRecord, ownValue } from '../kernel/record.ts';
import type { EpochMs } from '../kernel/time.ts';
import { GROUP } from './api/names.ts';
import { type NodeGroupMemory, readRemovalKey } from './decide/memory.ts';

/** The annotation of the Lease `PLAN_LEASE` with the list of `GroupWishes`, as JSON. */
export const PLAN_WISHES = `${GROUP}/plan-wishes`;

/** The part of a group's memory that plans go by. */
export type Wishes = Pick<NodeGroupMemory, 'requested' | 'failed' | 'rejected'>;

export interface GroupWishes extends Wishes {
  readonly group: string;
  /** Of the NodeGroup: one that was created again under the same name begins without any. */
  readonly uid: string;
}

export const NO_WISHES: Wishes = { requested: [], failed: [], rejected: [] };

/** Of a sentence and of a name; people write longer ones. */
const LONGEST_TEXT = 200;
/** How many rests of each kind are written down for a group, the longest first: an object takes 256 KiB of annotations. */
const MOST_RESTS = 20;
/** No rest is longer, in milliseconds: a rejection holds for eight hours. */
const LONGEST_REST_MS = 86_400_000;

/** What counts of a memory, or of what was written down, at that moment. */
export function wishesOf({ requested, failed, rejected }: Wishes, now: EpochMs): Wishes {
  const short = (text: string): string => text.slice(0, LONGEST_TEXT);
  return {
    requested: requested.map((each) => ({ ...each, by: short(each.by) })),
    failed: longest(failed, now).map((each) => ({ ...each, detail: short(each.detail) })),
    rejected: longest(rejected, now).map((each) => ({ ...each, by: short(each.by) })),
  };
}

function longest<Rest extends { readonly until: EpochMs }>(rests: readonly Rest[], now: EpochMs): readonly Rest[] {
  return rests
    .filter(({ until }) => until > now)
    .toSorted((a, b) => b.until - a.until)
    .slice(0, MOST_RESTS);
}

/** Whether two say the same at that moment. */
export function areEqualWishes(a: Wishes, b: Wishes, now: EpochMs): boolean {
  return textOf(wishesOf(a, now)) === textOf(wishesOf(b, now));
}

/** The order in which they were said, and that of an object's keys, does not matter. */
function textOf({ requested, failed, rejected }: Wishes): string {
  return JSON.stringify([
    requested.map(({ node, uid = '', by }) => JSON.stringify([node, uid, by])).toSorted(),
    failed.map(({ uid, until, isStopped = false }) => JSON.stringify([uid, until, isStopped])).toSorted(),
    rejected.map(({ key, until }) => JSON.stringify([key, until])).toSorted(),
  ]);
}

/** Both together; what the first says of a node goes before what the second does. */
export function joinedWishes(a: Wishes, b: Wishes): Wishes {
  const others = <T>(own: readonly T[], more: readonly T[], keyOf: (each: T) => string): readonly T[] => {
    const known = new Set(own.map(keyOf));
    return [...own, ...more.filter((each) => !known.has(keyOf(each)))];
  };
  return {
    requested: others(a.requested, b.requested, ({ node }) => node),
    failed: others(a.failed, b.failed, ({ uid }) => uid),
    rejected: others(a.rejected, b.rejected, ({ key }) => key),
  };
}

/** Nodes of which something was said, and which are not there any more. */
export interface GoneNodes {
  readonly names: readonly string[];
  readonly uids: readonly string[];
}

/** By the names under which nodes were asked for, the UIDs of those that have them; not of requests that have a UID. */
export type BoundNodes = Readonly<Record<string, string>>;

/** @param nodes all nodes of the cluster. */
export function boundNodes(
  { requested }: Pick<Wishes, 'requested'>,
  nodes: readonly { readonly name: string; readonly uid: string }[],
): BoundNodes {
  const open = new Set(requested.flatMap(({ node, uid }) => (uid === undefined ? [node] : [])));
  return Object.fromEntries(nodes.filter(({ name }) => open.has(name)).map(({ name, uid }) => [name, uid]));
}

/** Each request is for the node that has the name. */
export function withBound<T extends Wishes>(wishes: T, bound: BoundNodes): T {
  const requested = wishes.requested.map((each) => {
    const uid = each.uid ?? ownValue(bound, each.node);
    return uid === undefined ? each : { ...each, uid };
  });
  return { ...wishes, requested };
}

/** @param nodes all nodes of the cluster. */
export function goneNodes(
  { requested, failed, rejected }: Wishes,
  nodes: readonly { readonly name: string; readonly uid: string }[],
): GoneNodes {
  const names = new Set(nodes.map(({ name }) => name));
  const uids = new Set(nodes.map(({ uid }) => uid));
  const said = new Set([
    ...requested.flatMap(({ uid }) => uid ?? []),
    ...failed.map(({ uid }) => uid),
    ...rejected.map(({ key }) => readRemovalKey(key).uid),
  ]);
  return {
    names: requested.flatMap(({ node, uid }) => (uid === undefined && !names.has(node) ? [node] : [])),
    uids: [...said].filter((uid) => !uids.has(uid)),
  };
}

/** Without what was said of those nodes. */
export function withoutNodes<T extends Wishes>(wishes: T, gone: GoneNodes): T {
  const [names, uids] = [new Set(gone.names), new Set(gone.uids)];
  return {
    ...wishes,
    requested: wishes.requested.filter(({ node, uid }) => (uid === undefined ? !names.has(node) : !uids.has(uid))),
    failed: wishes.failed.filter(({ uid }) => !uids.has(uid)),
    rejected: wishes.rejected.filter(({ key }) => !uids.has(readRemovalKey(key).uid)),
  };
}

/**
 * The annotation with what one group's workflow knows in place of what was there of the group.
 *
 * @returns null where that changes nothing.
 */
export function withWishes(
  text: string | undefined,
  { group, uid, ...wishes }: GroupWishes,
  now: EpochMs,
): string | null {
  const all = parseWishes(text);
  const own = all.find((each) => each.group === group);
  const present = own?.uid === uid ? own : NO_WISHES;
  const isLeft = own !== undefined && own.uid !== uid;
  if (!isLeft && areEqualWishes(present, wishes, now)) return null;
  const left = all.filter((each) => each.group !== group);
  const isEmpty = areEqualWishes(wishes, NO_WISHES, now);
  const { requested, failed, rejected } = wishesOf(wishes, now);
  const bounded = <Rest extends { readonly until: EpochMs }>(rest: Rest): Rest => ({
    ...rest,
    until: Math.min(rest.until, now + LONGEST_REST_MS),
  });
  const entry = { group, uid, requested, failed: failed.map(bounded), rejected: rejected.map(bounded) };
  return JSON.stringify(isEmpty ? left : [...left, entry]);
}

/**
 * The annotation without what was written down of a group that is gone; what is there of another one under its name stays.
 *
 * @returns null where that changes nothing.
 */
export function withoutWishes(
  text: string | undefined,
  { group, uid }: Pick<GroupWishes, 'group' | 'uid'>,
): string | null {
  const all = parseWishes(text);
  const left = all.filter((each) => each.group !== group || each.uid !== uid);
  return left.length === all.length ? null : JSON.stringify(left);
}

/** Reads the annotation, which may be missing or somebody else's; never throws. */
export function parseWishes(text: string | undefined): readonly GroupWishes[] {
  let read: unknown = null;
  try {
    read = JSON.parse(text ?? 'null');
  } catch {
    // As if there were none: each workflow says again what it knows.
  }
  return Array.isArray(read) ? read.filter(isGroupWishes) : [];
}

function isGroupWishes(value: unknown): value is GroupWishes {
  return (
    isRecord(value) &&
    hasTexts(value, 'group', 'uid') &&
    isListOf(
      value['requested'],
      (each) => hasTexts(each, 'node', 'by') && ['string', 'undefined'].includes(typeof each['uid']),
    ) &&
    isListOf(value['failed'], (each) => hasTexts(each, 'node', 'uid', 'detail') && isMoment(each['until'])) &&
    isListOf(value['rejected'], (each) => hasTexts(each, 'key', 'by') && isMoment(each['until']))
  );
}

function isListOf(value: unknown, is: (each: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(value) && value.every((each) => isRecord(each) && is(each));
}

function hasTexts(value: Readonly<Record<string, unknown>>, ...keys: readonly string[]): boolean {
  return keys.every((key) => typeof value[key] === 'string');
}

function isMoment(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}
