/** What Headroom expects of the eviction API, beside what a real API server says to the same eviction in a dry run. */
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evict } from '../../../activities/node-group/drain/eviction.ts';
import { DisruptionBudgets } from '../../../domain/node-group/drain/disruption-budgets.ts';
import { readBudget } from '../../../domain/node-group/scheduling/read-objects.ts';
import { readPod } from '../../../domain/node-group/scheduling/read-pod.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { type Api, type ApiAnswer, openApi } from '../../quota-usage/side-by-side/api.ts';

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
const POLICIES = [null, 'IfHealthyBudget', 'AlwaysAllow'] as const;
/** `currentHealthy` and `desiredHealthy`. */
const HEALTHY = [
  [0, 0],
  [1, 0],
  [1, 2],
  [2, 2],
] as const;
/** How far `status.observedGeneration` is behind `metadata.generation`. */
const BEHIND = [-1, 0, 1] as const;
const CODES: Readonly<Record<string, readonly number[]>> = { allowed: [201], refused: [429, 403], impossible: [500] };

let plane: ControlPlane;
let api: Api;

beforeAll(async () => {
  // With the controller of budgets, a status that a test writes would stay for a moment only; with that of namespaces, one that is deleted.
  const controllers = '--controllers=*,-disruption-controller,-namespace-controller';
  plane = await startControlPlane({ controllerManagerFlags: [controllers] });
  api = openApi(plane.adminKubeconfig);
});
afterAll(async () => {
  api?.close();
  await plane?.stop();
});

describe('the eviction API, as Headroom foresees it', () => {
  it('of pods in every phase, ready or not, by a budget in every state', async () => {
    const pods = PHASES.flatMap((phase) => [true, false].map((isReady) => ({ phase, isReady })));
    await createNamespace('grid');
    for (const { phase, isReady } of pods) await createPod('grid', nameOf(phase, isReady), phase, isReady);
    const differences: string[] = [];
    const seen = new Set<string>();
    for (const policy of POLICIES) {
      await deleteBudget('grid', 'web');
      await createBudget('grid', 'web', policy);
      for (const status of statuses()) {
        await writeStatus('grid', 'web', status);
        for (const { pod, expected, code } of await answers('grid')) {
          seen.add(`${expected} ${code}`);
          if (CODES[expected]?.includes(code) === true) continue;
          differences.push(
            `${pod}, ${policy}, ${JSON.stringify(status)}: ${expected}, and the API server says ${code}`,
          );
        }
      }
    }
    expect(differences).toEqual([]);
    expect([...seen].toSorted()).toEqual(['allowed 201', 'refused 429']);
  });

  it('of a pod with two budgets: never, but where the pod needs none', async () => {
    await createNamespace('several');
    await createPod('several', 'ready', 'Running', true);
    await createPod('several', 'unready', 'Running', false);
    await createPod('several', 'waiting', 'Pending', false);
    await createPod('several', 'leaving', 'Running', true);
    await ask('DELETE', '/api/v1/namespaces/several/pods/leaving');
    for (const name of ['one', 'two']) {
      await createBudget('several', name, 'AlwaysAllow');
      await writeStatus('several', name, { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, behind: 0 });
    }
    expect(await answers('several')).toEqual([
      { pod: 'leaving', expected: 'allowed', code: 201 },
      { pod: 'ready', expected: 'impossible', code: 500 },
      { pod: 'unready', expected: 'impossible', code: 500 },
      { pod: 'waiting', expected: 'allowed', code: 201 },
    ]);
  });

  it('of a budget whose evicted pods do not go: no more than 2,000 of them, and then a drain names the budget', async () => {
    await createNamespace('stuck');
    await createPod('stuck', 'ready', 'Running', true);
    await createBudget('stuck', 'web', null);
    const disrupted = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`pod-${at}`, '2026-01-01T00:00:00Z']));
    const status = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, behind: 0 };
    await writeStatus('stuck', 'web', { ...status, disruptedPods: disrupted(2_000) });
    expect(await answers('stuck')).toEqual([{ pod: 'ready', expected: 'allowed', code: 201 }]);
    await writeStatus('stuck', 'web', { ...status, disruptedPods: disrupted(2_001) });
    expect(await answers('stuck')).toEqual([{ pod: 'ready', expected: 'refused', code: 403 }]);
    const core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
    const { metadata: { uid = '' } = {} } = await core.readNamespacedPod({ namespace: 'stuck', name: 'ready' });
    expect(await evict({ core }, { namespace: 'stuck', name: 'ready', uid }, null)).toMatchObject({
      kind: 'refused',
      budgets: ['stuck/web'],
    });
  });

  it('of a pod whose namespace is being deleted: it runs until it is deleted too, and a drain waits for it', async () => {
    await createNamespace('ending');
    await createPod('ending', 'ready', 'Running', true);
    await ask('DELETE', '/api/v1/namespaces/ending');
    const core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
    const { metadata: { uid = '' } = {} } = await core.readNamespacedPod({ namespace: 'ending', name: 'ready' });
    expect(await evict({ core }, { namespace: 'ending', name: 'ready', uid }, null)).toEqual({
      kind: 'leftToNamespace',
    });
  });

  it('by selectors: an empty one takes every pod of the namespace, none takes no pod', async () => {
    await createNamespace('selected');
    await createPod('selected', 'ready', 'Running', true);
    await createBudget('selected', 'none', null, null);
    expect(await answers('selected')).toEqual([{ pod: 'ready', expected: 'allowed', code: 201 }]);
    await createBudget('selected', 'all', null, {});
    expect(await answers('selected')).toEqual([{ pod: 'ready', expected: 'refused', code: 429 }]);
  });
});

