/**
 * Claims for devices and extended resources under dynamic resource allocation, beside Kubernetes' own controller. No scheduler
 * runs: the claim that it makes for the extended resources of a pod is made here, as it makes it.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { startOriginalPlane, startUsagePlane } from './planes.ts';
import { type Api, openApi } from './side-by-side/api.ts';

const GATES = ['--feature-gates=DRAExtendedResource=true'];
const NAMESPACE = 'devices';
const CORE = `/api/v1/namespaces/${NAMESPACE}`;
const CLASSES = '/apis/resource.k8s.io/v1/deviceclasses';
const CLAIMS = `/apis/resource.k8s.io/v1/namespaces/${NAMESPACE}/resourceclaims`;

const COUNT = 'count/resourceclaims.resource.k8s.io';
const [NICS, GPUS] = ['nic.deviceclass.resource.k8s.io/devices', 'gpu.deviceclass.resource.k8s.io/devices'];
/** The implicit names of the extended resources, and the one that the class gpu has besides. */
const [IMPLICIT_NIC, IMPLICIT_GPU] = [
  'deviceclass.resource.kubernetes.io/nic',
  'deviceclass.resource.kubernetes.io/gpu',
];
const EXPLICIT_GPU = 'example.com/gpu';

let original: ControlPlane;
let headroom: HeadroomPlane;
let apis: readonly [original: Api, headroom: Api];
beforeAll(async () => {
  const flags = { apiServerFlags: GATES, controllerManagerFlags: GATES };
  [original, headroom] = await Promise.all([startOriginalPlane(flags), startUsagePlane(flags)]);
  apis = [openApi(original.adminKubeconfig), openApi(headroom.plane.adminKubeconfig)];
  await headroom.startStarter();
  await onBoth('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const names = [COUNT, NICS, GPUS, ...[IMPLICIT_NIC, IMPLICIT_GPU, EXPLICIT_GPU].map((name) => `requests.${name}`)];
  const hard = Object.fromEntries(names.map((name) => [name, '100']));
  await onBoth('POST', `${CORE}/resourcequotas`, { metadata: { name: 'devices' }, spec: { hard } });
});
afterAll(async () => {
  for (const api of apis ?? []) api.close();
  await Promise.all([original?.stop(), headroom?.stop()]);
});

/** The same on both, whatever of an object is different in them. */
async function onBoth(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object | ((uid: string) => object),
  of?: string,
): Promise<void> {
  for (const api of apis) {
    await eventually(`${method} ${path}`, async () => {
      const uid = of === undefined ? '' : await uidOf(api, of);
      const content = typeof body === 'function' ? body(uid) : body;
      const patch = method === 'PATCH' ? ('merge' as const) : undefined;
      const { code, message } = await api.ask(method, path, content, patch);
      if (code === 400 || code === 422) throw new Error(message);
      // The owner of a claim takes it along.
      return code < 300 || (method === 'DELETE' && code === 404);
    });
  }
}

async function uidOf(api: Api, path: string): Promise<string> {
  const { object } = await api.ask('GET', path);
  return (object.metadata as { readonly uid?: string } | undefined)?.uid ?? '';
}

/** Waits until both controllers say the same, and this. What is not named is zero. */
async function untilUsed(used: Readonly<Record<string, string>>): Promise<void> {
  let shown: readonly unknown[] = [];
  await eventually('both say the same', async () => {
    shown = await Promise.all(
      apis.map(async (api) => {
        const { object } = await api.ask('GET', `${CORE}/resourcequotas/devices`);
        return Object.fromEntries(Object.entries(object.status?.used ?? {}).filter(([, amount]) => amount !== '0'));
      }),
    );
    return shown.every((each) => JSON.stringify(sorted(each as object)) === JSON.stringify(sorted(used)));
  }).catch(() => expect(shown).toEqual([used, used]));
}

function sorted(list: object): readonly (readonly [string, unknown])[] {
  return Object.entries(list).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const deviceClass = (name: string, spec: object = {}) => ({ metadata: { name }, spec });
const claim = (name: string, requests: readonly object[], metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { devices: { requests: requests.map((request, index) => ({ name: `request-${index}`, ...request })) } },
});
const exactly = (deviceClassName: string, count: number) => ({ exactly: { deviceClassName, count } });
const pod = (name: string, amounts: Readonly<Record<string, string>>) => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'main:1', resources: { requests: amounts, limits: amounts } }] },
});
/** The claim that the scheduler makes for the extended resources of a pod. */
const schedulersClaim = (name: string, podName: string, count: number) => (uid: string) =>
  claim(name, [exactly('gpu', count)], {
    annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid, controller: true }],
  });
