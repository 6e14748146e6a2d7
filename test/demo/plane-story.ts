/** What the stories that are told on a plane have in common. */
import { logTail } from '../kernel/servers/supervised-process.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { unlessInterrupted } from './interrupt.ts';
import type { Story, Teller } from './story.ts';

export interface PlaneStory {
  readonly opening: string;
  readonly servers: Story['servers'];
  readonly startPlane: () => Promise<HeadroomPlane>;
  /** A line for when the servers are up. */
  readonly serversAreUp: string;
  /** The workflow that the Temporal UI is opened at. */
  readonly workflowId: string;
  /** Whether it went as it should. */
  readonly tell: (plane: HeadroomPlane, teller: Teller) => Promise<boolean>;
}

/** A story with a worker and a starter, whose last lines are shown where it does not go as it should. */
export function planeStory({ opening, servers, startPlane, serversAreUp, workflowId, tell }: PlaneStory): Story {
  return {
    opening,
    servers,
    start: async (teller) => {
      const plane = await unlessInterrupted(teller, async () => {
        const started = await startPlane();
        return await stoppedOnFailure(started, async () => {
          teller.log(serversAreUp);
          await startPrograms(started, teller);
          return started;
        });
      });
      return {
        tell: async () => {
          const succeeded = await tell(plane, teller);
          if (!succeeded && !teller.interrupt.aborted) await showLogs(plane);
          return { succeeded, addresses: addressesOf(plane, workflowId) };
        },
        stop: async () => await plane.stop(),
      };
    },
  };
}

/** Stops the plane where what is started on it fails. */
export async function stoppedOnFailure<Parts>(plane: HeadroomPlane, start: () => Promise<Parts>): Promise<Parts> {
  try {
    return await start();
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

export async function startPrograms(plane: HeadroomPlane, { log }: Pick<Teller, 'log'>): Promise<void> {
  await Promise.all([plane.startWorker(), plane.startStarter()]);
  log('worker and starter are up');
}

/** Where to look, for people: one address a line. */
export function addressesOf({ temporal, plane }: HeadroomPlane, workflowId: string): string {
  const workflow = encodeURIComponent(workflowId);
  return [
    ['Temporal UI', `${temporal.uiUrl}/namespaces/${temporal.namespace}/workflows/${workflow}`],
    ['Temporal', `TEMPORAL_ADDRESS=${temporal.address} CLUSTER_NAME=${CLUSTER}`],
    ['Kubernetes', `KUBECONFIG=${plane.adminKubeconfig}`],
  ]
    .map(([what, where]) => `${what?.padEnd(14)} ${where}`)
    .join('\n');
}

async function showLogs({ processes }: HeadroomPlane): Promise<void> {
  for (const { name, logFile } of processes) {
    console.error(`\nThe last lines of the ${name}:\n${await logTail(logFile)}`);
  }
}
