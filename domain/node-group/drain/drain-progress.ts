/** What a look at a node that is being drained means: which pods are evicted next, and how the drain goes on. */
import { keptByThemselves } from '../scale-down/pod-safety.ts';
import { listText } from '../../kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { DisruptionReason } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { budgetName, type DisruptionBudgets, severalBudgets } from './disruption-budgets.ts';
import { type DrainedPod, firstStage, leavingPods, podName, podsToEvict } from './pods-to-evict.ts';

/** A drain in which nothing has left for so long is blocked, in milliseconds: the VPSie autoscaler's time limit. */
export const DRAIN_TIMEOUT_MS = 300_000;
/** A pod is given no more seconds to end, whatever it asks for: cluster-autoscaler's limit. */
const LONGEST_GRACE_SECONDS = 600;
/** How long after its grace a pod counts as on its way out, in milliseconds: cluster-autoscaler's headroom. */
const OVERDUE_MS = 30_000;
/** An empty node is believed so long after its cordon: until then the scheduler may bind a pod for which it had chosen it. */
const SETTLE_MS = 3_000;
/** A pod may come in the moment before the machine is deleted; whatever comes each time would be evicted for ever. */
const MOST_TAKEN_BACK = 3;
/** How many pods a sentence names. */
const NAMED = 3;

/** How far a drain has come: fewer pods than ever before are progress. */
export interface DrainProgress {
  /** When there was progress last. */
  readonly at: EpochMs;
  /** The fewest pods that were left at once. */
  readonly left: number;
  /** The fewest pods at once that were not being deleted yet. */
  readonly waiting: number;
}

/** What the API server answered to an eviction. */
export type EvictionAnswer =
  /** `evicted`: it is on its way out. `gone`: it was not there any more, or another one under its name. */
  | { readonly kind: 'evicted' | 'gone' }
  /** It goes with its namespace, which is being deleted, without an eviction. */
  | { readonly kind: 'leftToNamespace' }
  /** Not now. `budgets`: the PodDisruptionBudgets that refuse it; none where something else does, which `message` says. */
  | { readonly kind: 'refused'; readonly budgets: readonly string[]; readonly message: string }
  /** Never: more than one PodDisruptionBudget selects the pod, which the API server does not support. */
  | { readonly kind: 'impossible' };

export interface DrainLook {
  readonly at: EpochMs;
  readonly drainBegan: EpochMs;
  /** A kubelet that has gone silent ends no pods, so those whose time is over are not waited for. */
  readonly isNodeReady: boolean;
  /** Why nothing is taken away by itself now, as too few nodes are ready; null where enough are. */
  readonly halt: string | null;
  /** All pods of the node. */
  readonly pods: readonly DrainedPod[];
  /** Those that are known of the namespaces of these pods: the API server decides, and these say what to expect of it. */
  readonly budgets: DisruptionBudgets;
  /** Why the node is drained. */
  readonly reason: DisruptionReason;
  /** Milliseconds without progress after which the drain is blocked. */
  readonly timeoutMs: number;
  /** Null before the first look. */
  readonly progress: DrainProgress | null;
  /** How often the node was empty already, and had to be looked at again before its machine was deleted. */
  readonly takenBack: number;
}

export type BlockedReason =
  | 'TooFewReady'
  | 'ReadyAgain'
  | 'PodDisruptionBudget'
  | 'SeveralBudgets'
  | 'EvictionRefused'
  | 'NotSafeToEvict'
  | 'PodsStuck'
  | 'PodsComeBack'
  | 'MachineKept';

export type LookVerdict =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'blocked';
      readonly reason: BlockedReason;
      /** `<namespace>/<name>` of the PodDisruptionBudget, or of the first one; null where none is the reason. */
      readonly pdb: string | null;
      readonly detail: string;
    }
  | {
      readonly kind: 'wait';
      readonly detail: string;
      readonly progress: DrainProgress;
      /** What refuses evictions now: budgets by their names, or what the API server says; empty where nothing does. */
      readonly refusedBy: readonly string[];
    };

/** The pods whose eviction is to be asked for now, those first that use no budget up, with how many seconds each gets to end; null: as many as it asks for. */
export function evictionsDue(look: DrainLook): readonly { readonly pod: DrainedPod; readonly grace: number | null }[] {
  if (staying(look) !== null || lastingPod(look) !== undefined) return [];
  const usesBudget = (pod: DrainedPod): boolean => {
    const answer = look.budgets.forecast(pod);
    return answer.kind !== 'allowed' || answer.uses !== null;
  };
  return firstStage(awaited(look))
    .filter(({ deletesAt }) => deletesAt === null)
    .toSorted((a, b) => Number(usesBudget(a)) - Number(usesBudget(b)))
    .map((pod) => ({ pod, grace: pod.gracePeriodSeconds > LONGEST_GRACE_SECONDS ? LONGEST_GRACE_SECONDS : null }));
}

