import type { MemcachedActivities } from '../../../activities/memcached/interface.ts';
import type { MemcachedPhase, MemcachedVerdict } from '../../../domain/memcached/decide/verdict.ts';
import { coverageOf } from '../coverage.ts';

export const coverage = {
  memcached: coverageOf<{
    verdict: MemcachedVerdict['kind'];
    phase: MemcachedPhase;
    activities: MemcachedActivities;
  }>()({
    decision: { file: 'domain/memcached/decide/decide.ts', name: 'decide' },
    verdicts: { end: {}, ensure: {}, wait: {} },
    failures: {
      GloballyPaused: true,
      Paused: true,
      PolicyChanged: 'nothing of it is written by a policy',
      ForgeRejected: 'it has nothing to do with GitHub',
      /** An object that the API server rejects. */
      InvalidInput: true,
    },
    phases: {
      Starting: true,
      Reconciling: true,
      RollingOut: true,
      Blocked: true,
      Paused: true,
      Ended: true,
    },
    continuesAsNew: true,
  }),
};
