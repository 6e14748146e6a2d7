/** Makes machines at VPSie one after the other, each exactly once. */
import {
  type CreationStep,
  growthOf,
  nextCreationStep,
  UNKNOWN_GROUP,
} from '../../../../domain/node-group/rules/creation.ts';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Kubernetes } from '../../../kubernetes/kubernetes.ts';
import type { Creation, MachineRequest } from '../provider.ts';
import type { Answer } from './answer.ts';
import type { VpsieClient } from './client.ts';
import { forgetPlaces, type GroupPlace, groupPlace } from './groups.ts';
import { clearIntent, type Intent, isFor, markAccepted, markSeen, readTurn, type Turn, writeIntent } from './intent.ts';
import {
  claimedIdentifiers,
  type MachineKey,
  readObject,
  type RecordedMachine,
  recordedMachines,
  recordMachine,
  recordUnclear,
} from './machine-object.ts';
import { addedMachine, addMachineRequest, type ListedMachine, listGroups, listMachines } from './rest.ts';

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
  /** It made none, and will make none; or nobody knows which, and its VPSieNode says so. */
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
  if (object.unclear !== null) {
    if (turn.intent !== null) await clearIntent(context, turn.intent);
    return { kind: 'failed', detail: object.unclear };
  }
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
  // In this order: what has gone by the time of the list is no member, and what is counted is listed.
  const recorded = [...(await recordedMachines(context.kubernetes)).values()];
  const counted = await listGroups(client, cluster);
  const listed = await listMachines(client, cluster);
  const claimed = new Set(recorded.flatMap(({ identifiers }) => identifiers));
  const spare = findSpare(turn, { cluster, group: id }, listed, claimed);
  // Everything that can wait is done before: from the intent to the request no time passes.
  const send = spare === null ? await client.ready() : null;
  const intent = {
    machine: { name, uid },
    cluster,
    group: id,
    isAccepted: false,
    askedAt: Date.now(),
    seenBefore: listed.filter(({ identifier }) => identifier !== spare).flatMap(keysOf),
    // A spare one counts as new.
    nodesBefore: Object.fromEntries(
      counted.map((group) => [group.id, group.nodes - Number(spare !== null && group.id === id)]),
    ),
    members: membersOf(listed, recorded),
  };
  const spares = turn.spares.filter(({ identifier }) => identifier !== spare);
  if (!(await writeIntent(context, { ...turn, spares }, intent))) return AGAIN;
  if (send === null) return await afterAnswer(context, intent, { kind: 'done', data: null });
  if (Date.now() - intent.askedAt > client.times.startMs) {
    return { kind: 'waiting', detail: 'the request for the machine came too late to be sent', retryAfterMs: AGAIN_MS };
  }
  return await afterAnswer(context, intent, await send(addMachineRequest(cluster, id)));
}

/** In which group each listed machine is, as far as a VPSieNode says so. */
function membersOf(listed: readonly ListedMachine[], recorded: readonly RecordedMachine[]): Intent['members'] {
  const groups = new Map(
    recorded.flatMap(({ identifiers, group }) => identifiers.map((identifier) => [identifier, group] as const)),
  );
  const there = identifiersOf(listed).filter((identifier) => identifier !== '');
  return Object.fromEntries(there.map((identifier) => [identifier, groups.get(identifier) ?? UNKNOWN_GROUP]));
}

/** A machine that came besides of an earlier request in the same group, and is nobody's. */
function findSpare(
  { spares }: Turn,
  { cluster, group }: Pick<Intent, 'cluster' | 'group'>,
  listed: readonly ListedMachine[],
  claimed: ReadonlySet<string>,
): string | null {
  const there = new Set(listed.map(({ identifier }) => identifier));
  const fitting = spares.filter(
    (spare) => spare.cluster === cluster && spare.group === group && there.has(spare.identifier),
  );
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
  context: VpsieContext,
  intent: Intent,
  named: ListedMachine | null = null,
): Promise<Resolution> {
  const { kubernetes, client } = context;
  const first = await lookFor(context, intent);
  // Written down already, by whoever was here before.
  const recorded = (await readObject(kubernetes, intent.machine))?.identifier ?? null;
  const answered = named === null ? null : namedAmong(named, first.listed);
  const known = recorded ?? answered?.identifier ?? null;
  const { look, step } = await nextStep(context, intent, first, known);
  switch (step.kind) {
    case 'adopt': {
      const identifier = known ?? step.identifier;
      const machine = look.all.find((one) => one.identifier === identifier) ?? answered;
      const written = await recordMachine(kubernetes, intent.machine, intent.group, machine ?? unlisted(identifier));
      return {
        kind: 'adopted',
        identifier: written,
        hostname: machine?.identifier === written ? machine.hostname : '',
        surplus: step.isProven ? identifiersOf(look.fresh).filter((one) => one !== written) : [],
      };
    }
    case 'wait':
      return { kind: 'wait', untilMs: step.until - Date.now() };
    case 'disown':
      await markSeen(context, intent, { keys: look.fresh.flatMap(keysOf), nodes: step.nodes });
      return { kind: 'wait', untilMs: client.times.lookMs };
    case 'unclear':
      await recordUnclear(kubernetes, intent.machine, unclearText(intent, identifiersOf(look.fresh)));
      return { kind: 'nothing' };
    case 'nothing':
      return { kind: 'nothing' };
  }
}