/**
 * How the drain goes on.
 *
 * @param answers to the evictions that were due, by the pods' UIDs.
 */
export function afterLook(look: DrainLook, answers: ReadonlyMap<string, EvictionAnswer>): LookVerdict {
  const left = awaited(look).filter(({ uid }) => answers.get(uid)?.kind !== 'gone');
  const stays = staying(look);
  if (stays !== null) return { kind: 'blocked', pdb: null, ...stays };
  const lasting = lastingPod(look) ?? left.find(({ uid }) => answers.get(uid)?.kind === 'impossible');
  if (lasting !== undefined) {
    const [first] = look.budgets.of(lasting);
    return {
      kind: 'blocked',
      reason: 'SeveralBudgets',
      pdb: first === undefined ? null : budgetName(first),
      detail: severalBudgets(lasting, look.budgets.of(lasting)),
    };
  }
  const waiting = left.filter((pod) => isWaiting(pod, answers));
  const progress = nextProgress(look, { left: left.length, waiting: waiting.length });
  if (left.length === 0) {
    return look.at - look.drainBegan >= SETTLE_MS
      ? { kind: 'empty' }
      : { kind: 'wait', detail: 'no pods are left', progress, refusedBy: [] };
  }
  const refused = waiting.map((pod) => ({ pod, answer: answers.get(pod.uid) })).filter(isRefused);
  return isBlocked(look, left, answers, progress)
    ? { kind: 'blocked', ...blockedBy(look, { left, refused, answers }, progress) }
    : {
        kind: 'wait',
        detail: `${leftText(left)}${refusedText(refused, progress)}`,
        progress,
        refusedBy: refusedBy(refused),
      };
}

/** What has to leave the node before it goes; without pods that only a kubelet which is silent could end. */
export function awaited({
  pods,
  drainBegan,
  isNodeReady,
  at,
}: Pick<DrainLook, 'pods' | 'drainBegan' | 'isNodeReady' | 'at'>): readonly DrainedPod[] {
  return leavingPods(pods, drainBegan).filter((pod) => isNodeReady || !isOverdue(pod, at));
}

/** A pod that runs on a node which nobody drains, and would have to leave it first; null where none does. */
export function runningPod({
  pods,
  node,
  at,
}: Pick<DrainLook, 'pods' | 'at'> & { readonly node: Node }): DrainedPod | null {
  const isNodeReady = node.ready.status === 'True';
  return awaited({ pods, drainBegan: at, isNodeReady, at }).find(({ phase }) => phase !== 'Pending') ?? null;
}

/** Why the node is not to go, whatever leaves it; null where nothing says so. */
function staying(look: DrainLook): { readonly reason: BlockedReason; readonly detail: string } | null {
  const { halt, reason, isNodeReady, takenBack } = look;
  if (halt !== null) return { reason: 'TooFewReady', detail: halt };
  if (reason === 'NotReady' && isNodeReady) return { reason: 'ReadyAgain', detail: 'the node is ready again' };
  if (takenBack >= MOST_TAKEN_BACK) {
    const detail = `the node was empty ${takenBack} times, and its machine could not go: pods come to it in between, or the machine stands for another node`;
    return { reason: 'MachineKept', detail };
  }
  // Not where a person asked for the node, or where they do not run any more. A plan chooses none with such pods, so they came since; of
  // pods of DaemonSets it asks nothing, as they go with the node.
  if (reason === 'Requested' || reason === 'NotReady') return null;
  const leaving = podsToEvict(awaited(look)).filter(({ deletesAt }) => deletesAt === null);
  const kept = keptByThemselves(leaving, look.at);
  return kept === null ? null : { reason: 'NotSafeToEvict', detail: `a pod must not be evicted: ${kept.detail}` };
}

/** A pod that can never be evicted: with it the node is never empty, so no other pod is disturbed for it. */
function lastingPod(look: DrainLook): DrainedPod | undefined {
  return awaited(look).find((pod) => look.budgets.forecast(pod).kind === 'impossible');
}

function isOverdue({ deletesAt }: DrainedPod, at: EpochMs): boolean {
  return deletesAt !== null && at > deletesAt + OVERDUE_MS;
}

function isWaiting({ uid, deletesAt }: DrainedPod, answers: ReadonlyMap<string, EvictionAnswer>): boolean {
  const kind = answers.get(uid)?.kind;
  return deletesAt === null && kind !== 'evicted' && kind !== 'leftToNamespace';
}

