/** Each controller with a worker and a starter of its own, under its own accounts: what they do, and all that they may do. */
import { readFile } from 'node:fs/promises';
import { AuthorizationV1Api, CoordinationV1Api, CoreV1Api, type V1ResourceAttributes } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PairedProcess, type PairName, pairNames, processName } from '../../domain/kernel/controllers.ts';
import { leaseGcId } from '../../domain/lease-gc/target.ts';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { nodeGroupId } from '../../domain/node-group/target.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { readWorkers } from '../../platform/temporal/worker-reports.ts';
import type { Finding } from '../../starter/cli/doctor/finding.ts';
import { commandUpdates } from '../../workflows/quota-resize/messages.ts';
import { refusedRights, rolesOf } from '../activities/refused-rights.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import {
  isRaised,
  namespaceFiles,
  press,
  QUOTA,
  quickTimings,
  statusOf,
  targetOf,
  untilResized,
} from '../faults/pressed-namespaces.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { applyRightsOfUsers, type ChartValues } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { LightsOutCluster, UP } from '../lights-out/cluster.ts';
import { CustomWorkloads } from '../lights-out/custom-workloads.ts';
import { MemcachedCluster } from '../memcached/cluster.ts';
import { NodeGroupCluster } from '../node-group/headroom/cluster.ts';
import { startNodePlane } from '../node-group/plane.ts';
import { headroomWithTemporal } from '../starter/run-program.ts';
import { rendered } from './rendered.ts';
import { linesOf, type Right, rightsOf } from './rights.ts';

const APART = {
  processes: 'apart',
  config: {
    quotaUsage: { mode: 'audit' },
    lightsOut: { enabled: true },
    memcached: { enabled: true },
    nodeGroups: { enabled: true },
  },
  webhooks: { certificates: 'none' },
  rights: { kwokNodes: true, countSecrets: true },
} as const satisfies ChartValues;
const TOGETHER = { ...APART, processes: 'together' } as const satisfies ChartValues;
const DEFINITIONS = ['node-group', 'lights-out', 'memcached'].map(
  (name) => new URL(`../../deploy/chart-crds/definitions/${name}.yaml`, import.meta.url),
);
/** One is raised without a person. The pull request of the other waits for one. */
const FILES = { ...namespaceFiles(['team-a']), ...namespaceFiles(['team-b'], { 'resizer.io/auto-merge': 'false' }) };
const NIGHT = { namespaceSelector: { matchLabels: { night: 'yes' } }, cronJobs: { catchUp: 'none' } };
/** Milliseconds for what takes several looks of several processes on a busy machine. */
const LONG_MS = 120_000;

let stack: Stack;
let nodes: NodeGroupCluster;
let nights: LightsOutCluster;
let custom: CustomWorkloads;
let caches: MemcachedCluster;
let pairs: readonly SupervisedProcess[];

beforeAll(async () => {
  stack = await startStack({
    files: FILES,
    startPlane: startNodePlane,
    values: APART,
    env: {
      ...quickTimings,
      HEADROOM_WRITE_POLICY: 'required',
      HEADROOM_NODE_GROUPS: 'true',
      HEADROOM_NODE_GROUPS_MODE: 'act',
      HEADROOM_LIGHTS_OUT: 'true',
      HEADROOM_MEMCACHED: 'true',
      HEADROOM_USAGE_MODE: 'audit',
      GITHUB_WEBHOOKS: 'true',
      GITHUB_WEBHOOK_SECRET: 'not-used-here',
    },
    workers: 0,
    starters: 0,
  });
  const { adminKubeconfig } = stack.controlPlane;
  const plane = { ...stack, plane: stack.controlPlane };
  nodes = new NodeGroupCluster(plane);
  nights = new LightsOutCluster(plane);
  caches = new MemcachedCluster(plane);
  await applyManifests(adminKubeconfig, DEFINITIONS);
  custom = new CustomWorkloads(adminKubeconfig);
  await custom.define();
  await nights.defineScaledObjects();
  await eventually('NodeGroups are served', async () => (await nodes.groupNames()).length === 0);
  await untilInForce('apart');
  await nodes.defineTypes([{ id: 'medium', capacity: { cpu: '16', memory: '32Gi', pods: '110' }, pricePerHour: 0.4 }]);
  pairs = await startPairs();
});
afterAll(async () => {
  await stack?.stop();
});

