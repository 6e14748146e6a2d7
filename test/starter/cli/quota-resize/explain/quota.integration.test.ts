/** `headroom explain` against a real API server and its controllers, and a Temporal in which no episode runs. */
import { join } from 'node:path';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../../../../../starter/cli/quota-resize/explain/facts.ts';
import { explainQuota } from '../../../../../starter/cli/quota-resize/explain/quota.ts';
import { nothingElse, readWhatIf } from '../../../../../starter/cli/quota-resize/explain/what-if.ts';
import type { QuotaArgument } from '../../../../../starter/cli/quota-target.ts';
import { loadConfig } from '../../../../../starter/config.ts';
import {
  type Cluster,
  namespaceOf,
  quotaOf,
  startCluster,
  templateOf,
  WORKER,
} from '../../../../activities/kubernetes/cluster.ts';
import { borrowTemporal } from '../../../../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../../../../kernel/servers/temporal.ts';
import { eventually } from '../../../../kernel/stack/eventually.ts';
import { untilEnforced } from '../../../../quota-usage/planes.ts';
import { type Api, openApi } from '../../../../quota-usage/side-by-side/api.ts';
import { headroom, type ProgramOutcome } from '../../../run-program.ts';

let cluster: Cluster;
let temporal: TemporalServer;
let api: Api;

beforeAll(async () => {
  [cluster, temporal] = await Promise.all([startCluster(), borrowTemporal()]);
  api = openApi(cluster.plane.adminKubeconfig);
});
afterAll(async () => {
  api?.close();
  await Promise.all([cluster?.stop(), temporal?.stop()]);
});

/** A port that nobody listens on. */
const NOBODY_THERE = '127.0.0.1:9';

function environment(): Record<string, string> {
  return {
    CLUSTER_NAME: 'test',
    KUBECONFIG: cluster.plane.adminKubeconfig,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    HEADROOM_MODE: 'propose',
    GITHUB_OWNER: 'acme',
    GITHUB_REPO: 'gitops',
  };
}

/** Runs the program, which takes its time to start. */
async function program(namespace: string, ...args: string[]): Promise<ProgramOutcome> {
  return await headroom(['explain', 'quota-resize', `${namespace}/compute`, ...args], environment());
}

/** What the program would print as JSON. */
async function facts(namespace: string, ...questions: string[]): Promise<Explanation> {
  return await factsOf({ namespace, quota: 'compute' }, ...questions);
}

async function factsOf(quota: QuotaArgument, ...questions: string[]): Promise<Explanation> {
  return await factsIn({}, quota, ...questions);
}

/** The same in an environment with this besides. */
async function factsIn(
  env: Readonly<Record<string, string>>,
  quota: QuotaArgument,
  ...questions: string[]
): Promise<Explanation> {
  const sources = { env: { ...environment(), ...env }, argv: [], program: 'command line' } as const;
  const whatIf = questions.reduce((before, text) => readWhatIf(text, before), nothingElse);
  return await explainQuota({ config: loadConfig(sources), sources }, quota, whatIf);
}

type Workload = readonly [kind: string, name: string, replicas: number];

/**
 * A namespace with a quota and workloads whose pods request 500m each, once Kubernetes has counted them. The quota comes last:
 * a controller whose cache is behind creates what is there once more, which is refused, but charged, and let in uncharged is
 * what comes before admission knows the quota. Neither is counted anew before something is deleted.
 */
