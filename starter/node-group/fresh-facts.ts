/** What is read from the API server for each plan, because a watch could be behind. */
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { readLease } from '../../activities/kubernetes/lease-object.ts';
import type { ServerClock } from '../../activities/kubernetes/server-clock.ts';
import { foreignDefinition, otherController } from '../../activities/node-group/group/other-controller.ts';
import { type PauseInForce, pauseSentence, type PauseSubject } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { countedClaims, parseClaims, PLAN_CLAIMS, PLAN_LEASE } from '../../domain/node-group/plan-claim.ts';
import { parseWishes, PLAN_WISHES } from '../../domain/node-group/plan-wishes.ts';
import type { Blocked } from '../../domain/node-group/plan/offers.ts';
import type { FreshFacts } from './plans.ts';

export interface FreshFactsOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauseOf: (subject: PauseSubject) => PauseInForce | null;
  /** The names of all groups. */
  readonly groups: () => readonly string[];
  /** Is set by the answers. */
  readonly clock: ServerClock;
}

/** Whether another controller is there is asked again before each write, so a plan may be a little behind, in milliseconds. */
const ROUGHLY_MS = 10_000;

export function createFreshFacts({
  kubernetes,
  systemNamespace,
  pauseOf,
  groups,
  clock,
}: FreshFactsOptions): () => Promise<FreshFacts> {
  let held: { readonly by: string | null; readonly at: EpochMs } | null = null;

  async function roughlyHeldBy(now: EpochMs): Promise<string | null> {
    if (held === null || now - held.at >= ROUGHLY_MS) {
      const by = (await otherController(kubernetes, clock)) ?? (await foreignDefinition(kubernetes));
      held = { by, at: now };
    }
    return held.by;
  }

  return async () => {
    const [heldBy, lease] = await Promise.all([
      roughlyHeldBy(clock.now()),
      readLease({ kubernetes, systemNamespace, clock }, PLAN_LEASE),
    ]);
    const now = clock.now();
    const blocked = groups().flatMap((name): (readonly [string, Blocked])[] => {
      const pause = pauseOf({ controller: 'node-group', name });
      return pause === null ? [] : [[name, { reason: 'Paused', detail: pauseSentence(pause), until: null }]];
    });
    const claims = parseClaims(lease?.metadata?.annotations?.[PLAN_CLAIMS]);
    return {
      lease: lease?.metadata?.resourceVersion ?? '',
      claims: { ...claims, claims: countedClaims(claims, now) },
      wishes: parseWishes(lease?.metadata?.annotations?.[PLAN_WISHES]),
      heldBy,
      blocked: Object.fromEntries(blocked),
    };
  };
}