async function startPairs(): Promise<readonly SupervisedProcess[]> {
  return (await Promise.all(pairNames.map(async (pair) => await stack.startPair(pair)))).flat();
}

/** A binding is gone by a moment after it is there. */
async function untilInForce(processes: 'together' | 'apart'): Promise<void> {
  const account = (process: PairedProcess, pair: PairName) => processName(process, processes === 'apart' ? pair : null);
  const allowed: readonly (readonly [PairedProcess, PairName, V1ResourceAttributes])[] = [
    ['worker', 'quota-resize', { verb: 'list', resource: 'resourcequotas' }],
    ['worker', 'node-group', EVICTION],
    ['worker', 'lights-out', { verb: 'patch', group: 'apps', resource: 'deployments' }],
    ['worker', 'memcached', { verb: 'create', group: 'networking.k8s.io', resource: 'networkpolicies' }],
    ['worker', 'quota-usage', { verb: 'create', resource: 'events' }],
    ['starter', 'quota-usage', { verb: 'watch', resource: 'secrets' }],
    ['starter', 'memcached', { verb: 'watch', group: 'networking.k8s.io', resource: 'networkpolicies' }],
    ['starter', 'quota-resize', { verb: 'watch', resource: 'resourcequotas' }],
    ['starter', 'node-group', { verb: 'watch', resource: 'nodes' }],
    ['starter', 'lights-out', { verb: 'watch', group: 'keda.sh', resource: 'scaledobjects' }],
  ];
  for (const [process, pair, deed] of allowed) {
    await untilAllowed(stack.controlPlane.adminKubeconfig, account(process, pair), [deed, PAUSES]);
  }
}

const CACHE = { namespace: 'cache', name: 'cache' } as const;
const EVICTION = { verb: 'create', resource: 'pods', subresource: 'eviction' } as const;
const PAUSES = { verb: 'watch', resource: 'configmaps', name: 'headroom-pause', namespace: SYSTEM_NAMESPACE } as const;

async function eventsOfHeadroom(): Promise<readonly AuditEvent[]> {
  return (await stack.controlPlane.auditEvents()).filter(({ user }) => user.username.startsWith('headroom-'));
}

/** Accounts that successfully did this, without a dry run. */
async function accountsThat(did: string, resource: string): Promise<readonly string[]> {
  const done = (await eventsOfHeadroom()).filter(
    ({ verb, objectRef, responseStatus, requestURI }) =>
      verb === did &&
      resourceOf(objectRef) === resource &&
      (responseStatus?.code ?? 500) < 300 &&
      !requestURI.includes('dryRun='),
  );
  return [...new Set(done.map(({ user }) => user.username))];
}

function resourceOf(reference: AuditEvent['objectRef']): string {
  const { apiGroup = '', resource = '', subresource = '' } = reference ?? {};
  return `${apiGroup === '' ? '' : `${apiGroup}/`}${resource}${subresource === '' ? '' : `/${subresource}`}`;
}