/** What is listed, and what of it is new and nobody's. */
interface Look {
  readonly all: readonly ListedMachine[];
  /** Those that are new. */
  readonly listed: readonly ListedMachine[];
  readonly claimed: ReadonlySet<string>;
  readonly fresh: readonly ListedMachine[];
}

async function lookFor({ kubernetes, client }: VpsieContext, intent: Intent): Promise<Look> {
  const seen = new Set(intent.seenBefore);
  // One that had no identifier yet when the intent was written is no new one either.
  const isNew = (one: ListedMachine): boolean => one.identifier !== '' && !keysOf(one).some((key) => seen.has(key));
  const all = await listMachines(client, intent.cluster);
  const listed = all.filter(isNew);
  const claimed = listed.length === 0 ? new Set<string>() : await claimedIdentifiers(kubernetes);
  return { all, listed, claimed, fresh: listed.filter(({ identifier }) => !claimed.has(identifier)) };
}

/** The machine that an answer names; null where it was there before, or is named by a number that is not listed yet. */
function namedAmong(named: ListedMachine, listed: readonly ListedMachine[]): ListedMachine | null {
  const keys = keysOf(named);
  const found = listed.find((one) => keysOf(one).some((key) => keys.includes(key)));
  return found ?? (named.identifier === '' ? null : named);
}

type NextStep =
  | Exclude<CreationStep, { kind: 'adopt' | 'disown' }>
  | { readonly kind: 'disown'; readonly nodes: Intent['nodesBefore'] }
  | {
      readonly kind: 'adopt';
      readonly identifier: string;
      /** Whether all that is new is in the group of the request. */
      readonly isProven: boolean;
    };

/**
 * What to do, and the look that it was decided by.
 *
 * @param known - the identifier of the request's machine, where VPSie or its VPSieNode has told it.
 */
async function nextStep(
  context: VpsieContext,
  intent: Intent,
  first: Look,
  known: string | null,
): Promise<{ readonly look: Look; readonly step: NextStep }> {
  const { client } = context;
  const { acceptedMs, settleMs } = client.times;
  const settled = intent.isAccepted ? acceptedMs : settleMs;
  const others = first.fresh.filter(({ identifier }) => identifier !== known);
  if (known !== null && others.length === 0) {
    return { look: first, step: { kind: 'adopt', identifier: known, isProven: true } };
  }
  const until = intent.askedAt + settled;
  // Nothing is told apart where nothing has come.
  if (first.fresh.length === 0 && Date.now() < until) return { look: first, step: { kind: 'wait', until } };
  const counted = await listGroups(client, intent.cluster);
  // Again, after the counts: a machine that is counted and not listed would prove that another one is the group's.
  const look = await lookFor(context, intent);
  const taken = look.listed.length - look.fresh.length;
  const growth = growthOf(intent, intent.group, counted, new Set(identifiersOf(look.all)), taken);
  const step = nextCreationStep(intent, { fresh: identifiersOf(look.fresh), ...growth }, settled, Date.now());
  if (known !== null) return { look, step: { kind: 'adopt', identifier: known, isProven: step.kind === 'adopt' } };
  if (step.kind === 'adopt') return { look, step: { ...step, isProven: true } };
  if (step.kind !== 'disown') return { look, step };
  return { look, step: { ...step, nodes: Object.fromEntries(counted.map(({ id, nodes }) => [id, nodes])) } };
}

function identifiersOf(machines: readonly ListedMachine[]): readonly string[] {
  return machines.map(({ identifier }) => identifier);
}

/** A machine of which only its identifier is known. */
function unlisted(identifier: string): ListedMachine {
  return { identifier, id: null, hostname: '' };
}

/** As many identifiers as a person compares. */
const SHOWN = 5;

function unclearText({ group }: Intent, identifiers: readonly string[]): string {
  if (identifiers.length === 0) {
    return `VPSie counts a machine more in its group ${group}, and does not list it: look for it at VPSie`;
  }
  const others = identifiers.length > SHOWN ? ` and ${identifiers.length - SHOWN} more` : '';
  return (
    `VPSie does not tell whether the new machines of the cluster (${identifiers.slice(0, SHOWN).join(', ')}${others}) ` +
    `are of its group ${group}: none of them is used, so delete what nobody needs at VPSie`
  );
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