interface Status {
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly behind: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
}

function statuses(): readonly Status[] {
  return HEALTHY.flatMap(([currentHealthy, desiredHealthy]) =>
    [0, 1].flatMap((disruptionsAllowed) =>
      BEHIND.map((behind) => ({ disruptionsAllowed, currentHealthy, desiredHealthy, behind })),
    ),
  );
}

function nameOf(phase: string, isReady: boolean): string {
  return `${phase.toLowerCase()}-${isReady ? 'ready' : 'unready'}`;
}

/** What is expected of each pod of a namespace, and the code of the API server's answer. */
async function answers(namespace: string) {
  const budgets = await listOf(budgetsOf(namespace));
  const pods = await listOf(`/api/v1/namespaces/${namespace}/pods`);
  const expected = new DisruptionBudgets(budgets.map(readBudget));
  return await Promise.all(
    pods.map(readPod).map(async (pod) => {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod.name } };
      const path = `/api/v1/namespaces/${namespace}/pods/${pod.name}/eviction?dryRun=All`;
      const { code } = await api.ask('POST', path, eviction);
      return { pod: pod.name, expected: expected.forecast(pod).kind, code };
    }),
  );
}

async function ask(...request: Parameters<Api['ask']>): Promise<ApiAnswer> {
  const answer = await api.ask(...request);
  if (answer.code >= 300) throw new Error(`${request[0]} ${request[1]}: ${answer.code} ${answer.message}`);
  return answer;
}

async function listOf(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { object } = await ask('GET', path);
  return (object.items ?? []) as readonly Readonly<Record<string, unknown>>[];
}

async function createNamespace(name: string): Promise<void> {
  await ask('POST', '/api/v1/namespaces', { metadata: { name } });
}

async function createPod(namespace: string, name: string, phase: string, isReady: boolean): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  // The finalizer keeps a pod that is deleted.
  const metadata = { name, labels: { app: 'web' }, finalizers: ['test.headroom/keep'] };
  const pod = { metadata, spec: { containers: [{ name: 'web', image: 'web' }] } };
  await eventually(`${namespace} takes pods`, async () => (await api.ask('POST', path, pod)).code === 201);
  const status = { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] };
  await ask('PATCH', `${path}/${name}/status`, { status }, 'merge');
}

function budgetsOf(namespace: string): string {
  return `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
}

async function createBudget(
  namespace: string,
  name: string,
  unhealthyPodEvictionPolicy: string | null,
  selector: object | null = { matchLabels: { app: 'web' } },
): Promise<void> {
  const spec = { minAvailable: 1, unhealthyPodEvictionPolicy, selector };
  await ask('POST', budgetsOf(namespace), { metadata: { name }, spec });
}

async function deleteBudget(namespace: string, name: string): Promise<void> {
  await api.ask('DELETE', `${budgetsOf(namespace)}/${name}`);
}

async function writeStatus(namespace: string, name: string, { behind, ...counts }: Status): Promise<void> {
  const path = `${budgetsOf(namespace)}/${name}`;
  // Nobody writes the spec, so its generation stays 1.
  const status = { expectedPods: 3, disruptedPods: {}, ...counts, observedGeneration: 1 - behind };
  await ask('PATCH', `${path}/status`, { status }, 'merge');
}
