/** What a schedule wants of a workload: the first rule that holds says it. People's words go before the schedule. */
import { exclusionOf } from './excluded.ts';
import { desiredOf } from './desired.ts';
import type { ChangeReason, Evaluation, EvaluationContext } from './evaluation.ts';
import { isUnapproved, type Night, sinceJoined } from './joined.ts';
import { wrongWishes } from './own-wishes.ts';
import { annotatedOwner, ownerOf, takerOf } from './ownership.ts';
import { unclearOwner } from './scaled-owner.ts';
import { handedOverSentence, ownerSentence, volumesSentence } from './sentences.ts';
import { keep } from './step.ts';
import { wouldDeleteVolumes } from './volumes.ts';
import { exemption } from '../schedule/exempt.ts';
import { isInScope, selects } from '../schedule/scope.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

export type Wanted =
  /** Nothing: it stays as it is. */
  | { readonly state: 'AsItIs'; readonly otherwise: Evaluation }
  | {
      readonly state: 'Up';
      readonly reason: ChangeReason;
      /** Its marks may be removed. */
      readonly isOurs: boolean;
      /** On its autoscalers, marks of a schedule that does not exist may be removed too. */
      readonly isOwner: boolean;
      /** Where nothing has to be written. */
      readonly otherwise: Evaluation;
    }
  | { readonly state: 'Down'; readonly night: Night };

/** `namespace` is the workload's namespace; null when it is not listed. */
export function wantedOf(workload: Workload, namespace: ScopedNamespace | null, context: EvaluationContext): Wanted {
  // An object that is deleted with its namespace never runs again.
  if (workload.isDeleting || namespace?.isDeleting === true) return asItIs(keep('Deleting'));
  const isOurs = annotatedOwner(workload, context) === context.schedule;
  if (context.isRestoringAll) {
    const taker = isOurs ? takerOf(workload, namespace, context) : null;
    if (taker !== null) return asItIs(keep('OwnedByOther', handedOverSentence(taker)));
    return up('ScheduleDeleted', { isOurs, isOwner: false });
  }
  if (context.spec.suspend) return asItIs(keep('AsDesired'));
  if (namespace === null || !isInScope(workload, namespace, scopeOf(workload, context), context.protectedNamespaces)) {
    return up('LeftScope', { isOurs, isOwner: false }, exempt(workload, namespace, context));
  }
  const owner = ownerOf(workload, namespace, context);
  if (owner !== context.schedule) {
    const left = keep('OwnedByOther', ownerSentence(owner, annotatedOwner(workload, context) === owner));
    return up('Released', { isOurs: false, isOwner: false }, left);
  }
  const exclusion = exclusionOf(workload, namespace, context.now) ?? wrongWishes(workload, namespace, context);
  if (exclusion !== null) {
    const { isBad, detail, until } = exclusion;
    const left = keep(isBad ? 'BadAnnotation' : 'Excluded', detail, until);
    return up('Up', { isOurs: true, isOwner: true }, left);
  }
  const night = sinceJoined(desiredOf(workload, namespace, context), workload, context);
  if (night.state === 'Up' || isRunning(workload, night)) return up('Up', { isOurs: true, isOwner: true });
  if (wouldDeleteVolumes(workload, night)) {
    return up('Up', { isOurs: true, isOwner: true }, keep('DeletesVolumes', volumesSentence()));
  }
  const unclear = unclearOwner(workload);
  if (unclear !== null) return up('Up', { isOurs: true, isOwner: true }, keep('OwnerUnclear', unclear));
  if (!isOurs && isUnapproved(workload, context)) {
    return up('Released', { isOurs: false, isOwner: true }, keep('NotApproved'));
  }
  return { state: 'Down', night };
}

/** A workload that is gone, whose owner sleeps, has no labels any more by which it could be told whether it is left alone. */
function scopeOf({ uid, owner }: Workload, { spec }: EvaluationContext): EvaluationContext['spec'] {
  if (uid !== '' || owner === undefined) return spec;
  const { excludeLabels: _, ...rest } = spec;
  return rest;
}

/** Whether it is a CronJob of a window that keeps something. */
function isRunning({ replicas }: Workload, { level }: Night): boolean {
  return replicas === null && level.runsCronJobs === true;
}

function asItIs(otherwise: Evaluation): Wanted {
  return { state: 'AsItIs', otherwise };
}

function up(
  reason: ChangeReason,
  whose: { readonly isOurs: boolean; readonly isOwner: boolean },
  otherwise = keep('AsDesired'),
): Wanted {
  return { state: 'Up', reason, ...whose, otherwise };
}

/** A workload out of scope: what a schedule selects and leaves alone all the same is named. */
function exempt(workload: Workload, namespace: ScopedNamespace | null, context: EvaluationContext): Evaluation {
  const { spec, protectedNamespaces } = context;
  const found = selects(workload, namespace, spec, protectedNamespaces) ? exemption(workload, spec) : null;
  return found === null ? keep('AsDesired') : keep(found.reason, found.detail);
}
