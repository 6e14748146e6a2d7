/** The few things that are asked of VPSie's REST, with their answers in our words. */
import { z } from 'zod';
import type { Answer } from './answer.ts';
import type { VpsieClient, VpsieRequest } from './client.ts';
import { providerUnavailable } from './quoted-message.ts';

/** A machine of a cluster as VPSie lists it. */
export interface ListedMachine {
  /** Empty while it has none yet. */
  readonly identifier: string;
  readonly id: number | null;
  /** In lower case, as Kubernetes has names; empty while it has none yet. */
  readonly hostname: string;
}

/** A group of machines of one size. */
export interface ListedGroup {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** How many machines it has. */
  readonly nodes: number;
}

/** What a node can be. */
export interface Offer {
  readonly id: number;
  readonly name: string;
  /** Cores. */
  readonly cpu: number;
  /** MB. */
  readonly ram: number;
  /** GB. */
  readonly disk: number;
  readonly pricePerHour: number | null;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const whole = z
  .int()
  .nullish()
  .transform((value) => value ?? null);

const machineSchema = z
  .object({ identifier: text, id: whole, hostname: text })
  .transform((machine): ListedMachine => ({ ...machine, hostname: machine.hostname.toLowerCase() }));
const clusterSchema = z.object({ nodes: z.array(machineSchema) });

const groupsSchema = z.array(
  z.object({ id: z.int(), group_name: z.string(), boxsize_id: z.int(), nodes_count: z.int(), is_deleted: whole }),
);

/** VPSie tells prices as numbers or texts. */
const price = z.coerce.number().nonnegative().nullish().catch(null);
/** Hours of a month, by which VPSie's monthly prices are divided. */
const MONTH_HOURS = 730;
const offersSchema = z.array(
  z.object({
    id: z.int(),
    name: text,
    cpu: z.number().positive(),
    ram: z.number().positive(),
    disk: z.number().nonnegative().nullish(),
    price,
    hourly_price: price,
  }),
);

/** All machines of a cluster. */
export async function listMachines(client: VpsieClient, cluster: string): Promise<readonly ListedMachine[]> {
  const request = { method: 'GET', path: clusterPath(cluster) } as const;
  return read(clusterSchema, await dataOf(client, request, 'the machines of the cluster')).nodes;
}

export async function listGroups(client: VpsieClient, cluster: string): Promise<readonly ListedGroup[]> {
  const request = { method: 'GET', path: `/k8s/node/groups/byClusterId/${encodeURIComponent(cluster)}` } as const;
  const groups = read(groupsSchema, await dataOf(client, request, 'the groups of the cluster'));
  return groups
    .filter(({ is_deleted: isDeleted }) => isDeleted !== 1)
    .map(({ id, group_name: name, boxsize_id: size, nodes_count: nodes }) => ({ id, name, size, nodes }));
}

/** Whatever it answers, the group is there when it is listed. */
export async function addGroup(
  client: VpsieClient,
  { cluster, name, size }: { readonly cluster: string; readonly name: string; readonly size: number },
): Promise<Answer> {
  const body = { clusterIdentifier: cluster, groupName: name, KubeSizeID: size };
  return await client.ask({ method: 'POST', path: '/k8s/cluster/add/group', body });
}

export async function listOffers(client: VpsieClient, datacenter: string): Promise<readonly Offer[]> {
  const request = { method: 'POST', path: '/k8s/offers', body: { dcIdentifier: datacenter } } as const;
  return read(offersSchema, await dataOf(client, request, 'the sizes of the datacenter')).map((offer) => ({
    id: offer.id,
    name: offer.name,
    cpu: offer.cpu,
    ram: offer.ram,
    disk: offer.disk ?? 0,
    pricePerHour:
      offer.hourly_price ?? (offer.price === null || offer.price === undefined ? null : offer.price / MONTH_HOURS),
  }));
}

/** One machine more in a group. VPSie takes neither a name nor a key with it: each one that arrives makes a machine. */
export function addMachineRequest(cluster: string, group: number): VpsieRequest {
  return { method: 'POST', path: `${clusterPath(cluster)}/add/slave/group/${group}` };
}

/** Exactly this machine. Never `/reduce`, which takes away one that VPSie chooses. */
export async function deleteMachine(client: VpsieClient, cluster: string, identifier: string): Promise<Answer> {
  return await client.ask({ method: 'DELETE', path: `${clusterPath(cluster)}/delete/slave`, body: { identifier } });
}

/** What the answer to a request for a machine says of it, by its identifier or its number; null where it is not told. */
export function addedMachine(data: unknown): ListedMachine | null {
  const machine = machineSchema.safeParse(data);
  if (!machine.success) return null;
  // The VPSie autoscaler has 0 where there is no number yet.
  const { identifier, id } = machine.data;
  return identifier !== '' || (id !== null && id > 0) ? machine.data : null;
}

function clusterPath(cluster: string): string {
  return `/k8s/cluster/byId/${encodeURIComponent(cluster)}`;
}

async function dataOf(client: VpsieClient, request: VpsieRequest, what: string): Promise<unknown> {
  const answer = await client.ask(request);
  if (answer.kind === 'done') return answer.data;
  const words = answer.kind === 'gone' ? 'there are none (404)' : answer.message;
  throw providerUnavailable(`VPSie does not tell ${what}: ${words}`);
}

/** What it does not understand is no empty list: a machine would be made again for it. */
function read<T>(schema: z.ZodType<T>, data: unknown): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.map(String).join('.') ?? '';
  throw providerUnavailable(`VPSie's answer is not as it was known to be${place === '' ? '' : ` (at ${place})`}`);
}
