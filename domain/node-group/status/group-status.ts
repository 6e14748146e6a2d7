/** The status of a NodeGroup as it should be, in the words of the VPSie autoscaler. */
import type { Condition } from '../../kernel/condition.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { NodeGroup } from '../model/node-group.ts';
import { windowProblems } from '../rules/budget-window.ts';
import { wantedSize } from '../rules/size.ts';
import { groupHalt } from '../scale-down/too-few-ready.ts';

/** Without the moments of transitions, which the API server's object keeps. */
type WantedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export interface WantedGroupStatus {
  readonly currentNodes: number;
  readonly readyNodes: number;
  readonly desiredNodes: number;
  readonly observedGeneration: number;
  readonly conditions: readonly WantedCondition[];
}

/** What the counts of a status are made of. */
export interface GroupCounts {
  /** Machines that are there or on their way, those that are being drained included. */
  readonly current: number;
  readonly ready: number;
  /** Those that have been ready nodes and are not. */
  readonly unready: number;
  readonly leaving: number;
}

/** What a NodeGroup's status should say. Sources of the names: the VPSie autoscaler's conditions. */
export function wantedGroupStatus(
  group: NodeGroup,
  { current, ready, unready, leaving }: GroupCounts,
  { problems, at }: { readonly problems: readonly string[]; readonly at: EpochMs },
): WantedGroupStatus {
  const { backoff } = group;
  const isBackingOff = backoff !== null && backoff.until > at;
  const isScaling = leaving > 0 || ready + leaving < current;
  const halt = groupHalt(group.name, { ready, unready });
  const isReady = problems.length === 0 && ready >= group.minNodes && halt === null;
  const error = problems.length > 0 ? problems.join('; ') : (backoff?.reason ?? '');
  return {
    currentNodes: current,
    readyNodes: ready,
    desiredNodes: wantedSize(group.desiredNodes ?? current, group),
    observedGeneration: group.generation,
    conditions: [
      isReady
        ? { type: 'Ready', status: 'True', reason: 'NodesReady', message: `${ready} of ${current} nodes are ready.` }
        : {
            type: 'Ready',
            status: 'False',
            ...notReady(halt, {
              problems,
              otherwise: error || `${ready} of at least ${group.minNodes} nodes are ready.`,
            }),
          },
      isScaling
        ? {
            type: 'Scaling',
            status: 'True',
            reason: 'InProgress',
            message: `${ready} of ${current} nodes are ready, ${leaving} leave.`,
          }
        : { type: 'Scaling', status: 'False', reason: 'Settled', message: 'No node comes or goes.' },
      errorOf([
        ...(problems.length > 0 ? [{ reason: 'Invalid', message: problems.join('; ') }] : []),
        ...(isBackingOff
          ? [
              {
                reason: 'MachineFailed',
                message: `${backoff.reason}; no more machines are asked for until ${formatInstant(backoff.until)}.`,
              },
            ]
          : []),
        ...windowProblems(group.budgets).map((problem) => ({
          reason: 'BudgetWindowInvalid',
          message: `${problem}; until that is mended, the budget holds always.`,
        })),
      ]),
      bound('AtMinCapacity', current - leaving <= group.minNodes, `the minimum of ${group.minNodes}`),
      bound('AtMaxCapacity', current >= group.maxNodes, `the maximum of ${group.maxNodes}`),
    ],
  };
}

/** The reason of the condition `Ready` while too few nodes are ready for anything to be taken away. */
export const TOO_FEW_READY = 'TooFewReady';

function notReady(
  halt: string | null,
  { problems, otherwise }: { readonly problems: readonly string[]; readonly otherwise: string },
): Pick<WantedCondition, 'reason' | 'message'> {
  if (problems.length > 0) return { reason: 'Invalid', message: otherwise };
  return halt === null
    ? { reason: 'NodesNotReady', message: otherwise }
    : { reason: TOO_FEW_READY, message: `${halt}.` };
}

/** The first that is wrong gives the reason. */
function errorOf(wrong: readonly Pick<WantedCondition, 'reason' | 'message'>[]): WantedCondition {
  const [first] = wrong;
  if (first === undefined) return { type: 'Error', status: 'False', reason: 'NoError', message: 'Nothing failed.' };
  return {
    type: 'Error',
    status: 'True',
    reason: first.reason,
    message: wrong.map(({ message }) => message).join(' '),
  };
}

function bound(type: string, isReached: boolean, what: string): WantedCondition {
  return {
    type,
    status: isReached ? 'True' : 'False',
    reason: isReached ? 'Reached' : 'NotReached',
    message: `The group ${isReached ? 'is' : 'is not'} at ${what}.`,
  };
}
