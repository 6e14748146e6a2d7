/** What is read from the API server for each plan, because a watch could be behind. */
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { orNull } from '../../activities/kubernetes/failure.ts';
import { readPauses } from '../../activities/kernel/pause.ts';
import { heldBy as readHeldBy } from '../../activities/node-group/group/other-controller.ts';
import { pauseSentence } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { countedClaims, parseClaims, PLAN_CLAIMS, PLAN_LEASE } from '../../domain/node-group/plan-claim.ts';
import type { Blocked } from '../../domain/node-group/plan/offers.ts';
import type { FreshFacts } from './plans.ts';

export interface FreshFactsOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  /** The names of all groups. */
  readonly groups: () => readonly string[];
}

/** Pauses and other controllers are asked about again before each write, so a plan may be a little behind, in milliseconds. */
const ROUGHLY_MS = 10_000;

type Rough = Pick<FreshFacts, 'heldBy'> & { readonly pauseOf: Awaited<ReturnType<typeof readPauses>> };

export function createFreshFacts({
  kubernetes,
  systemNamespace,
  groups,
}: FreshFactsOptions): () => Promise<FreshFacts> {
  let rough: { readonly facts: Rough; readonly at: EpochMs } | null = null;

  async function roughly(now: EpochMs): Promise<Rough> {
    if (rough !== null && now - rough.at < ROUGHLY_MS) return rough.facts;
    const [heldBy, pauseOf] = await Promise.all([
      readHeldBy(kubernetes, now),
      readPauses({ kubernetes, systemNamespace }),
    ]);
    rough = { facts: { heldBy, pauseOf }, at: now };
    return rough.facts;
  }

  return async () => {
    const now = Date.now();
    const [{ heldBy, pauseOf }, lease] = await Promise.all([
      roughly(now),
      orNull(kubernetes.coordination.readNamespacedLease({ namespace: systemNamespace, name: PLAN_LEASE })),
    ]);
    const blocked = groups().flatMap((name): (readonly [string, Blocked])[] => {
      const pause = pauseOf({ controller: 'node-group', name });
      return pause === null ? [] : [[name, { reason: 'Paused', detail: pauseSentence(pause), until: null }]];
    });
    return {
      lease: lease?.metadata?.resourceVersion ?? '',
      claims: countedClaims(parseClaims(lease?.metadata?.annotations?.[PLAN_CLAIMS]), now),
      heldBy,
      blocked: Object.fromEntries(blocked),
    };
  };
}
