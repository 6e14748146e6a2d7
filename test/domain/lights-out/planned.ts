/** Workloads, namespaces and contexts for the tests of what becomes of a workload: small, and as the API server has them. */
import { hasReplicas } from '../../../domain/lights-out/workload/kinds.ts';
import type {
  Evaluation,
  OtherSchedule,
  EvaluationContext,
  PlanItem,
} from '../../../domain/lights-out/workload/evaluation.ts';
import {
  DOWN_SINCE,
  FIELD_MANAGER,
  MANAGED_BY,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
} from '../../../domain/lights-out/schedule/names.ts';
import type { Override } from '../../../domain/lights-out/schedule/override.ts';
import { type ScheduleSpec, scheduleSpec } from '../../../domain/lights-out/schedule/schedule.ts';
import type {
  Autoscaler,
  FieldChange,
  ScopedNamespace,
  Workload,
} from '../../../domain/lights-out/workload/workload.ts';

export const SECOND = 1_000;
export const HOUR = 3_600_000;
/** The evening at which the schedule of these tests put everything down. */
export const DUSK = Date.parse('2026-11-20T18:00:00Z');
/** Some hours into the night. */
export const NIGHT = DUSK + 4 * HOUR;

const spec = scheduleSpec.parse({ upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a', 'team-b'] });

export function specOf(over: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return { ...spec, ...over };
}

export function contextOf(over: Partial<EvaluationContext> = {}): EvaluationContext {
  return {
    schedule: 'nights',
    createdAt: DUSK - 1_000 * HOUR,
    spec: specOf(),
    now: NIGHT,
    period: { state: 'Down', since: DUSK },
    isRestoringAll: false,
    overrides: [],
    completedAt: NIGHT,
    protectedNamespaces: ['temporal'],
    gitopsManagers: ['argocd-controller', 'kustomize-controller'],
    others: [],
    contested: {},
    failing: [],
    ...over,
  };
}

export function otherOf(over: Partial<OtherSchedule> = {}): OtherSchedule {
  return { name: 'other', createdAt: DUSK - 2_000 * HOUR, spec: specOf(), isIdle: false, ...over };
}

export function overrideOf(over: Partial<Override> = {}): Override {
  return { kind: 'wake', namespace: null, since: NIGHT - HOUR, until: NIGHT + HOUR, by: 'alice', reason: '', ...over };
}

export function namespaceOf(name = 'team-a', over: Partial<ScopedNamespace> = {}): ScopedNamespace {
  return { name, labels: {}, annotations: {}, isDeleting: false, ...over };
}

export function workloadOf(over: Partial<Workload> = {}): Workload {
  const kind = over.kind ?? 'Deployment';
  return {
    kind,
    namespace: 'team-a',
    name: 'web',
    uid: 'uid-web',
    resourceVersion: '7',
    createdAt: DUSK - 500 * HOUR,
    isDeleting: false,
    labels: {},
    annotations: {},
    replicas: hasReplicas(kind) ? 3 : null,
    isSuspended: false,
    ready: 0,
    present: 0,
    changed: null,
    createdBy: 'kubectl-client-side-apply',
    autoscalers: [],
    ...over,
  };
}

export const ours: FieldChange = { manager: FIELD_MANAGER, at: DUSK + 5 * SECOND, isOnlyIt: true };

export function changeBy(manager: string, at = NIGHT - HOUR, isOnlyIt = true): FieldChange {
  return { manager, at, isOnlyIt };
}

const owned = { [MANAGED_BY]: 'nights', [DOWN_SINCE]: '2026-11-20T18:00:05Z' };

/** A Deployment that the schedule scaled down from three replicas to none. */
export function asleep(over: Partial<Workload> = {}): Workload {
  return workloadOf({
    annotations: { [ORIGINAL_REPLICAS]: '3', ...owned },
    labels: { [MANAGED_BY]: 'nights' },
    replicas: 0,
    changed: ours,
    ...over,
  });
}

/** A CronJob that the schedule suspended. */
export function suspended(over: Partial<Workload> = {}): Workload {
  return workloadOf({
    kind: 'CronJob',
    name: 'report',
    annotations: { [ORIGINAL_SUSPEND]: 'lightsout', ...owned },
    labels: { [MANAGED_BY]: 'nights' },
    isSuspended: true,
    changed: ours,
    ...over,
  });
}

const scaler = { name: 'web', uid: 'uid-scaler', resourceVersion: '9', annotations: {}, labels: {} };

export function scaledObject(annotations: Readonly<Record<string, string>> = {}): Autoscaler {
  return { kind: 'ScaledObject', ...scaler, annotations };
}

export function autoscaler(
  minReplicas: number,
  maxReplicas: number,
  annotations: Readonly<Record<string, string>> = {},
): Autoscaler {
  return { kind: 'HorizontalPodAutoscaler', ...scaler, annotations, minReplicas, maxReplicas };
}

/** An owner whose number is set, with a workload that has its number. */
export function byWidget(over: Partial<NonNullable<Workload['owner']>> = {}): Pick<Workload, 'controller' | 'owner'> {
  const { replicas = 3 } = over;
  return {
    controller: { group: 'example.com', kind: 'Widget', name: 'web' },
    owner: {
      definition: 'widgets.example.com',
      group: 'example.com',
      version: 'v1',
      plural: 'widgets',
      kind: 'Widget',
      name: 'web',
      uid: 'uid-widget',
      resourceVersion: '11',
      generation: 4,
      createdAt: DUSK - 500 * HOUR,
      createdBy: 'kubectl-create',
      replicas,
      workloadReplicas: replicas ?? 0,
      changed: null,
      ...over,
    },
  };
}

export function itemOf(
  name: string,
  over: Partial<Omit<PlanItem, 'workload'>> & { readonly namespace?: string } = {},
): PlanItem {
  const { namespace = 'team-a', ...rest } = over;
  const workload = { kind: 'Deployment', namespace, name } as const;
  return { workload, direction: 'Down', reason: 'Down', from: 3, to: 0, priority: 0, ...rest };
}

/** An evaluation in a few words: `Up 0→3`, `Down 3→0`, or why the workload is left. */
export function textOfEvaluation(evaluation: Evaluation): string {
  if (evaluation.kind === 'keep') return evaluation.reason;
  const { reason, from, to } = evaluation.item;
  return from === null ? reason : `${reason} ${from}→${to}`;
}