const claimOfPod = (claimName: string, podResource: string) => ({
  status: {
    extendedResourceClaimStatus: {
      resourceClaimName: claimName,
      requestMappings: [{ containerName: 'main', resourceName: podResource, requestName: 'request-0' }],
    },
  },
});

it('counts claims under the implicit name of their class, also where no class has a name of its own', async () => {
  await onBoth('POST', CLASSES, deviceClass('nic'));
  await untilUsed({});
  await onBoth('POST', CLAIMS, claim('two', [exactly('nic', 2)]));
  const any = (count: number, name: string) => ({ name, deviceClassName: 'nic', count });
  await onBoth('POST', CLAIMS, claim('any', [{ firstAvailable: [any(3, 'three'), any(1, 'one')] }]));
  const all = { exactly: { deviceClassName: 'nic', allocationMode: 'All' } };
  await onBoth('POST', CLAIMS, claim('all', [all]));
  await untilUsed({ [COUNT]: '3', [NICS]: '37', [`requests.${IMPLICIT_NIC}`]: '37' });
  // What is freed is counted by the controllers, and not charged by admission.
  await onBoth('DELETE', `${CLAIMS}/all`);
  await untilUsed({ [COUNT]: '2', [NICS]: '5', [`requests.${IMPLICIT_NIC}`]: '5' });
  await onBoth('DELETE', `${CLAIMS}/any`);
  await onBoth('DELETE', `${CLAIMS}/two`);
  await untilUsed({});
});

it('counts claims under the explicit name of their class besides', async () => {
  await onBoth('POST', CLASSES, deviceClass('gpu', { extendedResourceName: EXPLICIT_GPU }));
  await onBoth('POST', CLAIMS, claim('gpus', [exactly('gpu', 4), exactly('gpu', 1)]));
  await onBoth('POST', CLAIMS, claim('mixed', [exactly('gpu', 1), exactly('nic', 1)]));
  await onBoth('DELETE', `${CLAIMS}/gpus`);
  await untilUsed({
    [COUNT]: '1',
    [GPUS]: '1',
    [NICS]: '1',
    [`requests.${IMPLICIT_GPU}`]: '1',
    [`requests.${EXPLICIT_GPU}`]: '1',
    [`requests.${IMPLICIT_NIC}`]: '1',
  });
  await onBoth('DELETE', `${CLAIMS}/mixed`);
  await untilUsed({});
});

it.each([
  ['explicit', EXPLICIT_GPU, IMPLICIT_GPU],
  ['implicit', IMPLICIT_GPU, EXPLICIT_GPU],
])('charges the claim of a pod by the %s name only for what the pod is not charged', async (name, asked, other) => {
  const [podName, claimName] = [`pod-${name}`, `claim-${name}`];
  await onBoth('POST', `${CORE}/pods`, pod(podName, { [asked]: '2' }));
  await untilUsed({ [`requests.${asked}`]: '2' });
  await onBoth('POST', CLAIMS, schedulersClaim(claimName, podName, 2), `${CORE}/pods/${podName}`);
  // Something is freed, so that both controllers count.
  await onBoth('POST', CLAIMS, claim('extra', [exactly('gpu', 1)]));
  await onBoth('DELETE', `${CLAIMS}/extra`);
  const both = { [COUNT]: '1', [GPUS]: '2', [`requests.${asked}`]: '2', [`requests.${other}`]: '2' };
  await untilUsed(both);
  await onBoth('PATCH', `${CORE}/pods/${podName}/status`, claimOfPod(claimName, asked));
  await untilUsed(both);
  // A pod that has ended is charged nothing, and Kubernetes deletes its claim.
  await onBoth('PATCH', `${CORE}/pods/${podName}/status`, { status: { phase: 'Succeeded' } });
  await untilUsed({});
  await onBoth('DELETE', `${CORE}/pods/${podName}?gracePeriodSeconds=0`);
  await onBoth('DELETE', `${CLAIMS}/${claimName}`);
  await untilUsed({});
});

it('counts claims of a class that is gone under its devices and its implicit name', async () => {
  await onBoth('POST', CLAIMS, claim('left', [exactly('gpu', 3)]));
  await untilUsed({ [COUNT]: '1', [GPUS]: '3', [`requests.${IMPLICIT_GPU}`]: '3', [`requests.${EXPLICIT_GPU}`]: '3' });
  await onBoth('DELETE', `${CLASSES}/gpu`);
  await untilUsed({ [COUNT]: '1', [GPUS]: '3', [`requests.${IMPLICIT_GPU}`]: '3' });
});
