/** The conditions of a Memcached: reasons and messages are those of its first implementation. */
import { isRecord } from '../../kernel/record.ts';
import type { Condition } from '../../kernel/condition.ts';

/** The counts in a Deployment's status. */
export interface DeploymentCounts {
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly updatedReplicas: number;
}

export interface ConditionFacts {
  /** `spec.replicas`; null counts as 1. */
  readonly replicas: number | null;
  /** Null while there is none. */
  readonly deployment: DeploymentCounts | null;
  /** The names of Secrets that are referenced and do not exist. */
  readonly missingSecrets: readonly string[];
  /** What is not in those that exist, each as `KEY of SECRET`. */
  readonly lackingKeys?: readonly string[];
  /** Whether an autoscaler has the count. */
  readonly isAutoscaled: boolean;
  /**
   * How many pods there are to be for now, where that is neither the spec's nor an autoscaler's to say: a schedule put them to sleep, or
   * they go one by one.
   */
  readonly passing?: { readonly replicas: number; readonly schedule: string | null } | null;
  /** Why nothing, or not all, is written; it goes before what Secrets and pods have to say. */
  readonly obstacle?: { readonly reason: 'Conflict' | 'Invalid'; readonly message: string } | null;
}

export type ConditionState = Pick<Condition, 'type' | 'reason' | 'message'> & { readonly status: 'True' | 'False' };

const MISSING = 'Referenced Secrets not found: ';
/** @param keys each as `KEY of SECRET`. */
export function lackingSentence(keys: readonly string[]): string {
  return `Referenced Secrets lack keys: ${keys.join(', ')}`;
}
const NO_DEPLOYMENT = 'Waiting for deployment to be created';

/** How many pods there should be: with an autoscaler, as many as it has set. */
function desiredReplicas({ replicas, deployment, isAutoscaled, passing }: ConditionFacts): number {
  if (passing) return passing.replicas;
  return isAutoscaled && deployment !== null ? deployment.replicas : (replicas ?? 1);
}

/** Available, Progressing, Degraded and Ready, in this order. */
export function conditionsOf(facts: ConditionFacts): readonly ConditionState[] {
  const desired = desiredReplicas(facts);
  const states = [
    available(facts, desired),
    progressing(facts, desired),
    degraded(facts, desired),
    ready(facts, desired),
  ];
  const schedule = desired === 0 ? facts.passing?.schedule : null;
  return schedule ? states.map((state) => asleep(state, schedule)) : states;
}

/** Without pods there is nothing to be available or ready, and nobody has to be alarmed by it. */
function asleep(state: ConditionState, schedule: string): ConditionState {
  const isQuiet = state.type === 'Degraded' ? state.status === 'False' : state.type !== 'Progressing';
  if (!isQuiet) return state;
  return { ...state, reason: 'Asleep', message: `asleep by the schedule ${schedule}, until it wakes` };
}

/** Whether every pod that should be there is ready, and there is one. */
export function isReady(facts: ConditionFacts): boolean {
  const desired = desiredReplicas(facts);
  return desired > 0 && facts.deployment?.readyReplicas === desired;
}

/** Whether the Deployment has as many pods as it should, and all of them as they should be. */
export function isProgressing(facts: ConditionFacts): boolean {
  const { deployment } = facts;
  const desired = desiredReplicas(facts);
  return deployment === null || deployment.updatedReplicas < desired || deployment.replicas !== desired;
}

function available({ deployment, isAutoscaled }: ConditionFacts, desired: number): ConditionState {
  const count = deployment?.readyReplicas ?? 0;
  const message = `${count}/${desired} replicas are ready${isAutoscaled ? ' (HPA-managed)' : ''}`;
  return count > 0
    ? { type: 'Available', status: 'True', reason: 'Available', message }
    : { type: 'Available', status: 'False', reason: 'Unavailable', message };
}

function progressing(facts: ConditionFacts, desired: number): ConditionState {
  const { deployment } = facts;
  if (!isProgressing(facts)) {
    const message = `All ${desired} replicas are updated`;
    return { type: 'Progressing', status: 'False', reason: 'ProgressingComplete', message };
  }
  const message =
    deployment === null
      ? NO_DEPLOYMENT
      : `Rollout in progress: ${deployment.updatedReplicas}/${desired} replicas updated`;
  return { type: 'Progressing', status: 'True', reason: 'Progressing', message };
}

function degraded(
  { deployment, missingSecrets, lackingKeys = [], obstacle }: ConditionFacts,
  desired: number,
): ConditionState {
  const because = (reason: string, message: string): ConditionState => ({
    type: 'Degraded',
    status: 'True',
    reason,
    message,
  });
  if (obstacle) return because(obstacle.reason, obstacle.message);
  if (missingSecrets.length > 0) {
    return because('SecretNotFound', `${MISSING}${missingSecrets.join(', ')}`);
  }
  if (lackingKeys.length > 0) return because('SecretIncomplete', lackingSentence(lackingKeys));
  const count = deployment?.readyReplicas ?? 0;
  if (desired > 0 && count < desired) {
    return because('Degraded', deployment === null ? NO_DEPLOYMENT : `Only ${count}/${desired} replicas are ready`);
  }
  const message = `All ${desired} desired replicas are ready`;
  return { type: 'Degraded', status: 'False', reason: 'NotDegraded', message };
}

function ready(facts: ConditionFacts, desired: number): ConditionState {
  const { deployment } = facts;
  if (isReady(facts)) {
    const message = `All ${desired} replicas are ready`;
    return { type: 'Ready', status: 'True', reason: 'MemcachedReady', message };
  }
  return { type: 'Ready', status: 'False', reason: 'MemcachedNotReady', message: notReady(deployment, desired) };
}

function notReady(deployment: DeploymentCounts | null, desired: number): string {
  if (deployment === null) return NO_DEPLOYMENT;
  if (desired === 0) return 'Instance has zero desired replicas';
  return `${deployment.readyReplicas}/${desired} replicas are ready`;
}

/** The Secrets that a status says are missing: who may not read them knows it from there. */
export function missingSecretsIn({ conditions }: Readonly<Record<string, unknown>>): readonly string[] {
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const found = list.find((condition) => isRecord(condition) && condition['reason'] === 'SecretNotFound');
  const message = isRecord(found) ? found['message'] : undefined;
  if (typeof message !== 'string' || !message.startsWith(MISSING)) return [];
  return message.slice(MISSING.length).split(', ');
}
