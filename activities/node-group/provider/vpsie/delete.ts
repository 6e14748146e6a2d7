/** Deletes machines at VPSie, also those of which it is not known whether they were made. */
import type { Deletion, MachineToDelete } from '../provider.ts';
import type { Answer } from './answer.ts';
import type { VpsieClient } from './client.ts';
import { resolve, type VpsieContext } from './create.ts';
import { clearIntent, fence, isFor, readTurn } from './intent.ts';
import { readObject } from './machine-object.ts';
import { deleteMachine, listMachines } from './rest.ts';

const GONE: Deletion = { kind: 'gone' };
const AGAIN_MS = 200;

/** What VPSie says in an answer with another status than 404. */
const NOT_THERE = /not found|does not exist|no such/iu;

/** @throws Limited, `ProviderUnavailable`, and what the API server refuses. */
export async function ensureMachineDeleted(
  context: VpsieContext,
  cluster: string,
  machine: MachineToDelete,
): Promise<Deletion> {
  const known = await findMachine(context, machine);
  if (typeof known === 'object') return known;
  const { client } = context;
  const found = isIdentifier(known) ? known : await identifierOf(client, cluster, known);
  if (found === null) return GONE;
  const answer = await deleteMachine(client, cluster, found);
  // A 404 alone is not believed: a machine that goes on costs money, and nobody would look for it.
  const isListed = (await listMachines(client, cluster)).some(({ identifier }) => identifier === found);
  const isNotThere = answer.kind === 'gone' || ('message' in answer && NOT_THERE.test(answer.message));
  if (!isListed && (answer.kind === 'done' || isNotThere)) return GONE;
  const words = wordsFor(answer);
  return { kind: 'going', detail: words, retryAfterMs: client.times.lookMs };
}

function wordsFor(answer: Answer): string {
  if ('message' in answer) return `VPSie does not delete the machine: ${answer.message}`;
  return answer.kind === 'gone'
    ? 'VPSie does not delete the machine: it says that it is not there (404), and lists it'
    : 'VPSie deletes the machine';
}

/** The VPSie autoscaler also has numbers, and names as cloud controllers write them: `vpsie://<datacenter>/<cluster>/<id>`. */
function isIdentifier(providerId: string): boolean {
  return !providerId.includes('/') && !/^\d+$/u.test(providerId);
}

/** Of the machine with such a name; null where VPSie has none. Deleted by that name itself it would be said not to be there. */
async function identifierOf(client: VpsieClient, cluster: string, providerId: string): Promise<string | null> {
  const last = providerId.split('/').at(-1) ?? '';
  const listed = await listMachines(client, cluster);
  const machine = listed.find(
    ({ identifier, id }) => identifier !== '' && (identifier === last || String(id) === last),
  );
  return machine?.identifier ?? null;
}

/** VPSie's identifier of the machine, or what is to be said while there is none. */
async function findMachine(context: VpsieContext, machine: MachineToDelete): Promise<string | Deletion> {
  const turn = await readTurn(context);
  if (turn.intent !== null && isFor(turn.intent, machine)) {
    // Its identifier is known, so nothing more comes of the request.
    if (machine.providerId !== null) {
      await clearIntent(context, turn.intent);
      return machine.providerId;
    }
    const resolution = await resolve(context, turn.intent);
    if (resolution.kind === 'wait') {
      const detail = 'it is not known yet whether VPSie makes the machine';
      return {
        kind: 'going',
        detail,
        retryAfterMs: Math.max(1, Math.min(resolution.untilMs, context.client.times.lookMs)),
      };
    }
    await clearIntent(context, turn.intent, resolution.kind === 'adopted' ? resolution.surplus : []);
    if (resolution.kind === 'adopted' && resolution.identifier !== null) return resolution.identifier;
    // The fence is made by the next try.
    return { kind: 'going', detail: 'no machine came of the request', retryAfterMs: AGAIN_MS };
  }
  if (machine.providerId !== null) return machine.providerId;
  // What was adopted was written down before the intent was taken off: it is read after the Lease.
  const identifier = (await readObject(context.kubernetes, machine))?.identifier ?? null;
  if (identifier !== null) return identifier;
  if (await fence(context, turn, machine)) return GONE;
  return { kind: 'going', detail: 'another machine is being asked for', retryAfterMs: AGAIN_MS };
}
