import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { PauseView } from '../../activities/kernel/pause-view.ts';
import { pausesIn, readPause, readPauseConfigMaps, readPausesFor } from '../../activities/kernel/pause.ts';
import { watchPauses } from '../../activities/kernel/pause-watch.ts';
import type { WriteGate } from '../../activities/kernel/write-gate.ts';
import { PAUSES_CONFIRMED_MS } from '../../domain/kernel/pause-state.ts';
import { type ControllerName, controllerNames } from '../../domain/kernel/controllers.ts';
import type { PauseTarget } from '../../domain/kernel/pause.ts';
import { type PauseConfigMaps, scopeOfPauseKey } from '../../domain/kernel/stored-pause.ts';
import { pauseChanged } from '../../workflows/kernel/messages.ts';
import type { RunningController, StarterContext } from '../controller.ts';
import { pauseOverview } from '../overview/pauses.ts';
import { startWorkQueue } from './start-work-queue.ts';
import type { QueuedRequest } from './work-queue.ts';

/** Either finds the workflows that a change concerns, or signals one of them. */
interface PauseRequest extends QueuedRequest {
  /** Null: finds the workflows. */
  readonly workflowId: string | null;
}

/** Several changes of the pauses in this span are one search, and one signal to each workflow, in milliseconds. */
const PAUSE_GAP_MS = 1_000;

const NOTHING_PAUSED: PauseConfigMaps = { everything: null, pauses: null };

export interface WatchedPauses extends RunningController, Pick<StarterContext, 'pauseOf' | 'pauses'> {}

/** A running workflow with its target. */
export interface RunningTarget {
  readonly workflowId: string;
  readonly target: PauseTarget;
}

/**
 * Watches the ConfigMaps of the pauses and sends `pauseChanged` to the running workflows that a change concerns, whoever
 * wrote it. A pause holds without that, but a workflow that waits would not show it, nor its end, before it next
 * observes. At the start, every workflow that is paused is signalled.
 */
export function tellPauses(
  context: Omit<StarterContext, 'pauseOf' | 'pauses'>,
  gate: Pick<WriteGate, 'held'>,
): WatchedPauses {
  const { headroom, kubeConfig, client } = context;
  const { config, cluster, log, signal, onStop } = headroom;
  const { runs } = config;
  const { systemNamespace } = config.kubernetes;
  let signalled = NOTHING_PAUSED;
  const kubernetes = connectKubernetes(kubeConfig);
  const view = new PauseView(async () => await readPauseConfigMaps({ kubernetes, systemNamespace }));
  const listeners: (() => void)[] = [];
  const send = async ({ workflowId, cause }: PauseRequest): Promise<void> => {
    if (workflowId !== null) return await signalPauseChanged(client, workflowId);
    const now = present();
    // Those of other controllers are signalled by the starters that run these.
    const running = await runningTargets(client, cluster);
    const own = running.filter(({ target }) => runs.has(target.controller));
    for (const { workflowId: concerned } of concernedBy(signalled, now, own)) {
      queue.add({ coalescingKey: concerned, workflowId: concerned, starts: false, cause });
    }
    signalled = now;
  };
  const queue = startWorkQueue<PauseRequest>(context, 'pause requests', {
    send,
    kindOf: ({ workflowId }) => (workflowId === null ? 'pauses' : 'pause'),
    gapMs: PAUSE_GAP_MS,
  });
  const watch = watchPauses(view, {
    kubeConfig,
    systemNamespace,
    onChange: (name) => {
      for (const listener of listeners) listener();
      queue.add({ coalescingKey: 'pauses', workflowId: null, starts: false, cause: `the ConfigMap ${name} changed` });
    },
    log,
    signal,
  });
  const present = (): PauseConfigMaps => watch.present();
  onStop('watches of the pauses', async () => await watch.stop());
  return {
    informers: watch.informers,
    overview: pauseOverview(systemNamespace, present),
    pauseOf: (subject) => pausesIn(present())(subject),
    pauses: {
      // What holds the starter's own writes: an observation for a worker is not about them.
      before: async (subject) =>
        (await gate.held(PAUSES_CONFIRMED_MS)) ??
        (await readPause({ kubernetes, systemNamespace, pauses: view }, subject)),
      around: async (subject) => await readPausesFor({ kubernetes, systemNamespace, pauses: view }, subject),
      onChange: (listener) => listeners.push(listener),
    },
  };
}

/** The workflows whose target is paused in another way than before, or for which this cannot be told. */
export function concernedBy(
  before: PauseConfigMaps,
  now: PauseConfigMaps,
  running: readonly RunningTarget[],
): readonly RunningTarget[] {
  const [pauseBefore, pauseNow] = [pausesIn(before), pausesIn(now)];
  const isOtherNamespace = namespacePauses(before) !== namespacePauses(now);
  return running.filter(
    ({ target }) =>
      JSON.stringify(pauseBefore(target)) !== JSON.stringify(pauseNow(target)) ||
      // What a target of the whole cluster writes to may lie in any namespace.
      (target.namespace === undefined && isOtherNamespace),
  );
}

function namespacePauses({ pauses }: PauseConfigMaps): string {
  const entries = Object.entries(pauses ?? {}).filter(([key]) => scopeOfPauseKey(key)?.kind === 'namespace');
  return JSON.stringify(entries.toSorted(([a], [b]) => a.localeCompare(b)));
}

/**
 * The running workflows of the cluster that have a target. One that has just been started may be missing: its first pass
 * reads the pauses.
 */
async function runningTargets(client: Client, cluster: string): Promise<readonly RunningTarget[]> {
  const query = `HeadroomCluster = '${cluster}' AND ExecutionStatus = 'Running'`;
  const found: RunningTarget[] = [];
  for await (const { workflowId, searchAttributes } of client.workflow.list({ query })) {
    const attribute = (name: string): string => String(searchAttributes?.[name]?.[0] ?? '');
    const controller = controllerNames.find((name) => name === attribute('HeadroomController'));
    const target = attribute('HeadroomTarget');
    if (controller !== undefined && target !== '') found.push({ workflowId, target: pauseTarget(controller, target) });
  }
  return found;
}

function pauseTarget(controller: ControllerName, name: string): PauseTarget {
  const [namespace, quota] = name.split('/');
  return namespace === undefined || quota === undefined ? { controller, name } : { controller, namespace, name };
}

async function signalPauseChanged(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal(pauseChanged);
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
