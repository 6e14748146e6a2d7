/** What a schedule costs a day on which nothing happens but its two transitions. */
import type { Client } from '@temporalio/client';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { CLUSTER } from '../../test/kernel/stack/headroom-plane.ts';
import { DOWN, type LightsOutCluster } from '../../test/lights-out/cluster.ts';
import { workloadsChanged } from '../../workflows/lights-out/messages.ts';
import { totalActions } from '../usage-load/temporal-actions.ts';
import { historiesOf, shareOf, type TemporalShare } from './history.ts';
import { settlesIn, untilLateRequestsCame } from './load-schedule.ts';

export interface IdleCost {
  readonly workloads: number;
  /** One night: to sleep and awake again by the clock, with the timers until then. */
  readonly cycle: TemporalShare;
  /** One pass over everything that finds nothing to do, with the wait until the next; without the signal that asked for it. */
  readonly actionsPerPass: number;
  /** Actions a day: of a cycle a day, and of a day without a transition. */
  readonly perDay: number;
  readonly perQuietDay: number;
}

const NAME = 'idle';
const WORKLOADS = 4;
/** How far the first transition lies ahead, in milliseconds: the workflow of the schedule must run before it. */
const AHEAD_MS = 40_000;
/** Milliseconds for one transition: crons have whole minutes, so it may be two minutes away, and then takes a while. */
const WITHIN_MS = 240_000;

/** Lets a small schedule sleep and wake by the clock, and counts the actions in its history. */
export async function measureIdleCost(cluster: LightsOutCluster, client: Client): Promise<IdleCost> {
  await cluster.namespace(NAME);
  for (let index = 0; index < WORKLOADS; index += 1) await cluster.deployment(NAME, `web-${index}`, 2);
  // The creation and the finalizer, which comes with the first write, happen once and are no part of a day's cost.
  await cluster.schedule(NAME, { ...DOWN, namespaces: [NAME] });
  await settlesIn(cluster, NAME, 'Down');
  const down = new Date(Date.now() + AHEAD_MS + 60_000).getUTCMinutes();
  const spec = { downscale: `${down} * * * *`, upscale: `${(down + 1) % 60} * * * *` };
  await cluster.patchSchedule(NAME, { spec });
  await settlesIn(cluster, NAME, 'Up');
  await untilLateRequestsCame();
  const from = Date.now();
  await eventually('it is asleep by the clock', async () => (await stateOf(cluster)) === 'Down', WITHIN_MS);
  await eventually('it is awake by the clock', async () => (await stateOf(cluster)) === 'Up', WITHIN_MS);
  await settlesIn(cluster, NAME, 'Up');
  await untilLateRequestsCame();
  const cycled = Date.now();
  await cluster.handle(NAME).signal(workloadsChanged, { cause: 'to count one pass', resourceVersion: '' });
  await untilLateRequestsCame();
  const histories = await historiesOf(client, lightsOutId({ cluster: CLUSTER, schedule: NAME }));
  const cycle = shareOf(histories, { from, to: cycled });
  const actionsPerPass = totalActions(shareOf(histories, { from: cycled, to: Date.now() }).actions) - 1;
  return {
    workloads: WORKLOADS,
    cycle,
    actionsPerPass,
    perDay: totalActions(cycle.actions),
    perQuietDay: actionsPerPass,
  };
}

async function stateOf(cluster: LightsOutCluster): Promise<string | undefined> {
  const { status } = await cluster.readSchedule(NAME);
  return status?.scalingProgress === undefined ? status?.state : undefined;
}
