/** The provider `vpsie`: machines of a managed Kubernetes cluster at VPSie. */
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import { isInterrupted } from '../../../kernel/cancellation.ts';
import type { Kubernetes } from '../../../kubernetes/kubernetes.ts';
import type { Creation, MachineRequest, NodeProvider } from '../provider.ts';
import { VpsieClient } from './client.ts';
import { clusterOf, ensureMachine, type VpsieContext } from './create.ts';
import { ensureMachineDeleted } from './delete.ts';
import { knownOffers } from './groups.ts';
import { instanceTypesOf } from './instance-types.ts';
import type { VpsieOptions } from './options.ts';
import { recordedMachines } from './machine-object.ts';
import { Limited } from './pace.ts';
import { listMachines } from './rest.ts';
import { providerUnavailable } from './quoted-message.ts';

export interface VpsieProviderOptions {
  readonly kubernetes: Kubernetes;
  /** Where the Lease of the one request is that may be under way. */
  readonly systemNamespace: string;
  readonly vpsie: VpsieOptions;
}

/** One for a process: it has the token, and the rate of what is asked. */
export function createVpsieProvider({ kubernetes, systemNamespace, vpsie }: VpsieProviderOptions): NodeProvider {
  const client = new VpsieClient(vpsie);
  const context: VpsieContext = { kubernetes, systemNamespace, client };
  return {
    instanceTypes: async (group) => {
      try {
        const offers = await knownOffers(client, group.providerSpec['datacenterID'] ?? '');
        return instanceTypesOf(group, offers);
      } catch (error) {
        throw error instanceof Limited ? providerUnavailable(error.message, error.retryAfterMs) : error;
      }
    },
    ensureCreated: async (group, requests) => {
      if (requests.length === 0) return [];
      try {
        return await createInTurn(context, group, requests);
      } catch (error) {
        throw error instanceof Limited ? providerUnavailable(error.message, error.retryAfterMs) : error;
      }
    },
    ensureDeleted: async (group, machine) => {
      try {
        return await ensureMachineDeleted(context, clusterOf(group), machine);
      } catch (error) {
        if (!(error instanceof Limited)) throw error;
        return { kind: 'going', detail: error.message, retryAfterMs: error.retryAfterMs };
      }
    },
  };
}

/** Each until it is known what came of it: while one is under way, the others wait for their turn. */
async function createInTurn(
  context: VpsieContext,
  group: NodeGroup,
  requests: readonly MachineRequest[],
): Promise<readonly Creation[]> {
  const until = Date.now() + context.client.times.callMs;
  const known = await knownMachines(context, clusterOf(group), requests);
  const answers: Creation[] = [];
  let standing: Creation | null = null;
  for (const request of requests) {
    const before = known.get(request.uid);
    if (before === undefined && standing === null && (Date.now() > until || isInterrupted())) {
      standing = {
        kind: 'waiting',
        detail: 'it is asked for after the machines before it',
        retryAfterMs: 1,
        isQueued: true,
      };
    }
    const answer: Creation = before ?? standing ?? (await oneMachine(context, group, request));
    if (answer.kind === 'waiting') standing ??= turnOf(request, answer);
    answers.push(answer);
  }
  return answers;
}

/** Those that have their machine already, by the UID of the VPSieNode. */
async function knownMachines(
  { kubernetes, client }: VpsieContext,
  cluster: string,
  requests: readonly MachineRequest[],
): Promise<ReadonlyMap<string, Creation>> {
  const recorded = await recordedMachines(kubernetes);
  const found = requests.flatMap(({ uid }) => {
    const identifier = recorded.get(uid)?.identifiers[0];
    return identifier === undefined ? [] : [{ uid, identifier }];
  });
  if (found.length === 0) return new Map();
  const hostnames = new Map(
    (await listMachines(client, cluster)).map(({ identifier, hostname }) => [identifier, hostname]),
  );
  return new Map(
    found.map(({ uid, identifier }) => [
      uid,
      { kind: 'made', providerId: identifier, nodeName: hostnames.get(identifier) || null },
    ]),
  );
}

async function oneMachine(context: VpsieContext, group: NodeGroup, request: MachineRequest): Promise<Creation> {
  try {
    return await ensureMachine(context, group, request);
  } catch (error) {
    if (!(error instanceof Limited)) throw error;
    return { kind: 'waiting', detail: error.message, retryAfterMs: error.retryAfterMs };
  }
}

function turnOf({ name }: MachineRequest, { retryAfterMs }: Extract<Creation, { kind: 'waiting' }>): Creation {
  return { kind: 'waiting', detail: `it is asked for after ${name}`, retryAfterMs, isQueued: true };
}