/** What did not come about here, by its process: the verbs and the resources. */
const ANOTHER_DAY: Readonly<Record<string, readonly (readonly [verb: RegExp, resource: RegExp])[]>> = {
  // What was refused and whose it is, how its pods are charged, and who applies the file: the quota was filled by one Secret, and
  // neither Argo CD nor Flux is there.
  worker: [
    [/^(?:get|list)$/, /^(?:apps|batch|node\.k8s\.io|resource\.k8s\.io|storage\.k8s\.io|scheduling\.k8s\.io)\//],
    [/^list$/, /^(?:pods|persistentvolumeclaims|limitranges)$/],
    [/^(?:get|list)$/, /^(?:argoproj\.io|(?:kustomize|helm|source)\.toolkit\.fluxcd\.io)\//],
  ],
  // A starter answers, so that nothing is listed; and no bound is in the way.
  'worker-lights-out': [
    [/^list$/, /\//],
    [/^patch$/, /^autoscaling\/horizontalpodautoscalers$/],
  ],
  // What a Memcached may own, and what quotas may count, is told in tests of their own.
  'worker-memcached': [[/./, /./]],
  'starter-memcached': [[/./, /./]],
  'starter-quota-usage': [[/./, /./]],
  'worker-quota-usage': [[/./, /^configmaps$/]],
  // The machines are kwok's, and not VPSie's.
  'worker-node-group': [[/^get$/, /^secrets$/]],
  // Nothing is paused while its watch is behind; and no server has metrics.
  'starter-node-group': [
    [/^get$/, /^configmaps$/],
    [/^get$/, /^metrics\.k8s\.io\/nodes$/],
  ],
};

function isForAnotherDay({ process, verb, resource }: Right): boolean {
  return ANOTHER_DAY[process]?.some(([verbs, resources]) => verbs.test(verb) && resources.test(resource)) === true;
}

describe('processes of their own', () => {
  it('resize a quota, of which only their worker writes to GitHub and keeps Leases', async () => {
    await press(stack, 'team-a');
    await untilResized(stack, 'team-a', LONG_MS);
    expect(await accountsThat('update', 'coordination.k8s.io/leases')).toContain('headroom-worker');
    // By what the starter that counts has counted.
    expect(await accountsThat('list', 'secrets')).toEqual(['headroom-starter-quota-usage']);
    const { events } = await stack.client.workflow.getHandle(quotaResizeId(targetOf('team-a'))).fetchHistory();
    const queues = events?.map((event) => event.activityTaskScheduledEventAttributes?.taskQueue?.name);
    expect(queues).toContain('headroom-cache/test');
  });

  it('run a Memcached', async () => {
    await caches.create('cache', { replicas: 1 });
    await eventually('its Service is there', async () => await stack.core.readNamespacedService(CACHE));
    await eventually('its Deployment is there', async () => await stack.apps.readNamespacedDeployment(CACHE));
    expect(await accountsThat('patch', 'services')).toEqual(['headroom-worker-memcached']);
  });

  it('bring nodes and take them back, and evict their pods', async () => {
    await nodes.createGroup('pool', { offeringIDs: ['medium'] });
    await nodes.createDeployment('pods', 20);
    await nodes.untilRunning('pods', 20);
    await nodes.untilReady('pool', 2);
    const [machine] = await nodes.machines('pool');
    await nodes.deleteMachine(machine?.metadata.name ?? '');
    await nodes.untilNodeGone(machine?.status?.nodeName ?? '');
    await nodes.untilRunning('pods', 20);
    expect(await accountsThat('create', 'pods/eviction')).toEqual(['headroom-worker-node-group']);
  });

  it('put workloads to sleep and wake them', async () => {
    await nights.namespace('night', { night: 'yes' });
    await nights.deployment('night', 'web', 3);
    await nights.horizontalScaler('night', 'web', 2, 9);
    await nights.statefulSet('night', 'db', 2);
    await nights.cronJob('night', 'report');
    await nights.deployment('night', 'jobs', 2);
    await nights.scaledObject('night', 'jobs');
    await custom.create('Rollout', 'night', 'site', { replicas: 3 });
    await custom.create('ScaledJob', 'night', 'mails', {});
    await nights.asleep('nights', NIGHT);
    await nights.patchSchedule('nights', { spec: UP });
    await nights.reaches('nights', 'Up', 'AsScheduled');
    expect(await nights.replicas('night', 'web')).toBe(3);
    expect((await accountsThat('patch', 'apps/deployments')).toSorted()).toEqual([
      'headroom-worker-lights-out',
      'headroom-worker-memcached',
    ]);
  });

  it('take pauses from people, each for its own', async () => {
    await nights.command('nights', 'pause', { reason: 'upgrade' });
    await nights.command('nights', 'resume');
    await nodes.command('pool', 'pause', { reason: 'upgrade' });
    await nodes.command('pool', 'resume');
    const episode = stack.client.workflow.getHandle(quotaResizeId(targetOf('team-a')));
    for (const command of ['pause', 'resume'] as const) {
      await episode.executeUpdate(commandUpdates[command], { args: [{ by: 'alice' }] });
    }
    // The audit log may be behind, and a Memcached has a ConfigMap of its own.
    await eventually('each has kept its pause', async () => {
      const who = await accountsThat('patch', 'configmaps');
      return (['quota-resize', 'lights-out', 'node-group'] as const).every((pair) =>
        who.includes(processName('worker', pair)),
      );
    });
  });

  it('collect Leases, which the worker of quotas does', async () => {
    await stack.client.schedule.getHandle(leaseGcId('test')).trigger();
    await eventually('it has listed Leases and namespaces', async () => {
      const listing = await Promise.all(
        ['coordination.k8s.io/leases', 'namespaces'].map(async (resource) => await accountsThat('list', resource)),
      );
      return listing.every((accounts) => accounts.includes('headroom-worker'));
    });
  });

  it('need no right that their account does not have', async () => {
    expect(await refusedRights(await eventsOfHeadroom(), rolesOf(stack.controlPlane.adminKubeconfig))).toEqual([]);
  });

  it('have no right that they do not need', async () => {
    const used = await eventsOfHeadroom();
    const isUsed = ({ process, verb, resource, names, namespace }: Right): boolean =>
      used.some(
        ({ user, verb: did, objectRef }) =>
          user.username === `headroom-${process}` &&
          did === verb &&
          resourceOf(objectRef) === resource &&
          (namespace === '*' || namespace === objectRef?.namespace) &&
          // A list is asked for by a field, and not by a name.
          (names.length === 0 || objectRef?.name === undefined || names.includes(objectRef.name)),
      );
    const unused = rightsOf(await rendered(APART)).filter((right) => !isUsed(right));
    expect(linesOf(unused.filter((right) => !isForAnotherDay(right)))).toEqual([]);
  });
});

describe('their metrics', () => {
  it('tell which controllers each starter runs', async () => {
    const starters = pairs.filter(({ logFile }) => /\/starter-\d+\.log$/.test(logFile));
    const told = await Promise.all(
      starters.map(async ({ logFile }) => {
        const [, url = ''] = /"metrics":"([^"]+)"/.exec(await readFile(logFile, 'utf8')) ?? [];
        const text = await (await fetch(`${url}/metrics`)).text();
        const all = [...text.matchAll(/^headroom_starter_controllers\{.*\bcontroller="([^"]+)".*\} ([01])$/gm)];
        expect(all.map(([, name = '']) => name).toSorted()).toEqual([...pairNames].toSorted());
        return all.flatMap(([, name = '', value]) => (value === '1' ? [name] : []));
      }),
    );
    expect(told.map((own) => own.join(' ')).toSorted()).toEqual([...pairNames].toSorted());
  });
});

describe('headroom doctor', () => {
  it('looks at the rights and the policy of each account', async () => {
    await eventually('all workers have reported', async () => {
      const { reports } = await readWorkers(stack.client, { cluster: 'test', scheduleId: leaseGcId('test') });
      return reports.length === pairNames.length;
    });
    const { stdout } = await headroomWithTemporal(
      ['--output', 'json', 'doctor', '--worker-account', 'headroom-worker', '--starter-account', 'headroom-starter'],
      { ...stack.env.worker, KUBECONFIG: stack.controlPlane.adminKubeconfig },
    );
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
    const about = (check: string) => findings.filter((finding) => finding.check === check);
    expect(about('rights').map(({ status, what }) => [status, what.split(' ')[0]])).toEqual(
      (['worker', 'starter'] as const).flatMap((process) =>
        pairNames.map((pair) => ['ok', processName(process, pair)]),
      ),
    );
    expect(about('policies').filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(about('policies').filter(({ what }) => what.includes('-writes refuses'))).toHaveLength(pairNames.length);
    const said = about('temporal').filter(({ status }) => status === 'warning');
    expect(said.map(({ what }) => what)).toEqual([expect.stringContaining('(spec.prewarm)')]);
  });
});

describe('an account', () => {
  it('evicts, or has the key of GitHub, and not both', async () => {
    const mounting = (await rendered(APART)).filter(
      (object) => object.kind === 'Deployment' && JSON.stringify(object).includes('"secretName":"headroom-github"'),
    );
    expect(mounting.map(({ metadata }) => metadata.name)).toEqual(['headroom-worker']);
    const { core, controlPlane } = stack;
    await core.createNamespacedSecret({
      namespace: SYSTEM_NAMESPACE,
      body: { metadata: { name: 'headroom-github' }, stringData: { token: 'of-the-forge' } },
    });
    const as = (account: string) => accessOf(controlPlane.kubeconfigFor(account));
    const [evicting, writing] = [as('headroom-worker-node-group'), as('headroom-worker')];
    const secret = { namespace: SYSTEM_NAMESPACE, name: 'headroom-github' };
    await expect(evicting.makeApiClient(CoreV1Api).readNamespacedSecret(secret)).rejects.toMatchObject({ code: 403 });
    const [pod] = await nodes.pods('pods');
    const eviction = { namespace: 'pods', name: pod?.metadata?.name ?? '' };
    await expect(
      writing.makeApiClient(CoreV1Api).createNamespacedPodEviction({ ...eviction, body: { metadata: eviction } }),
    ).rejects.toMatchObject({ code: 403 });
    // A role cannot name what may be created; the policy of writes does.
    const lease = { namespace: SYSTEM_NAMESPACE, body: { metadata: { name: 'state-team-a-compute' }, spec: {} } };
    await expect(
      evicting.makeApiClient(CoordinationV1Api).createNamespacedLease({ ...lease, dryRun: 'All' }),
    ).rejects.toThrow('headroom-worker-node-group may not create coordination.k8s.io/leases');
    const spec = { resourceAttributes: EVICTION };
    const review = await evicting.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({ body: { spec } });
    expect(review.status?.allowed).toBe(true);
  });
});

describe('a move', () => {
  it('to processes together and apart again keeps what is in flight', async () => {
    const workflows = [
      quotaResizeId(targetOf('team-b')),
      nodeGroupId({ cluster: 'test', group: 'pool' }),
      lightsOutId({ cluster: 'test', schedule: 'nights' }),
    ];
    await press(stack, 'team-b');
    const quota = new WatchedQuota(stack, 'team-b', QUOTA);
    const { number } = await quota.pullRequest();
    await eventually('it waits for a person', async () => (await statusOf(stack, 'team-b'))?.phase === 'AwaitingMerge');
    const before = await firstRuns(workflows);

    await applyRightsOfUsers(stack.controlPlane.adminKubeconfig, TOGETHER);
    await untilInForce('together');
    const together = await Promise.all([stack.startWorker(), stack.startStarter()]);
    await Promise.all(pairs.map(async (process) => await process.stop()));
    await nights.patchSchedule('nights', { spec: { upscale: '0 0 1 1 *', downscale: '1 0 1 1 *' } });
    await nights.reaches('nights', 'Down', 'AsScheduled');
    expect(await accountsThat('patch', 'apps/deployments')).toContain('headroom-worker');
    expect(await firstRuns(workflows)).toEqual(before);

    await applyRightsOfUsers(stack.controlPlane.adminKubeconfig, APART);
    await untilInForce('apart');
    pairs = await startPairs();
    await Promise.all(together.map(async (process) => await process.stop()));
    await stack.forge.mergePullRequest(number, 'alice');
    await eventually('the quota is raised', async () => await isRaised(stack, 'team-b'), LONG_MS);
    await untilResized(stack, 'team-b', LONG_MS);
    await nights.patchSchedule('nights', { spec: UP });
    await nights.reaches('nights', 'Up', 'AsScheduled');
    expect(await nights.replicas('night', 'web')).toBe(3);
    await nodes.scale('pods', 40);
    await nodes.untilRunning('pods', 40);
    expect(await firstRuns(workflows)).toEqual(before);
    expect(quota.pullRequests()).toEqual([number]);
  });
});

/** The first run of each: it stays the same for as long as runs continue as new ones. All are on the queue that every worker polls. */
async function firstRuns(workflowIds: readonly string[]): Promise<readonly (string | null | undefined)[]> {
  return await Promise.all(
    workflowIds.map(async (id) => {
      const { status, taskQueue, raw } = await stack.client.workflow.getHandle(id).describe();
      expect([status.name, taskQueue]).toEqual(['RUNNING', 'headroom/test']);
      return raw.workflowExecutionInfo?.firstRunId;
    }),
  );
}
