import { nodeGroupAwaits } from '../../domain/node-group/awaited.ts';
import type { KubernetesObject } from '@kubernetes/client-node';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { activityTaskQueue, cacheTaskQueue } from '../../domain/kernel/target.ts';
import { markOf } from '../../domain/node-group/drain/marks.ts';
import { readPodTemplate } from '../../domain/node-group/plan/foreseen-pods.ts';
import { nodeGroupId } from '../../domain/node-group/target.ts';
import { webhookTrials } from '../admission/webhook-trial.ts';
import type { RunningController, StarterContext, StarterController } from '../controller.ts';
import type { Overview } from '../overview/part.ts';
import { keepRunning } from '../kernel/keep-running.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import { nodeGroupAccess } from './access.ts';
import { nodeGroupAdmission } from './admission.ts';
import { type NodeGroupCaches, openCaches } from './caches.ts';
import { createFreshFacts } from './fresh-facts.ts';
import { registerGroupMetrics } from './metrics.ts';
import { nodeOverview } from './overview.ts';
import { Plans } from './plans.ts';
import { createNodeGroupRequestSender, nodeGroupRequest, type QueuedNodeGroupRequest } from './reconcile-request.ts';
import { ServerClock } from '../../activities/kubernetes/server-clock.ts';
import { sampleUsage } from './usage-sampler.ts';

export const nodeGroupController: StarterController = {
  isEnabled: ({ nodeGroups }) => nodeGroups.enabled,
  access: nodeGroupAccess,
  writeTrials: ({ nodeGroups }) => webhookTrials('headroom-node-group', nodeGroups),
  start,
};

/** Two changes of a group's part of the plan in this span are one reconcile request, in milliseconds. */
const GAP_MS = 1_000;
/** metrics.k8s.io has new values every 15 to 60 s. */
const SAMPLE_MS = 60_000;
/** An observation waits for a plan, which may take seconds; as many groups wait for the same one. */
const WORKERS = 50;

const GONE = 'the NodeGroup is gone';

/** Plans for the whole cluster, wakes the workflows of groups that have something to do, and tells them their part of the plan. */
function start(context: StarterContext): RunningController {
  const { headroom, kubeConfig, client, pauseOf, pauses, outlooks } = context;
  const { config, cluster, log, signal, onStop } = headroom;
  const everyMs = config.starter.resyncInterval;
  const kubernetes = connectKubernetes(kubeConfig);
  const request = startRequests(context);
  const caches = openCaches({
    kubeConfig,
    onChange: (part, key, read) => plans.change(part, key, read),
    onGroup: () => plans.soon(),
    onGroupGone: (group) => {
      request(group, GONE, '');
      plans.soon();
    },
    log,
    signal,
  });
  const clock = new ServerClock();
  const plans = new Plans({
    cluster,
    mode: config.nodeGroups.mode,
    caches: { ...caches, all: () => ({ ...caches.all(), outlooks: outlooks.all() }) },
    fresh: createFreshFacts({
      kubernetes,
      systemNamespace: config.kubernetes.systemNamespace,
      pauseOf,
      groups: () => namesOf(caches.groups.list()),
      clock,
    }),
    now: clock.now,
    onPlan: ({ kept }) => metrics.kept(kept),
    wake: request,
    log,
    signal,
  });
  askForOutlooks(context, plans);
  // Who is paused asks for nothing, which others may do in its place.
  pauses.onChange(() => plans.soon());
  const metrics = registerGroupMetrics(
    context.metrics,
    () => plans.measured(),
    () => plans.unhelped,
  );
  const sampling = sampleUsage({
    kubeConfig,
    allocatable: (node) => caches.node(node)?.allocatable ?? null,
    onSample: (sample) => plans.sample(sample),
    now: clock.now,
    everyMs: SAMPLE_MS,
    log,
    signal,
  });
  const kept = keepRunning({
    client,
    cluster,
    workflowType: 'nodeGroup',
    idPrefix: nodeGroupId({ cluster, group: '' }),
    subjects: 'node groups',
    seen: () => caches.groups.list().map(({ metadata }) => seenObject(metadata)),
    existing: () => existing(caches),
    onMissing: ({ name, resourceVersion }) => request(name, 'its workflow does not run', resourceVersion),
    onGone: (name) => request(name, GONE, ''),
    everyMs,
    log,
    signal,
  });
  const resync = setInterval(() => plans.resync(), everyMs);
  onStop('node group watches', async () => {
    clearInterval(resync);
    await Promise.all([caches.stop(), plans.stop(), sampling, kept]);
  });
  void hostObservations(context, plans);
  return {
    informers: caches.informers,
    workflows: { noun: 'node group', statusCommand: 'kubectl headroom node-groups status', awaits: nodeGroupAwaits },
    admission: nodeGroupAdmission(config),
    overview: overviewOf(headroom, caches, plans),
  };
}

function overviewOf({ config, cluster }: StarterContext['headroom'], caches: NodeGroupCaches, plans: Plans): Overview {
  return nodeOverview({
    cluster,
    mode: config.nodeGroups.mode,
    groups: () => caches.groups.list(),
    measured: () => plans.measured(),
    drainSince: (name) => {
      const node = caches.node(name);
      return node === null ? null : (markOf(node)?.startedAt ?? null);
    },
    plan: () => plans.last,
  });
}

/** Wakes the workflow of a group, for a reason that people read. */
type Request = (group: string, cause: string, resourceVersion: string) => void;

function startRequests(context: StarterContext): Request {
  const { cluster } = context.headroom;
  const queue = startWorkQueue<QueuedNodeGroupRequest>(context, 'node group reconcile requests', {
    send: createNodeGroupRequestSender(context.client),
    kindOf: () => 'node-group',
    gapMs: GAP_MS,
  });
  return (group, cause, resourceVersion) => queue.add(nodeGroupRequest({ cluster, group }, cause, resourceVersion));
}

/** For what LightsOut is about to do, where it runs in this process. */
function askForOutlooks({ headroom, outlooks }: StarterContext, plans: Plans): void {
  const { config, log } = headroom;
  outlooks.ask(readPodTemplate, (key, outlook) => plans.change('outlooks', key, outlook));
  if (!config.lightsOut.enabled || config.runs.has('lights-out')) return;
  log.info('LightsOut runs in another process: nodes do not come before a schedule wakes its workloads (spec.prewarm)');
}

async function hostObservations(
  { headroom, cacheHost }: Pick<StarterContext, 'headroom' | 'cacheHost'>,
  plans: Plans,
): Promise<void> {
  const taskQueue = activityTaskQueue(cacheTaskQueue(headroom.cluster), 'node-group');
  const observeNodeGroup: Plans['observeNodeGroup'] = async (input) => await plans.observeNodeGroup(input);
  try {
    await cacheHost.run({ taskQueue, activities: { observeNodeGroup }, workers: WORKERS }, 'plans for node groups');
  } catch (error) {
    if (!headroom.signal.aborted) headroom.stop('the host of the node groups failed', error);
  }
}

function existing({ groups }: NodeGroupCaches): ReadonlySet<string> | null {
  return groups.isSynced() && groups.staleSeconds() === 0 ? new Set(namesOf(groups.list())) : null;
}

function namesOf(objects: readonly KubernetesObject[]): readonly string[] {
  return objects.map(({ metadata }) => seenObject(metadata).name);
}

function seenObject({ name = '', resourceVersion = '' }: KubernetesObject['metadata'] = {}): {
  readonly name: string;
  readonly resourceVersion: string;
} {
  return { name, resourceVersion };
}
