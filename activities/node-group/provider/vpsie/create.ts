/** Makes machines at VPSie one after the other, each exactly once. */
import { nextCreationStep } from '../../../../domain/node-group/rules/creation.ts';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Kubernetes } from '../../../kubernetes/kubernetes.ts';
import type { Creation, MachineRequest } from '../provider.ts';
import type { Answer } from './answer.ts';
import type { VpsieClient } from './client.ts';
import { forgetPlaces, type GroupPlace, groupPlace } from './groups.ts';
import { clearIntent, type Intent, isFor, markAccepted, readTurn, type Turn, writeIntent } from './intent.ts';
import { claimedIdentifiers, type MachineKey, readObject, recordMachine } from './machine-object.ts';
import { addedMachine, addMachineRequest, type ListedMachine, listMachines } from './rest.ts';

export interface VpsieContext {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly client: VpsieClient;
}

/** What came of a request that was written down. */
export type Resolution =
  /** It made this machine; null: and nobody is there to have it. */
  | {
      readonly kind: 'adopted';
      readonly identifier: string | null;
      readonly hostname: string;
      /** Identifiers of machines that came of it besides. */
      readonly surplus: readonly string[];
    }
  /** It may still take effect. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** It made none, and will make none. */
  | { readonly kind: 'nothing' };

/** Somebody else was faster. */
const AGAIN_MS = 200;
const AGAIN: Creation = {
  kind: 'waiting',
  detail: 'another machine is being asked for',
  retryAfterMs: AGAIN_MS,
  isQueued: true,
};

/**
 * One try to have the machine: at most one request for a machine is sent.
 *
 * @throws Limited, `ProviderUnavailable`, and what the API server refuses.
 */
export async function ensureMachine(
  context: VpsieContext,
  group: NodeGroup,
  request: MachineRequest,
): Promise<Creation> {
  const { kubernetes, client } = context;
  const turn = await readTurn(context);
  if (turn.intent !== null) {
    const { intent } = turn;
    const isOwn = isFor(intent, request);
    const age = Date.now() - intent.askedAt;
    const resolution =
      isOwn || age > client.times.othersMs
        ? await resolve(context, intent)
        : ({ kind: 'wait', untilMs: Infinity } as const);
    if (resolution.kind === 'wait') return waiting(context, intent, request, resolution.untilMs);
    // One of its own that came to nothing is replaced by the next one.
    if (!isOwn || resolution.kind === 'adopted') {
      await clearIntent(context, intent, surplusOf(resolution));
      return isOwn && resolution.kind === 'adopted' ? made(request, resolution) : AGAIN;
    }
  }
  const object = await readObject(kubernetes, request);
  if (object === null || object.isLeaving) {
    if (turn.intent !== null) await clearIntent(context, turn.intent);
    const what = object === null ? 'gone' : 'being deleted';
    return { kind: 'failed', detail: `the VPSieNode ${request.name} is ${what}` };
  }
  // Whoever asks finds it among those that are known.
  if (object.identifier !== null) return AGAIN;
  const place = await groupPlace(client, group, request.instanceType);
  return place.kind === 'found' ? await askForMachine(context, turn, request, place) : place;
}

/** Sends the request; the Lease was read before everything else that is known here. */
async function askForMachine(
  context: VpsieContext,
  turn: Turn,
  { name, uid }: MachineRequest,
  { cluster, id }: Extract<GroupPlace, { kind: 'found' }>,
): Promise<Creation> {
  const { client } = context;
  const listed = await listMachines(client, cluster);
  const spare = await findSpare(context, turn, { cluster, group: id }, listed);
  // Everything that can wait is done before: from the intent to the request no time passes.
  const send = spare === null ? await client.ready() : null;
  const intent = {
    machine: { name, uid },
    cluster,
    group: id,
    isAccepted: false,
    askedAt: Date.now(),
    seenBefore: listed.filter(({ identifier }) => identifier !== spare).flatMap(keysOf),
  };
  const spares = turn.spares.filter(({ identifier }) => identifier !== spare);
  if (!(await writeIntent(context, { ...turn, spares }, intent))) return AGAIN;
  if (send === null) return await afterAnswer(context, intent, { kind: 'done', data: null });
  if (Date.now() - intent.askedAt > client.times.startMs) {
    return { kind: 'waiting', detail: 'the request for the machine came too late to be sent', retryAfterMs: AGAIN_MS };
  }
  return await afterAnswer(context, intent, await send(addMachineRequest(cluster, id)));
}

/** A machine that came besides of an earlier request in the same group, and is nobody's. */
async function findSpare(
  { kubernetes }: VpsieContext,
  { spares }: Turn,
  { cluster, group }: Pick<Intent, 'cluster' | 'group'>,
  listed: readonly ListedMachine[],
): Promise<string | null> {
  const there = new Set(listed.map(({ identifier }) => identifier));
  const fitting = spares.filter(
    (spare) => spare.cluster === cluster && spare.group === group && there.has(spare.identifier),
  );
  if (fitting.length === 0) return null;
  const claimed = await claimedIdentifiers(kubernetes);
  return fitting.find(({ identifier }) => !claimed.has(identifier))?.identifier ?? null;
}

