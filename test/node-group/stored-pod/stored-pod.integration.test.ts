/** What is calculated of a pod template, against the pod that a real API server would store of it. */
import { isDeepStrictEqual } from 'node:util';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  NodeV1Api,
  type V1DaemonSet,
  type V1Pod,
  type V1PodSpec,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { equalLists, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import { storedPodSpec, type TemplateSpec } from '../../../domain/kernel/stored-pod.ts';
import type { PodConstraints, Taint } from '../../../domain/node-group/model/pod.ts';
import { daemonConstraints } from '../../../domain/node-group/scheduling/daemon-template.ts';
import { untolerated } from '../../../domain/node-group/scheduling/node-selection.ts';
import { readDaemonSet, readLimitRange, readRuntimeClass } from '../../../domain/node-group/scheduling/read-objects.ts';
import { podConstraints, readPod } from '../../../domain/node-group/scheduling/read-pod.ts';
import { seededRandom } from '../../chaos/random.ts';
import { amount } from '../../kernel/long.ts';
import { seed } from '../../kernel/seed.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { LIMIT_RANGES, randomTemplate, RUNTIME_CLASSES } from './random-template.ts';

const TEMPLATES = amount({ short: 300, long: 3_000 });
/** How many of them become real DaemonSets with a pod of their controller. */
const DAEMON_SETS = 20;
const NAMESPACES = Object.keys(LIMIT_RANGES);

type Fields = Readonly<Record<string, unknown>>;

let plane: ControlPlane;
let core: CoreV1Api;
let apps: AppsV1Api;
const surroundings = {
  limitRanges: [] as ReturnType<typeof readLimitRange>[],
  runtimeClasses: [] as ReturnType<typeof readRuntimeClass>[],
};

beforeAll(async () => {
  plane = await borrowControlPlane();
  const access = accessOf(plane.adminKubeconfig);
  core = access.makeApiClient(CoreV1Api);
  apps = access.makeApiClient(AppsV1Api);
  const classes = access.makeApiClient(NodeV1Api);
  for (const body of RUNTIME_CLASSES) {
    surroundings.runtimeClasses.push(readRuntimeClass(asJson(await classes.createRuntimeClass({ body }))));
  }
  for (const [namespace, ranges] of Object.entries(LIMIT_RANGES)) {
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    for (const [name, limits] of Object.entries(ranges)) {
      const body = { metadata: { name }, spec: { limits: [...limits] } };
      surroundings.limitRanges.push(readLimitRange(asJson(await core.createNamespacedLimitRange({ namespace, body }))));
    }
    // Admission has caches of its own, and refuses pods until their namespace has a service account.
    await eventually(`pods of ${namespace} get their defaults`, async () => {
      const pod = await storedPod(namespace, { containers: [{ name: 'a', image: 'test/none:1' }] });
      return (
        pod !== null && (Object.keys(ranges).length === 0 || pod.spec?.containers[0]?.resources?.requests !== undefined)
      );
    });
  }
});
afterAll(async () => {
  await plane?.stop();
});

/** The API server sends JSON; the client library has a name of its own for `default`. */
function asJson(object: object): Fields {
  return JSON.parse(JSON.stringify(object).replaceAll('"_default":', '"default":')) as Fields;
}

/** What the API server would store of the pod; null where it refuses it. */
async function storedPod(namespace: string, spec: V1PodSpec): Promise<V1Pod | null> {
  const body = { metadata: { generateName: 'dry-' }, spec };
  return await unlessRefused(core.createNamespacedPod({ namespace, dryRun: 'All', body }));
}

async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiException && [403, 422].includes(error.code)) return null;
    throw error;
  }
}

function daemonSetOf(name: string, spec: V1PodSpec): V1DaemonSet {
  const labels = { app: name };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } } };
}

const KEYS = ['dedicated', 'sandbox', 'other', ...nodeKeys()];

function nodeKeys(): readonly string[] {
  const conditions = ['not-ready', 'unreachable', 'disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'];
  return [...conditions, 'network-unavailable'].map((condition) => `node.kubernetes.io/${condition}`);
}

/** What scheduling makes of it, in a form that can be compared: which of many taints it tolerates, and not in which words. */
function comparable({ requests, nodeSelector, hostPorts, tolerations }: PodConstraints): object {
  const taints = KEYS.flatMap((key) =>
    ['gpu', 'db'].flatMap((value) =>
      (['NoSchedule', 'NoExecute'] as const).map((effect): Taint => ({ key, value, effect })),
    ),
  );
  const tolerated = taints.filter((taint) => untolerated(tolerations, [taint]) === null);
  return {
    requests: Object.fromEntries(Object.entries(requests).filter(([, each]) => each !== 0)),
    nodeSelector,
    hostPorts,
    tolerated: tolerated.map(({ key, value, effect }) => `${key}=${value}:${effect}`),
  };
}

