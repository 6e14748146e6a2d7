/** What is asked of the API server where only the names of Nodes matter. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectKubernetes, type Kubernetes } from '../../../../activities/kubernetes/kubernetes.ts';
import { nodeNames } from '../../../../activities/node-group/machines/node-objects.ts';

const asked: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
let server: Server;
let kubernetes: Kubernetes;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    const isLast = request.url?.includes('continue=') === true;
    const isEmpty = request.url?.includes('none') === true;
    const name = isLast ? 'b' : 'a';
    const body = {
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: isLast || isEmpty ? {} : { continue: 'more' },
      items: isEmpty ? null : [{ metadata: { name, uid: `uid-${name}` } }],
    };
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = new KubeConfig();
  const { port } = server.address() as AddressInfo;
  config.loadFromClusterAndUser(
    { name: 'test', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'test' },
  );
  kubernetes = connectKubernetes(config);
});

afterAll(() => {
  server.close();
});

it('their metadata alone leaves the API server, page by page', async () => {
  expect(await nodeNames(kubernetes, { labelSelector: 'pool=web' })).toEqual([
    { name: 'a', uid: 'uid-a' },
    { name: 'b', uid: 'uid-b' },
  ]);
  expect(asked.map(({ headers }) => headers.accept)).toEqual(
    Array.from({ length: 2 }, () => 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'),
  );
  expect(asked.every(({ url }) => url?.includes('labelSelector=pool%3Dweb'))).toBe(true);
});

it('there may be none', async () => {
  expect(await nodeNames(kubernetes, { labelSelector: 'pool=none' })).toEqual([]);
});
