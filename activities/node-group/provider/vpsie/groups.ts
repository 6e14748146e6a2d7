/** The groups of machines at VPSie: one for each size of a NodeGroup, found by its name. */
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Creation } from '../provider.ts';
import type { VpsieClient } from './client.ts';
import { offerOf } from './instance-types.ts';
import { addGroup, type ListedGroup, listGroups, listOffers, type Offer } from './rest.ts';

export type GroupPlace =
  | { readonly kind: 'found'; readonly cluster: string; readonly id: number }
  | Exclude<Creation, { kind: 'made' }>;

/** Sizes change when VPSie's price list does. */
const OFFERS_MS = 600_000;

interface Kept {
  readonly at: number;
  readonly offers: readonly Offer[];
}

const offersOf = new WeakMap<VpsieClient, Map<string, Kept>>();
/** Groups that were found, by the client that found them: nobody deletes them but a person. */
const placesOf = new WeakMap<VpsieClient, Map<string, number>>();

/** The sizes of a datacenter, asked for every ten minutes at most. */
export async function knownOffers(client: VpsieClient, datacenter: string): Promise<readonly Offer[]> {
  const all = offersOf.get(client) ?? new Map<string, Kept>();
  offersOf.set(client, all);
  const kept = all.get(datacenter);
  if (kept !== undefined && Date.now() - kept.at < OFFERS_MS) return kept.offers;
  const offers = await listOffers(client, datacenter);
  all.set(datacenter, { at: Date.now(), offers });
  return offers;
}

/**
 * The group in which a machine of this instance type is made; it is added where there is none.
 * @throws Limited, `ProviderUnavailable`.
 */
export async function groupPlace(client: VpsieClient, group: NodeGroup, instanceType: string): Promise<GroupPlace> {
  const { resourceIdentifier: cluster = '', datacenterID: datacenter = '' } = group.providerSpec;
  const offer = offerOf(group, instanceType, await knownOffers(client, datacenter));
  if (offer === null)
    return { kind: 'failed', detail: `VPSie has no size ${instanceType} in the datacenter of the group` };
  const places = placesOf.get(client) ?? new Map<string, number>();
  placesOf.set(client, places);
  const key = JSON.stringify([cluster, group.name, offer.id]);
  const known = places.get(key);
  if (known !== undefined) return { kind: 'found', cluster, id: known };
  const place = await findOrAdd(client, { cluster, group: group.name, offer });
  if (place.kind === 'found') places.set(key, place.id);
  return place;
}

/** After VPSie has said that it has a group no more. */
export function forgetPlaces(client: VpsieClient): void {
  placesOf.delete(client);
}

async function findOrAdd(
  client: VpsieClient,
  { cluster, group, offer }: { readonly cluster: string; readonly group: string; readonly offer: Offer },
): Promise<GroupPlace> {
  const before = await listGroups(client, cluster);
  const found = find(before, group, offer);
  if (found !== null) return { kind: 'found', cluster, id: found.id };
  const name = before.some((one) => one.name === group) ? nameOfSize(group, offer) : group;
  const answer = await addGroup(client, { cluster, name, size: offer.id });
  // Whatever it answered: it is there if it is listed.
  const added = find(await listGroups(client, cluster), group, offer);
  if (added !== null) return { kind: 'found', cluster, id: added.id };
  const words = 'message' in answer ? `: ${answer.message}` : '';
  if (answer.kind === 'terminal') return { kind: 'failed', detail: `VPSie adds no group ${name}${words}` };
  const retryAfterMs = client.times.lookMs;
  return { kind: 'waiting', detail: `VPSie does not list the group ${name} yet${words}`, retryAfterMs };
}

/** The oldest, where a lost answer has made two: the other one stays empty. */
function find(groups: readonly ListedGroup[], name: string, offer: Offer): ListedGroup | null {
  const ours = groups.filter((one) => one.size === offer.id && [name, nameOfSize(name, offer)].includes(one.name));
  return ours.toSorted((a, b) => a.id - b.id)[0] ?? null;
}

/** A group has one size, and a NodeGroup may have several. */
function nameOfSize(name: string, { id }: Offer): string {
  return `${name}-${id}`;
}
