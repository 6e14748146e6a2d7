/** The status of a Memcached, and whether it is the one in the cluster. */
import { isRecord } from '../../kernel/record.ts';
import { visibleText } from '../../kernel/sentence.ts';
import { formatInstant, type EpochMs } from '../../kernel/time.ts';
import type { Condition } from '../../kernel/condition.ts';
import { hasAll } from '../children/difference.ts';
import { SERVER_PORT } from '../children/ports.ts';
import type { Slot } from '../servers/slots.ts';
import { type ConditionFacts, conditionsOf, type ConditionState, isReady } from './conditions.ts';

/** What the status is to say, but for when each condition began. */
export interface WantedStatus {
  readonly conditions: readonly ConditionState[];
  readonly readyReplicas: number;
  readonly observedGeneration: number;
  /** Where clients connect; empty until every pod is ready. */
  readonly serverList: readonly string[];
  /** Sentences: what is as it is on purpose, what waits, what cannot work. */
  readonly notes: readonly string[];
  /** By their numbers. */
  readonly servers: readonly Pick<Slot, 'slot' | 'address'>[];
}

/** Where clients connect: the Service has no address of its own, and its name stands for all pods. */
export function serverList(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  facts: ConditionFacts,
): readonly string[] {
  return isReady(facts) ? [`${name}.${namespace}:${SERVER_PORT.port}`] : [];
}

/** @param more `autoscaling`: the condition of the autoscaler; null where there is none. */
export function wantedStatus(
  memcached: { readonly name: string; readonly namespace: string; readonly generation: number },
  facts: ConditionFacts,
  {
    autoscaling,
    notes,
    slots,
  }: Pick<WantedStatus, 'notes'> & {
    readonly autoscaling: ConditionState | null;
    readonly slots: readonly Slot[];
  },
): WantedStatus {
  return {
    conditions: [...conditionsOf(facts), ...(autoscaling === null ? [] : [autoscaling])].map((condition) => ({
      ...condition,
      message: visibleText(condition.message),
    })),
    readyReplicas: facts.deployment?.readyReplicas ?? 0,
    observedGeneration: memcached.generation,
    serverList: serverList(memcached, facts),
    notes: notes.map(visibleText),
    servers: slots.map(({ slot, address }) => ({ slot, address })),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether the status in the cluster says what it is to say. */
export function saysAll(present: Fields, wanted: WantedStatus): boolean {
  const conditions = conditionsIn(present);
  return (
    (present['readyReplicas'] ?? 0) === wanted.readyReplicas &&
    present['observedGeneration'] === wanted.observedGeneration &&
    isSameList(present['serverList'], wanted.serverList) &&
    isSameList(present['notes'], wanted.notes) &&
    hasAll(present['servers'] ?? [], wanted.servers) &&
    // That of an autoscaler which is gone goes as well; others' conditions stay.
    (!conditions.has('Autoscaling') || wanted.conditions.some(({ type }) => type === 'Autoscaling')) &&
    wanted.conditions.every(({ type, status, reason, message }) => {
      const there = conditions.get(type);
      return (
        there?.['status'] === status &&
        there['reason'] === reason &&
        there['message'] === message &&
        there['observedGeneration'] === wanted.observedGeneration
      );
    })
  );
}

/** An absent list is an empty one. */
function isSameList(present: unknown, wanted: readonly string[]): boolean {
  const items: readonly unknown[] = Array.isArray(present) ? present : [];
  return items.length === wanted.length && items.every((item, at) => item === wanted[at]);
}

/** The status to apply: a condition began when its status changed. */
export function appliedStatus(present: Fields, wanted: WantedStatus, now: EpochMs): Fields {
  const conditions = conditionsIn(present);
  return {
    conditions: wanted.conditions.map((condition): Condition => {
      const there = conditions.get(condition.type);
      const since = there?.['status'] === condition.status ? there['lastTransitionTime'] : undefined;
      return {
        ...condition,
        observedGeneration: wanted.observedGeneration,
        lastTransitionTime: typeof since === 'string' ? since : formatInstant(now),
      };
    }),
    readyReplicas: wanted.readyReplicas,
    observedGeneration: wanted.observedGeneration,
    ...(wanted.serverList.length === 0 ? {} : { serverList: wanted.serverList }),
    ...(wanted.notes.length === 0 ? {} : { notes: wanted.notes }),
    ...(wanted.servers.length === 0 ? {} : { servers: wanted.servers }),
  };
}

function conditionsIn({ conditions }: Fields): ReadonlyMap<unknown, Fields> {
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return new Map(list.filter(isRecord).map((condition) => [condition['type'], condition] as const));
}