async function afterAnswer(context: VpsieContext, intent: Intent, answer: Answer): Promise<Creation> {
  const { client } = context;
  const nothingDone = async (outcome: Creation): Promise<Creation> => {
    await clearIntent(context, intent);
    return outcome;
  };
  switch (answer.kind) {
    case 'terminal':
      return await nothingDone({ kind: 'failed', detail: `VPSie makes no machine: ${answer.message}` });
    case 'limited': {
      const retryAfterMs = client.rest(answer.retryAfterMs);
      return await nothingDone({ kind: 'waiting', detail: 'VPSie takes no more requests for now', retryAfterMs });
    }
    case 'unauthorized':
      return await nothingDone({ kind: 'waiting', detail: 'the token of VPSie had ended', retryAfterMs: AGAIN_MS });
    case 'gone':
      forgetPlaces(client);
      return await nothingDone({
        kind: 'waiting',
        detail: 'VPSie has no such group any more',
        retryAfterMs: client.times.lookMs,
      });
    case 'done':
    case 'unknown':
      return await adoptAnswered(context, intent, answer);
  }
}

/** A machine that the answer names is there; any other may be on its way, whatever the answer was. */
async function adoptAnswered(
  context: VpsieContext,
  intent: Intent,
  answer: Extract<Answer, { kind: 'done' | 'unknown' }>,
): Promise<Creation> {
  const named = answer.kind === 'done' ? addedMachine(answer.data) : null;
  const resolution = await resolve(context, intent, named);
  if (resolution.kind === 'adopted') {
    await clearIntent(context, intent, resolution.surplus);
    return made(intent.machine, resolution);
  }
  if (answer.kind === 'done') await markAccepted(context, intent);
  const detail =
    answer.kind === 'done'
      ? 'VPSie is making the machine, and does not list it yet'
      : `it is not known whether VPSie makes the machine: ${answer.message}`;
  return { kind: 'waiting', detail, retryAfterMs: context.client.times.lookMs };
}

/**
 * Finds out what came of a request, whose ever it is, and writes it onto the VPSieNode. The intent stays where it is.
 *
 * @param named what the answer names.
 * @throws `ProviderUnavailable`, and what the API server refuses.
 */
export async function resolve(
  { kubernetes, client }: VpsieContext,
  intent: Intent,
  named: ListedMachine | null = null,
): Promise<Resolution> {
  const seen = new Set(intent.seenBefore);
  // One that had no identifier yet when the intent was written is no new one either.
  const isNew = (one: ListedMachine): boolean => one.identifier !== '' && !keysOf(one).some((key) => seen.has(key));
  const listed = (await listMachines(client, intent.cluster)).filter(isNew);
  // Written down already, by whoever was here before.
  const recorded = (await readObject(kubernetes, intent.machine))?.identifier ?? null;
  const isNamed = named !== null && isNew(named);
  const claimed = listed.length === 0 ? new Set<string>() : await claimedIdentifiers(kubernetes);
  const step =
    recorded === null && !isNamed
      ? nextCreationStep(
          intent,
          listed.map(({ identifier }) => identifier),
          claimed,
          intent.isAccepted ? client.times.acceptedMs : client.times.settleMs,
          Date.now(),
        )
      : { kind: 'adopt' as const, identifier: recorded ?? named?.identifier ?? '' };
  if (step.kind === 'ask') return { kind: 'nothing' };
  if (step.kind === 'wait') return { kind: 'wait', untilMs: step.until - Date.now() };
  const found = listed.find(({ identifier }) => identifier === step.identifier) ?? (isNamed ? named : null);
  const machine = found ?? { identifier: step.identifier, id: null, hostname: '' };
  const identifier = recorded ?? (await recordMachine(kubernetes, intent.machine, machine));
  return {
    kind: 'adopted',
    identifier,
    hostname: machine.identifier === identifier ? machine.hostname : '',
    surplus: listed.map((one) => one.identifier).filter((one) => one !== identifier && !claimed.has(one)),
  };
}

function surplusOf(resolution: Resolution): readonly string[] {
  return resolution.kind === 'adopted' ? resolution.surplus : [];
}

function waiting({ client }: VpsieContext, intent: Intent, request: MachineKey, untilMs: number): Creation {
  const retryAfterMs = Math.max(1, Math.min(untilMs, client.times.lookMs));
  if (isFor(intent, request)) {
    return { kind: 'waiting', detail: 'it is not known yet whether VPSie makes the machine', retryAfterMs };
  }
  const detail = `VPSie is asked for one machine after the other: it is the turn of ${intent.machine.name}`;
  return { kind: 'waiting', detail, retryAfterMs, isQueued: true };
}

function made({ name }: MachineKey, { identifier, hostname }: Extract<Resolution, { kind: 'adopted' }>): Creation {
  return identifier === null
    ? { kind: 'failed', detail: `the VPSieNode ${name} is gone` }
    : { kind: 'made', providerId: identifier, nodeName: hostname || null };
}

/** What a machine is recognised by. */
function keysOf({ identifier, id }: Pick<ListedMachine, 'identifier' | 'id'>): readonly string[] {
  return [...(identifier === '' ? [] : [identifier]), ...(id === null ? [] : [`#${id}`])];
}

/** VPSie's identifier of the Kubernetes cluster; VPSie's NodeGroups have it. */
export function clusterOf({ providerSpec }: Pick<NodeGroup, 'providerSpec'>): string {
  return providerSpec['resourceIdentifier'] ?? '';
}
