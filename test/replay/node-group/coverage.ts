import type { DrainActivities } from '../../../activities/node-group/drain/interface.ts';
import type { NodeGroupActivities, NodeGroupCacheActivities } from '../../../activities/node-group/interface.ts';
import type { NodeGroupVerdict } from '../../../domain/node-group/decide/verdict.ts';
import type { DrainShown, DrainStep } from '../../../domain/node-group/drain/steps.ts';
import { coverageOf } from '../coverage.ts';
import { attributesOf, payloadOf, type RecordedEvent } from '../histories.ts';

const NO_FORGE = 'it has nothing to do with GitHub';

export const coverage = {
  nodeGroup: coverageOf<{
    verdict: NodeGroupVerdict['kind'];
    phase: NodeGroupVerdict['phase'];
    activities: NodeGroupActivities & NodeGroupCacheActivities;
  }>()({
    decision: { file: 'domain/node-group/decide/decide.ts', name: 'decide' },
    verdicts: {
      create: { ensureScaledUp: { created: true, superseded: true } },
      drive: {},
      refresh: {},
      release: {},
      /** Machines that are to be ready before nodes are drained. */
      wait: { ensureScaledUp: { created: true, superseded: true } },
      end: {},
    },
    failures: {
      GloballyPaused: true,
      Paused: true,
      /** Another controller that acts on NodeGroups. */
      PolicyChanged: true,
      ForgeRejected: NO_FORGE,
      /** A node that the API server rejects. */
      InvalidInput: true,
    },
    phases: {
      Starting: true,
      Observing: true,
      Steady: true,
      ScalingUp: true,
      ScalingDown: true,
      AwaitingApproval: true,
      Blocked: true,
      Paused: true,
      Deleting: true,
      Ended: true,
    },
    continuesAsNew: true,
  }),
  nodeDrain: coverageOf<{
    verdict: DrainStep['kind'];
    phase: DrainShown['phase'];
    activities: DrainActivities;
  }>()({
    // Each activity is asked for when its step was shown.
    decision: { file: 'domain/node-group/drain/steps.ts', name: 'shownStep', verdict: 'given' },
    verdicts: {
      marking: { ensureDrainMarked: { marked: true, nodeGone: true, uncordoned: true, foreign: true } },
      awaitingReplacement: { awaitReplacement: { ready: true, failed: true } },
      evicting: {
        ensureEvicted: {
          empty: true,
          refused: true,
          blocked: true,
          nodeGone: true,
          uncordoned: true,
          foreign: true,
        },
      },
      deleting: {},
      undoing: {},
      ended: {},
    },
    failures: {
      GloballyPaused: true,
      Paused: true,
      /** Another controller that acts on NodeGroups. */
      PolicyChanged: true,
      ForgeRejected: NO_FORGE,
      InvalidInput: 'its marks are valid on every node, and an eviction that is rejected is an answer',
    },
    phases: { Draining: true, Undoing: true, Paused: true, Blocked: true, Ended: true },
    continuesAsNew: true,
    ways: {
      'a node that was empty is taken back, and drained again until its machine is gone': (
        runs: readonly (readonly RecordedEvent[])[],
      ) => answersOf(runs.flat(), 'ensureMachineDeleted').join() === 'true,false',
    },
  }),
};

/** What an activity answered each time that it succeeded, in order. */
function answersOf(events: readonly RecordedEvent[], activity: keyof NodeGroupActivities): unknown[] {
  const asked = new Set(
    events
      .filter(
        (event) => (attributesOf(event)['activityType'] as { readonly name?: string } | undefined)?.name === activity,
      )
      .map(({ eventId }) => eventId),
  );
  return events.flatMap((event) => {
    const { scheduledEventId, result } = attributesOf(event);
    return result !== undefined && asked.has(String(scheduledEventId)) ? [payloadOf(result)] : [];
  });
}