function nextProgress({ progress, at }: DrainLook, now: Pick<DrainProgress, 'left' | 'waiting'>): DrainProgress {
  if (progress === null) return { at, ...now };
  const hasMoved = now.left < progress.left || now.waiting < progress.waiting;
  return {
    at: hasMoved ? at : progress.at,
    left: Math.min(now.left, progress.left),
    waiting: Math.min(now.waiting, progress.waiting),
  };
}

/**
 * Whether nothing has left for too long. A pod that is on its way out is waited for, as what refuses the others may count on
 * its successor; but pods that come again and again are on their way out for ever.
 */
function isBlocked(
  { at, timeoutMs }: DrainLook,
  left: readonly DrainedPod[],
  answers: ReadonlyMap<string, EvictionAnswer>,
  progress: DrainProgress,
): boolean {
  const still = at - progress.at;
  if (still < timeoutMs) return false;
  const isOnItsWay = left.some((pod) => !isWaiting(pod, answers) && !isOverdue(pod, at));
  return !isOnItsWay || still >= timeoutMs + LONGEST_GRACE_SECONDS * 1000 + OVERDUE_MS;
}

interface Refused {
  readonly pod: DrainedPod;
  readonly answer: Extract<EvictionAnswer, { kind: 'refused' }>;
}

function isRefused(one: { readonly pod: DrainedPod; readonly answer: EvictionAnswer | undefined }): one is Refused {
  return one.answer?.kind === 'refused';
}

/** What is left on a node. */
interface Stayed {
  readonly left: readonly DrainedPod[];
  readonly refused: readonly Refused[];
  readonly answers: ReadonlyMap<string, EvictionAnswer>;
}

function blockedBy(
  { at }: DrainLook,
  { left, refused, answers }: Stayed,
  progress: DrainProgress,
): Pick<Extract<LookVerdict, { kind: 'blocked' }>, 'reason' | 'pdb' | 'detail'> {
  const byBudget = refused.find(({ answer }) => answer.budgets.length > 0);
  if (refused.length > 0) {
    return {
      reason: byBudget === undefined ? 'EvictionRefused' : 'PodDisruptionBudget',
      pdb: byBudget?.answer.budgets[0] ?? null,
      detail: `${leftText(left)}${refusedText(refused, progress)}`,
    };
  }
  const since = `since ${formatInstant(progress.at)}`;
  const overdue = left.filter((pod) => isOverdue(pod, at));
  if (overdue.length > 0) {
    const detail = `${podNames(overdue)} did not end in their time, and none has ${since}`;
    return { reason: 'PodsStuck', pdb: null, detail };
  }
  const kept = left.filter(({ uid }) => answers.get(uid)?.kind === 'leftToNamespace');
  if (kept.length > 0) {
    const [whose, them] = kept.length === 1 ? ['its namespace is', 'it'] : ['their namespaces are', 'them'];
    const detail = `${podNames(kept)} cannot be evicted, as ${whose} being deleted, and nothing has deleted ${them} ${since}`;
    return { reason: 'PodsStuck', pdb: null, detail };
  }
  const detail = `pods come back as often as they are evicted ${since}: ${podNames(left)}`;
  return { reason: 'PodsComeBack', pdb: null, detail };
}

function refusedBy(refused: readonly Refused[]): readonly string[] {
  return [...new Set(refused.flatMap(({ answer }) => (answer.budgets.length > 0 ? answer.budgets : [answer.message])))]
    .toSorted()
    .slice(0, NAMED);
}

function leftText(left: readonly DrainedPod[]): string {
  return `${left.length === 1 ? '1 pod is' : `${left.length} pods are`} left: ${podNames(left)}`;
}

/** The first refusal by a budget, or by anything else. */
function refusedText(refused: readonly Refused[], { at }: DrainProgress): string {
  const first = refused.find(({ answer }) => answer.budgets.length > 0) ?? refused[0];
  if (first === undefined) return '';
  const { pod, answer } = first;
  const who = answer.budgets.length === 0 ? 'the eviction' : `the PodDisruptionBudget ${listText(answer.budgets)}`;
  const what =
    answer.budgets.length === 0 ? `of ${podName(pod)} is refused` : `refuses the eviction of ${podName(pod)}`;
  const why = answer.message === '' ? '' : ` (${answer.message})`;
  return `; ${who} ${what}${why}, and nothing has left since ${formatInstant(at)}`;
}

function podNames(pods: readonly DrainedPod[]): string {
  return listText(pods.map(podName), NAMED);
}
