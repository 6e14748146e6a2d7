import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { clientConnectionOptions } from '../../../platform/temporal/temporal.ts';

/** gRPC's answer of a server that cannot serve right now. */
const UNAVAILABLE = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' };

it('a call that would be repeated ends when its connection is closed, and so does one that begins afterwards', async () => {
  const asked = Promise.withResolvers<void>();
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond(UNAVAILABLE, { endStream: true });
    asked.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = Connection.lazy(clientConnectionOptions({ address: `127.0.0.1:${port}` }, 3_000));
  const describe = async () => await connection.workflowService.describeNamespace({ namespace: 'default' });
  try {
    const closed = asked.promise.then(async () => await connection.close());
    await expect(describe()).rejects.toThrow('CANCELLED: Channel has been shut down');
    await closed;
    await expect(describe()).rejects.toThrow('CANCELLED: Channel has been shut down');
  } finally {
    server.close();
  }
});
