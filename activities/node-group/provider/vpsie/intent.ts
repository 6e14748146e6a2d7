/**
 * The one request for a machine that may be under way in a cluster. It is written onto a Lease before it is sent, and taken off once
 * it is known what came of it; whoever finds it there resolves it, whose ever it is.
 */
import type { V1Lease } from '@kubernetes/client-node';
import { z } from 'zod';
import type { CreationIntent } from '../../../../domain/node-group/rules/creation.ts';
import { statusCode } from '../../../kubernetes/failure.ts';
import {
  annotateLease,
  createLease,
  holderOf,
  type LeaseNamespace,
  readLease,
  replaceLease,
} from '../../../kubernetes/lease-object.ts';
import type { MachineKey } from './machine-object.ts';
import { providerUnavailable } from './quoted-message.ts';

/** In Headroom's own namespace; its holder is the VPSieNode that the request is for. */
const LEASE = 'node-group-creation';
const ANNOTATION = 'autoscaler.vpsie.com/creation-intent';
const SPARES = 'autoscaler.vpsie.com/creation-spares';
const FENCE = 'autoscaler.vpsie.com/creation-fence';
const LABELS = { 'app.kubernetes.io/name': 'headroom' };

export interface Intent extends CreationIntent {
  readonly machine: MachineKey;
  /** VPSie's cluster, and its group there. */
  readonly cluster: string;
  readonly group: number;
  /** VPSie has said that it makes a machine, and not which. */
  readonly isAccepted: boolean;
}

/** A machine more than was asked for: the next one of its group is this one, and none is made. */
interface Spare extends Pick<Intent, 'cluster' | 'group'> {
  readonly identifier: string;
}

/** The Lease as it was read. What is written by it fails where somebody wrote meanwhile. */
export interface Turn {
  /** Null where it does not exist yet. */
  readonly lease: V1Lease | null;
  /** Null while nothing is under way. */
  readonly intent: Intent | null;
  readonly spares: readonly Spare[];
}

const intentSchema = z.object({
  machine: z.object({ name: z.string(), uid: z.string() }),
  cluster: z.string(),
  group: z.int(),
  isAccepted: z.boolean(),
  askedAt: z.number(),
  seenBefore: z.array(z.string()),
  nodesBefore: z.record(z.string(), z.int()),
  members: z.record(z.string(), z.int()),
});

const sparesSchema = z.array(z.object({ cluster: z.string(), group: z.int(), identifier: z.string() }));
/** So many are remembered. */
const MOST_SPARES = 50;

export async function readTurn(leases: LeaseNamespace): Promise<Turn> {
  const lease = await readLease(leases, LEASE);
  if (lease === null) return { lease, intent: null, spares: [] };
  return { lease, intent: holderOf(lease) === null ? null : readIntent(lease), spares: readSpares(lease) };
}

/** What somebody has changed is forgotten: it only saves a machine. */
function readSpares({ metadata }: V1Lease): readonly Spare[] {
  try {
    return sparesSchema.parse(JSON.parse(metadata?.annotations?.[SPARES] ?? '[]'));
  } catch {
    return [];
  }
}

function readIntent({ metadata }: V1Lease): Intent {
  try {
    return intentSchema.parse(JSON.parse(metadata?.annotations?.[ANNOTATION] ?? 'null'));
  } catch {
    const message = `the annotation ${ANNOTATION} of the Lease ${LEASE} cannot be read: somebody has changed it; delete the Lease once VPSie makes no machine any more`;
    throw providerUnavailable(message);
  }
}

/**
 * @param turn with the spares that are left.
 * @returns whether it was written: false where somebody else wrote to the Lease since it was read.
 */
export async function writeIntent(leases: LeaseNamespace, { lease, spares }: Turn, intent: Intent): Promise<boolean> {
  const annotations = {
    ...lease?.metadata?.annotations,
    [ANNOTATION]: JSON.stringify(intent),
    [SPARES]: JSON.stringify(spares),
  };
  const { name } = intent.machine;
  return await unlessChanged(
    lease === null
      ? createLease(leases, { name: LEASE, labels: LABELS, annotations }, name)
      : replaceLease(leases, lease, name, annotations),
  );
}

/** Writes down that VPSie has accepted the request. */
export async function markAccepted(leases: LeaseNamespace, intent: Intent): Promise<void> {
  await amendIntent(leases, intent, (present) => (present.isAccepted ? null : { isAccepted: true }));
}

/** Writes down that machines came in groups of others: they are none of the request's. */
export async function markSeen(
  leases: LeaseNamespace,
  intent: Intent,
  seen: { readonly keys: readonly string[]; readonly nodes: Intent['nodesBefore'] },
): Promise<void> {
  await amendIntent(leases, intent, ({ seenBefore, nodesBefore, group }) => ({
    seenBefore: [...new Set([...seenBefore, ...seen.keys])],
    // That of the request's own group stays: what comes there is what it has made.
    nodesBefore: { ...seen.nodes, [group]: nodesBefore[group] ?? 0 },
  }));
}

/** Changes the intent while it is there; one that somebody changes at the same time is looked at again by the next look. */
async function amendIntent(
  leases: LeaseNamespace,
  intent: Intent,
  change: (present: Intent) => Partial<Intent> | null,
): Promise<void> {
  const { lease, intent: present } = await readTurn(leases);
  if (lease === null || present === null || !isSame(present, intent)) return;
  const changed = change(present);
  if (changed === null) return;
  const annotations = { ...lease.metadata?.annotations, [ANNOTATION]: JSON.stringify({ ...present, ...changed }) };
  await unlessChanged(annotateLease(leases, lease, annotations));
}

/**
 * Takes the intent off, once what came of it is written down where it belongs.
 *
 * @param surplus identifiers of machines that came of it besides.
 */
export async function clearIntent(
  leases: LeaseNamespace,
  intent: Intent,
  surplus: readonly string[] = [],
): Promise<void> {
  const turn = await readTurn(leases);
  if (turn.lease === null || turn.intent === null || !isSame(turn.intent, intent)) return;
  const { [ANNOTATION]: _, ...rest } = turn.lease.metadata?.annotations ?? {};
  const { cluster, group } = intent;
  const spares = [...turn.spares, ...surplus.map((identifier) => ({ cluster, group, identifier }))];
  const annotations = { ...rest, [SPARES]: JSON.stringify(spares.slice(-MOST_SPARES)) };
  await unlessChanged(replaceLease(leases, turn.lease, null, annotations));
}

/**
 * Makes sure that nobody who has read the Lease before writes an intent after this: from now on a VPSieNode is read after the
 * Lease as it is then.
 * @returns false where somebody else wrote to the Lease since it was read.
 */
export async function fence(leases: LeaseNamespace, { lease }: Turn, { uid }: MachineKey): Promise<boolean> {
  const annotations = { ...lease?.metadata?.annotations, [FENCE]: uid };
  return await unlessChanged(
    lease === null
      ? createLease(leases, { name: LEASE, labels: LABELS, annotations }, null)
      : annotateLease(leases, lease, annotations),
  );
}

/** Whether a request of this machine was written down by it. */
export function isFor(intent: Intent, { name, uid }: MachineKey): boolean {
  return intent.machine.name === name && intent.machine.uid === uid;
}

function isSame(a: Intent, b: Intent): boolean {
  return isFor(a, b.machine) && a.askedAt === b.askedAt;
}

async function unlessChanged(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    // Written by somebody else, created by somebody else, or deleted.
    if (statusCode(error) === 409 || statusCode(error) === 404) return false;
    throw error;
  }
}
