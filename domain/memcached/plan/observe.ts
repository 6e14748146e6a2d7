import type { EpochMs } from '../../kernel/time.ts';
import type { MemcachedObservation, Pending } from '../decide/observation.ts';
import { planOf, type Plan } from './plan.ts';
import type { Seen } from './seen.ts';
import type { Step } from './steps.ts';

/** What the decision is made by; null for a Memcached that does not exist. */
export function observationOf(seen: Seen | null, at: EpochMs): MemcachedObservation {
  if (seen === null || seen.memcached.isDeleting) return { ...GONE, at };
  const { memcached, secrets } = seen;
  const plan = planOf(seen);
  return {
    memcached: { uid: memcached.uid, generation: memcached.generation },
    pending: pendingOf(plan),
    problems: memcached.problems,
    conflicts: plan.conflicts,
    missingSecrets: secrets.missing,
    lackingKeys: secrets.lacking,
    awaited: plan.awaited,
    notes: plan.notes,
    isOtherOperatorAlive: seen.otherOperator !== null,
    isSettled: plan.isSettled,
    progress: progressOf(plan),
    nextStep: plan.nextStep,
    setBack: plan.deferred.toSorted((a, b) => a.until - b.until).at(0) ?? null,
    at,
  };
}

const GONE: Omit<MemcachedObservation, 'at'> = {
  memcached: null,
  pending: [],
  problems: [],
  conflicts: [],
  missingSecrets: [],
  awaited: [],
  notes: [],
  isSettled: true,
  progress: '',
};

function pendingOf({ steps, isStatusTrue }: Plan): readonly Pending[] {
  return [...steps.map(pendingStep), ...(isStatusTrue ? [] : [{ act: 'status', child: null } as const])];
}

function pendingStep(step: Step): Pending {
  switch (step.kind) {
    case 'apply':
      return { act: step.uid === null ? 'create' : 'update', child: step.child };
    case 'delete':
      return { act: 'delete', child: step.child };
    case 'scale':
      return { act: 'scale', child: 'Deployment' };
  }
}

function progressOf({ status: { conditions } }: Plan): string {
  const message = (type: string) => conditions.find((condition) => condition.type === type);
  const progressing = message('Progressing');
  const shown = progressing?.status === 'True' ? progressing : message('Ready');
  return shown?.message ?? '';
}