/** The lists of amounts in which two specs differ, by where they are. */
function differingLists(mine: TemplateSpec, stored: TemplateSpec): readonly string[] {
  const found: string[] = [];
  const compare = (where: string, a: ResourceList = {}, b: ResourceList = {}): void => {
    if (!equalLists(a, b)) found.push(`${where}: ${JSON.stringify(a)} instead of ${JSON.stringify(b)}`);
  };
  compare('overhead', mine.overhead, stored.overhead);
  for (const list of ['requests', 'limits'] as const) {
    compare(`resources.${list}`, mine.resources?.[list], stored.resources?.[list]);
    for (const kind of ['containers', 'initContainers'] as const) {
      for (const [index, container] of (stored[kind] ?? []).entries()) {
        compare(`${kind}[${index}].${list}`, mine[kind]?.[index]?.resources?.[list], container.resources?.[list]);
      }
    }
  }
  return found;
}

it(`${TEMPLATES} random templates are filled in as the API server does`, {
  timeout: 60_000 + TEMPLATES * 100,
}, async () => {
  const random = seededRandom(seed);
  const differences: object[] = [];
  let stored = 0;
  for (let n = 0; n < TEMPLATES; n += 1) {
    const namespace = random.pick(NAMESPACES);
    const template = randomTemplate(random);
    const pod = await storedPod(namespace, template);
    if (pod === null) continue;
    // The template as a workload of the cluster has it.
    const body = daemonSetOf('dry', template);
    const set = await unlessRefused(apps.createNamespacedDaemonSet({ namespace, dryRun: 'All', body }));
    if (set === null) continue;
    stored += 1;
    const written = (asJson(set) as { spec: { template: { spec: TemplateSpec & { runtimeClassName?: string } } } }).spec
      .template.spec;
    const mine = storedPodSpec(written, {
      limitRanges: surroundings.limitRanges.filter((range) => range.namespace === namespace),
      runtimeClass: surroundings.runtimeClasses.find(({ name }) => name === written.runtimeClassName) ?? null,
    });
    const theirs = asJson(pod)['spec'] as TemplateSpec;
    const lists = differingLists(mine, theirs);
    const [a, b] = [mine, theirs].map((spec) => comparable(podConstraints({ spec }, null)));
    const isSame = isDeepStrictEqual(withoutDefaultTolerations(a), withoutDefaultTolerations(b));
    if (lists.length > 0 || !isSame) differences.push({ namespace, template, lists, mine: a, theirs: b });
  }
  expect(differences).toEqual([]);
  expect(stored).toBeGreaterThan(TEMPLATES / 2);
});

/** Admission lets every pod stay for five minutes on a node that is not ready or unreachable: it decides nothing about where one goes. */
function withoutDefaultTolerations(of: object | undefined): object {
  const { tolerated = [], ...rest } = (of ?? {}) as { tolerated?: readonly string[] };
  return { ...rest, tolerated: tolerated.filter((taint) => !/(?:not-ready|unreachable)=.*:NoExecute$/.test(taint)) };
}

it(`the pods of ${DAEMON_SETS} DaemonSets are as expected once their controller has made them`, {
  timeout: 120_000,
}, async () => {
  const random = seededRandom(seed + 1);
  // Every template selects it, and tolerates what it has.
  await core.createNode({ body: { metadata: { name: 'stored', labels: { disk: 'ssd', zone: 'a', sandbox: 'yes' } } } });
  const made = [];
  for (let n = 0; made.length < DAEMON_SETS; n += 1) {
    const namespace = random.pick(NAMESPACES);
    const template = randomTemplate(random);
    template.tolerations = [{ operator: 'Exists', key: 'node.kubernetes.io/not-ready' }];
    if ((await storedPod(namespace, template)) === null) continue;
    const set = await unlessRefused(
      apps.createNamespacedDaemonSet({ namespace, body: daemonSetOf(`daemon-${n}`, template) }),
    );
    if (set !== null) made.push(set);
  }
  for (const set of made) {
    const { name = '', namespace = '', uid = '' } = set.metadata ?? {};
    const pod = await eventually(`the DaemonSet ${name} has its pod`, async () => {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: `app=${name}` });
      return items[0] ?? false;
    });
    const read = readDaemonSet(asJson(set));
    const real = readPod(asJson(pod));
    expect({ name, ...comparable(daemonConstraints(read, surroundings)) }).toEqual({ name, ...comparable(real) });
    expect([real.owner?.uid, real.labels['pod-template-generation']]).toEqual([uid, read.generation]);
  }
});
