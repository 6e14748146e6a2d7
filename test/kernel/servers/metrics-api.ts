/**
 * metrics.k8s.io/v1beta1, served by the test: what metrics-server has of a cluster whose kubelets measure nothing. The API server finds it
 * as any aggregated API, by an APIService and a Service.
 */
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { ApiregistrationV1Api, CoreV1Api, type V1Node, type V1Pod } from '@kubernetes/client-node';
import { amountsOf } from '../../../domain/kernel/amounts.ts';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { accessOf } from '../stack/access.ts';
import { eventually } from '../stack/eventually.ts';

const GROUP_VERSION = 'metrics.k8s.io/v1beta1';
const NAME = 'v1beta1.metrics.k8s.io';
const WHERE = { namespace: 'kube-system', name: 'metrics' };
const HOST = '127.0.0.1';
const POD_METRICS = new RegExp(`^/apis/${GROUP_VERSION}/namespaces/([^/]+)/pods$`);

export interface MetricsApi {
  /**
   * What the pods of a namespace use together from now on, in thousandths of a core; its ready pods share it, as clients with consistent
   * hashing share a load. Null: there are no metrics of the namespace, which is an error to whoever asks.
   */
  setLoad(namespace: string, millicores: number | null): void;
  /** What every node uses from now on, in percent of what it has for pods. Null, as at first: there are no metrics of nodes. */
  setNodeUse(percent: number | null): void;
  stop(): Promise<void>;
}

/** Serves metrics of pods and registers the API; the API server passes requests on to it when this resolves. */
export async function startMetricsApi(adminKubeconfig: string): Promise<MetricsApi> {
  const config = accessOf(adminKubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const loads = new Map<string, number>();
  let nodeUse: number | null = null;
  const now = Date.now();
  const { certificate: cert, key } = await issueServer(HOST, await issueAuthority(now), now);
  const server = createServer({ cert, key }, (request, response) => {
    answer(request, { core, loads, nodeUse }).then(
      ({ code, body }) => send(response, code, body),
      (error: unknown) => send(response, 500, failure(500, String(error))),
    );
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  try {
    await register(adminKubeconfig, (server.address() as AddressInfo).port);
  } catch (error) {
    await close(server);
    throw error;
  }
  return {
    setLoad: (namespace, millicores) => {
      if (millicores === null) loads.delete(namespace);
      else loads.set(namespace, millicores);
    },
    setNodeUse: (percent) => {
      nodeUse = percent;
    },
    stop: async () => await close(server),
  };
}

async function register(adminKubeconfig: string, port: number): Promise<void> {
  const config = accessOf(adminKubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const registration = config.makeApiClient(ApiregistrationV1Api);
  const { namespace, name } = WHERE;
  await eventually('there is the namespace of the system', async () => await core.readNamespace({ name: namespace }));
  // A name in place of an address: no proxy of a node is there for addresses of Services.
  const service = { metadata: { name }, spec: { type: 'ExternalName', externalName: HOST, ports: [{ port }] } };
  await core.createNamespacedService({ namespace, body: service });
  await registration.createAPIService({
    body: {
      metadata: { name: NAME },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        service: { namespace, name, port },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  });
  await eventually('metrics are served', async () => {
    const { status } = await registration.readAPIService({ name: NAME });
    return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True');
  });
}

interface Answer {
  readonly code: number;
  readonly body: object;
}

interface Measured {
  readonly core: CoreV1Api;
  readonly loads: ReadonlyMap<string, number>;
  readonly nodeUse: number | null;
}

async function answer({ url = '' }: IncomingMessage, { core, loads, nodeUse }: Measured): Promise<Answer> {
  const { pathname, searchParams } = new URL(url, `https://${HOST}`);
  if (pathname === `/apis/${GROUP_VERSION}`) return { code: 200, body: discovery };
  if (pathname === `/apis/${GROUP_VERSION}/nodes`) return await answerForNodes(core, nodeUse);
  const [, namespace] = POD_METRICS.exec(pathname) ?? [];
  if (namespace === undefined) return { code: 404, body: failure(404, 'there is nothing here') };
  const load = loads.get(namespace);
  if (load === undefined) return { code: 503, body: failure(503, 'nothing is measured') };
  const labelSelector = searchParams.get('labelSelector') ?? '';
  const { items } = await core.listNamespacedPod({ namespace, labelSelector });
  const ready = items.filter(isReady);
  const list = { kind: 'PodMetricsList', apiVersion: GROUP_VERSION, metadata: {} };
  return { code: 200, body: { ...list, items: ready.map((pod) => metricsOf(pod, load / ready.length)) } };
}

async function answerForNodes(core: CoreV1Api, use: number | null): Promise<Answer> {
  if (use === null) return { code: 503, body: failure(503, 'nothing is measured') };
  const { items } = await core.listNode();
  const list = { kind: 'NodeMetricsList', apiVersion: GROUP_VERSION, metadata: {} };
  return { code: 200, body: { ...list, items: items.map((node) => metricsOfNode(node, use / 100)) } };
}

/** @param share of its CPU and of its memory, from 0 to 1. */
function metricsOfNode({ metadata, status }: V1Node, share: number): object {
  const { cpu = 0, memory = 0 } = amountsOf(status?.allocatable);
  const usage = { cpu: `${Math.round(cpu * share)}m`, memory: `${Math.round(memory * share)}` };
  return { metadata: { name: metadata?.name }, timestamp: new Date().toISOString(), window: '10s', usage };
}

function isReady({ metadata, status }: V1Pod): boolean {
  const isTrue = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return metadata?.deletionTimestamp === undefined && isTrue === true;
}

/** The first container has the load of the pod; the others next to nothing. */
function metricsOf({ metadata, spec }: V1Pod, millicores: number): object {
  const usage = (cores: number): object => ({ cpu: `${Math.round(cores * 1000)}u`, memory: '64Mi' });
  return {
    metadata: { name: metadata?.name, namespace: metadata?.namespace, labels: metadata?.labels },
    timestamp: new Date().toISOString(),
    window: '10s',
    containers: spec?.containers.map(({ name }, at) => ({ name, usage: usage(at === 0 ? millicores : 1) })),
  };
}

const discovery = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: GROUP_VERSION,
  resources: [
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
    { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
  ],
};

function failure(code: number, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code };
}

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
