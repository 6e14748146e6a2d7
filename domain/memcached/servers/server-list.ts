/** The servers of a cache as clients read them, and as they are remembered from pass to pass. */
import { z } from 'zod';
import { isRecord } from '../../kernel/record.ts';
import type { Memcached } from '../api/memcached.ts';
import type { ReadMemcached } from '../api/read-memcached.ts';
import { type Body, bodyOf } from '../children/body.ts';
import { hasAll } from '../children/difference.ts';
import { isOwnedBy, type LiveObject } from '../plan/live.ts';
import type { Slot } from './slots.ts';

/** What is called by the Memcached's name elsewhere has this name here: a ConfigMap `sessions` may be anybody's. */
export const SERVERS_SUFFIX = '-servers';

const JSON_KEY = 'servers.json';
const TEXT_KEY = 'servers.txt';

type Identity = Pick<Memcached, 'name' | 'namespace' | 'uid'>;

/** What clients hash on. */
function slotName({ name }: Pick<Memcached, 'name'>, slot: number): string {
  return `${name}-${slot}`;
}

/** The ConfigMap that clients mount or read. It is there from the start, as pods that mount one wait until it is. */
export function serverListBody(memcached: Identity, slots: readonly Slot[]): Body {
  const servers = slots.map(({ slot, address, pod }) => ({ name: slotName(memcached, slot), slot, address, pod }));
  return bodyOf(memcached, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    suffix: SERVERS_SUFFIX,
    data: {
      [JSON_KEY]: `${JSON.stringify({ servers }, null, 2)}\n`,
      [TEXT_KEY]: servers.map(({ name, address }) => `${name} ${address}\n`).join(''),
    },
  });
}

const listed = z.object({
  servers: z.array(z.object({ slot: z.int().min(0), address: z.string().min(1), pod: z.string().nullable() })),
});
const inStatus = z.array(z.object({ slot: z.int().min(0), address: z.string().min(1) }));

/**
 * The slots as they were assigned last: those of the ConfigMap, unless somebody changed or deleted it, and otherwise those of the
 * status, which has no pods.
 */
export function rememberedSlots(
  memcached: Identity & Pick<ReadMemcached, 'status'>,
  configMap: LiveObject | null,
): readonly Slot[] {
  const slots = configMap !== null && isOwnedBy(configMap, memcached.uid) ? listedIn(configMap) : null;
  if (slots !== null && hasAll(configMap, serverListBody(memcached, slots))) return slots;
  return slotsIn(memcached.status).map(({ slot, address }) => ({ slot, address, pod: null }));
}

function slotsIn(status: Readonly<Record<string, unknown>>): readonly Omit<Slot, 'pod'>[] {
  const { data = [] } = inStatus.safeParse(status['servers']);
  return isConsistent(data) ? data : [];
}

/** The servers as the status has them, each by its slot's name. */
export function listedServers({ name, status }: Pick<ReadMemcached, 'name' | 'status'>): readonly {
  readonly name: string;
  readonly address: string;
}[] {
  return slotsIn(status).map(({ slot, address }) => ({ name: slotName({ name }, slot), address }));
}

function listedIn(configMap: LiveObject): readonly Slot[] | null {
  const data = configMap['data'];
  const text = isRecord(data) ? data[JSON_KEY] : undefined;
  if (typeof text !== 'string') return null;
  try {
    const { servers } = listed.parse(JSON.parse(text));
    return isConsistent(servers) ? servers : null;
  } catch {
    return null;
  }
}

/** One server for each slot, and one slot for each server. */
function isConsistent(slots: readonly Omit<Slot, 'pod'>[]): boolean {
  const isEachOnce = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
  return isEachOnce(slots.map(({ slot }) => slot)) && isEachOnce(slots.map(({ address }) => address));
}
