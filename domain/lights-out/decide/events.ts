/** Events about what an observation found; each once for as long as it is so. */
import type { EpochMs } from '../../kernel/time.ts';
import type { KeepReason } from '../workload/evaluation.ts';
import { workloadName } from '../workload/workload.ts';
import type { LightsOutMemory } from './memory.ts';
import type { Note } from './notes.ts';
import type { Plan } from './plan.ts';
import { againSentence, joinedSinceApprovalSentence } from './sentences.ts';
import type { LightsOutEvent } from './verdict.ts';

/** Maximum of Events of one kind per observation; the details contain the others. */
const EVENTS_AT_ONCE = 10;

/** The reasons that are reported as Events; the others are only in the details. */
const EVENT_OF: Readonly<
  Partial<Record<KeepReason, { readonly type: LightsOutEvent['type']; readonly reason: string }>>
> = {
  ChangedByPerson: { type: 'Normal', reason: 'KeptUp' },
  OwnedByOther: { type: 'Warning', reason: 'OwnedByOther' },
  BadAnnotation: { type: 'Warning', reason: 'BadAnnotation' },
  OwnerUnclear: { type: 'Warning', reason: 'OwnerUnclear' },
  DeletesVolumes: { type: 'Warning', reason: 'DeletesVolumes' },
  AnnotationsFull: { type: 'Warning', reason: 'AnnotationsFull' },
  MarkLost: { type: 'Warning', reason: 'MarkLost' },
  MarkDiffers: { type: 'Warning', reason: 'MarkDiffers' },
};

export function eventsOfNotes(plan: Plan, memory: LightsOutMemory, since: EpochMs | null): readonly LightsOutEvent[] {
  const period = since === null ? 'ever' : `${since}`;
  const notes = plan.notes.flatMap(({ workload, reason, detail }): LightsOutEvent[] => {
    const event = EVENT_OF[reason];
    return event === undefined
      ? []
      : [{ ...event, message: `${workload}: ${detail}`, key: keyOf({ workload, reason, detail }, period) }];
  });
  const again = plan.items
    .filter(({ reason }) => reason === 'DownAgain')
    .map(({ workload, manager = 'somebody' }): LightsOutEvent => {
      const name = workloadName(workload);
      return {
        type: 'Warning',
        reason: 'PutDownAgain',
        message: againSentence(name, manager),
        key: `DownAgain ${name} ${period}`,
      };
    });
  return [
    ...notYetEmitted(memory, unapproved(plan)),
    ...notYetEmitted(memory, notes).slice(0, EVENTS_AT_ONCE),
    ...notYetEmitted(memory, again).slice(0, EVENTS_AT_ONCE),
  ];
}

/** What is wrong may be several things at once, and another one after a correction. */
function keyOf({ workload, reason, detail }: Note, period: string): string {
  return [reason, workload, period, ...(reason === 'BadAnnotation' ? [detail] : [])].join(' ');
}

/** One for all that wait for an approval, and another when others do. */
function unapproved({ notes, leftAlone = {}, scope }: Plan): readonly LightsOutEvent[] {
  const { NotApproved: count = 0 } = leftAlone;
  if (count === 0) return [];
  const names = notes.filter(({ reason }) => reason === 'NotApproved').map(({ workload }) => workload);
  const message = joinedSinceApprovalSentence(count, names);
  return [{ type: 'Normal', reason: 'ApprovalNeeded', message, key: `ApprovalNeeded ${scope?.digest ?? ''}` }];
}

export function notYetEmitted(
  memory: LightsOutMemory,
  candidates: readonly LightsOutEvent[],
): readonly LightsOutEvent[] {
  return candidates.filter(({ key }) => !memory.emitted.includes(key));
}