async function given(
  namespace: string,
  hard: Readonly<Record<string, string>>,
  workloads: readonly Workload[],
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await cluster.create(namespaceOf(namespace, annotations));
  for (const [kind, name, replicas] of workloads) {
    const spec = { replicas, selector: { matchLabels: { app: name } }, template: templateOf(name, '500m') };
    const more = kind === 'StatefulSet' ? { podManagementPolicy: 'Parallel', serviceName: name } : {};
    await cluster.create({ apiVersion: 'apps/v1', kind, metadata: { name, namespace }, spec: { ...spec, ...more } });
  }
  for (const [kind, name, replicas] of workloads) {
    const path = `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
    // Whoever says so has the pods in its cache, from which the quota is counted too.
    await eventually(`${kind} ${name} has ${replicas} pods`, async () => {
      return (await api.ask('GET', path)).object.status?.replicas === replicas;
    });
  }
  await cluster.create(quotaOf(namespace, hard));
  await countedPods(
    namespace,
    workloads.reduce((sum, [, , replicas]) => sum + replicas, 0),
  );
  const large = { ...templateOf('large', '1k'), metadata: { name: 'large' } };
  await untilEnforced(api, `/api/v1/namespaces/${namespace}/pods`, large);
}

async function countedPods(namespace: string, pods: number): Promise<void> {
  await eventually(`Kubernetes counts ${pods} pods in ${namespace}`, async () => {
    const { status } = await cluster.admin.core.readNamespacedResourceQuota({ namespace, name: 'compute' });
    if (status?.used?.['pods'] === String(pods)) return true;
    const { items } = await cluster.admin.core.listNamespacedPod({ namespace });
    throw new Error(`the status is ${JSON.stringify(status)}, and there are ${items.length} pods`);
  });
}

/** The proposed limits, by resource. */
function proposed({ resources }: Explanation): Record<string, string | null> {
  return Object.fromEntries(resources.map((proposal) => [proposal.resource, proposal.proposed]));
}

const HARD = { 'requests.cpu': '4', pods: '20' };

describe.concurrent('headroom explain quota-resize', () => {
  it('says what would happen and why, with the layer of each number, and goes on without Temporal', async () => {
    await given('shown', HARD, [['Deployment', 'web', 7]], {
      'resizer.io/cpu-increment': '50',
      'resizer.io/merge-windos': 'always',
    });
    const flags = ['--threshold', '85%', '--temporal-address', NOBODY_THERE, '--output', 'json'];
    const { code, stdout: json, stderr } = await program('shown', ...flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const seen = JSON.parse(json) as Explanation;
    expect(seen.resources).toMatchObject([
      { resource: 'pods', used: '7', hard: '20', share: '35', proposed: null },
      {
        resource: 'requests.cpu',
        used: '3500m',
        hard: '4',
        share: '87.5',
        threshold: { value: '85', from: { layer: 'flag', name: '--threshold' } },
        increment: { value: '50', from: { layer: 'namespace', name: 'resizer.io/cpu-increment' } },
        missing: '0',
        proposed: '6',
        why: 'Usage is 3.5 of 4 CPU (87.5 %), and the threshold is 85 %.',
      },
    ]);
    expect(seen).toMatchObject({
      target: { cluster: 'test', namespace: 'shown', quota: 'compute' },
      whatIf: null,
      episode: null,
      episodeUnknown: expect.stringContaining('Temporal cannot be reached at 127.0.0.1:9'),
      lease: { holder: null, lastModified: null },
      locations: expect.arrayContaining([expect.stringContaining('managed-resources/test/shown of ')]),
      warnings: [expect.stringContaining('did you mean resizer.io/merge-windows?')],
    });
    expect(seen.next.at(-1)).toMatchObject({ phase: 'OpeningPullRequest', reason: 'ThresholdReached' });

    const { stdout } = await program('shown');
    expect(stdout).toMatch(/^shown\/compute in test at /);
    expect(stdout).toContain('\nWhat runs now\n  Nothing runs now. ');
    expect(stdout).toMatch(
      /\nrequests\.cpu +3500m +4 +87\.5 % +80 % \(built-in\) +50 % \(namespace\) +0 +6 +Usage is 3\.5 of 4 CPU/,
    );
    expect(stdout).toMatch(/\n {2}cpu-increment +50% +namespace annotation resizer\.io\/cpu-increment\n/);
  });

  it('answers what other usage would do', async () => {
    await given('usage', HARD, [['Deployment', 'web', 1]]);
    expect(proposed(await facts('usage'))).toEqual({ 'requests.cpu': null, pods: null });
    const seen = await facts('usage', 'requests.cpu=3200m', 'pods=3');
    expect(proposed(seen)).toEqual({ 'requests.cpu': '4800m', pods: null });
    expect(seen.whatIf).toEqual({ used: { 'requests.cpu': '3200m', pods: '3' }, replicas: [] });
    await expect(facts('usage', 'limits.memory=1Gi')).rejects.toThrow(
      'the quota has no limit for limits.memory: it limits pods, requests.cpu',
    );
  });

  it('answers what more replicas would do, and that is what they do', async () => {
    await given('scaled', HARD, [['Deployment', 'web', 3]]);
    const supposed = await facts('scaled', 'replicas=web=12');
    expect(supposed.whatIf?.replicas).toEqual([{ kind: 'Deployment', name: 'web', from: 3, to: 12 }]);
    expect(supposed.evidence).toEqual([expect.stringContaining(' for 9 replicas that the quota denied.')]);
    expect(supposed.resources[1]).toMatchObject({ used: '1500m', missing: '4500m' });
    expect(supposed.next.at(-1)?.reason).toBe('UnmetDemand');

    await cluster.admin.apps.patchNamespacedDeploymentScale(
      { name: 'web', namespace: 'scaled', body: { spec: { replicas: 12 } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    await countedPods('scaled', 8);
    const real = await eventually('the refusal is seen', async () => {
      const seen = await facts('scaled');
      return seen.resources[1]?.missing === '2' ? seen : undefined;
    });
    // Three pods and nine missing, or eight and four: twelve in the end.
    expect(proposed(real)).toEqual(proposed(supposed));
  });

  it('answers what fewer replicas would do: what they are charged comes free', async () => {
    await given('shrunk', HARD, [
      ['Deployment', 'web', 5],
      ['StatefulSet', 'db', 3],
    ]);
    const now = await facts('shrunk');
    expect(now.resources[1]).toMatchObject({ used: '4', proposed: '4800m' });
    const fewer = await facts('shrunk', 'replicas=web=2', 'replicas=db=1');
    expect(fewer.resources).toMatchObject([
      { resource: 'pods', used: '3', proposed: null },
      { resource: 'requests.cpu', used: '1500m', share: '37.5', proposed: null },
    ]);
    expect(fewer.next.map(({ reason }) => reason)).toEqual(['BelowThreshold']);
    const moved = await facts('shrunk', 'replicas=web=0', 'replicas=statefulset/db=20');
    expect(moved.evidence).toEqual([
      expect.stringMatching(/^StatefulSet db still needs .* for 17 replicas that the quota denied\./),
    ]);
    expect(moved.resources[1]).toMatchObject({ used: '1500m', missing: '8500m' });
  });

  it('goes by what it counts itself where the mode asks for it, and says what the status says', async () => {
    await given('counted', HARD, [['Deployment', 'web', 7]]);
    await cluster.admin.core.patchNamespacedResourceQuotaStatus(
      { namespace: 'counted', name: 'compute', body: { status: { used: { 'requests.cpu': '100m' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    const quota = { namespace: 'counted', quota: 'compute' };
    expect(proposed(await factsOf(quota))).toEqual({ 'requests.cpu': null, pods: null });
    const auditing = { HEADROOM_USAGE_MODE: 'audit' };
    const seen = await factsIn(auditing, quota);
    expect(seen.usage.notes).toEqual([
      "requests.cpu: the quota's status says 0.1 CPU, but the objects add up to 3.5 CPU. Headroom goes by its own count.",
    ]);
    expect(seen.resources).toMatchObject([
      { resource: 'pods', used: '7', proposed: null },
      { resource: 'requests.cpu', used: '3500m', proposed: '4800m' },
    ]);
    expect(seen.warnings).toEqual([]);
    const fewer = await factsIn(auditing, quota, 'replicas=web=2');
    expect(fewer.resources).toMatchObject([{ used: '2' }, { used: '1', proposed: null }]);
    const supposed = await factsIn(auditing, quota, 'requests.cpu=1');
    expect(supposed).toMatchObject({ usage: { notes: [] }, resources: [{}, { used: '1', proposed: null }] });
  });

  it('says what is wrong with its arguments, and what there is', async () => {
    await given('asked', HARD, [
      ['Deployment', 'web', 1],
      ['ReplicaSet', 'web', 1],
      ['StatefulSet', 'db', 1],
    ]);
    await expect(facts('nowhere')).rejects.toThrow('there is no namespace "nowhere" in test');
    await expect(factsOf({ namespace: 'asked', quota: 'memory' })).rejects.toThrow(
      'there is no ResourceQuota "memory" in asked: it has compute',
    );
    await expect(facts('asked', 'replicas=api=3')).rejects.toThrow(
      'there is no Deployment, StatefulSet or ReplicaSet "api" in asked: it has Deployment web, ReplicaSet web, StatefulSet db',
    );
    // As the worker, which may read a workload by its name and not list them.
    const sources = {
      env: { ...environment(), KUBECONFIG: cluster.plane.kubeconfigFor(WORKER) },
      argv: [],
      program: 'command line',
    } as const;
    const mistyped = readWhatIf('replicas=api=3', nothingElse);
    await expect(
      explainQuota({ config: loadConfig(sources), sources }, { namespace: 'asked', quota: 'compute' }, mistyped),
    ).rejects.toThrow(/^there is no Deployment, StatefulSet or ReplicaSet "api" in asked$/);
    await expect(facts('asked', 'replicas=web=3')).rejects.toThrow(
      '"web" is 2 workloads of asked: write replicas=deployment/web=… or replicas=replicaset/web=…',
    );
    const missing = await headroom(['explain', 'quota-resize', 'nowhere/compute'], environment());
    expect(missing).toMatchObject({ code: 1, stdout: '', stderr: 'There is no namespace "nowhere" in test.\n' });
    const much = await program('asked', '--what-if', 'requests.cpu=much');
    expect(much).toMatchObject({ code: 2, stdout: '' });
    expect(much.stderr).toContain('"much" is not a quantity, such as 12, 500m or 16Gi');
    const wrong = await program('asked', '--threshold', '200');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('--threshold (command line): "200" is not valid');
  });

  it('says who may not read what, and where no cluster is', async () => {
    const env = { CLUSTER_NAME: 'test', TEMPORAL_ADDRESS: NOBODY_THERE };
    const nobody = await headroom(['explain', 'quota-resize', 'shown/compute'], {
      ...env,
      KUBECONFIG: cluster.plane.kubeconfigFor('nobody'),
    });
    expect(nobody.code).toBe(1);
    expect(nobody.stderr).toContain('User "nobody" cannot get resource "namespaces"');
    const nowhere = await headroom(['explain', 'quota-resize', 'shown/compute'], {
      ...env,
      KUBECONFIG: join('/', 'nowhere', 'config'),
    });
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('Cannot use the kubeconfig') });
  });
});
