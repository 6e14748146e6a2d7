import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { pinnedServer } from '../../../tools/resolver/pinned-servers.ts';
import { resolveServer } from '../../../tools/resolver/resolve-server.ts';
import { eventually } from '../stack/eventually.ts';
import { temporaryDirectory } from './supervised-process.ts';
import { startTemporal, type TemporalServer } from './temporal.ts';

/** @param connectTimeout milliseconds; also how long a test waits to learn that the server is away. */
async function withClient<Result>(
  server: TemporalServer,
  use: (client: Client) => Promise<Result>,
  connectTimeout = 30_000,
): Promise<Result> {
  const connection = await Connection.connect({ address: server.address, connectTimeout });
  try {
    return await use(new Client({ connection, namespace: server.namespace }));
  } finally {
    await connection.close();
  }
}

describe('the Temporal server', () => {
  it('runs in the version that is pinned', async () => {
    const printed = execFileSync(await resolveServer('temporal'), ['--version'], { encoding: 'utf8' });
    const [major, minor] = pinnedServer('temporal').version.split('.');
    expect(printed).toContain(`Server ${major}.${minor}.`);
  });

  it('serves its namespace with the search attributes, and the web UI', async () => {
    const server = await startTemporal({ namespace: 'capacity', searchAttributes: { TestRun: 'Int' } });
    try {
      const { customAttributes } = await withClient(server, (client) =>
        client.connection.operatorService.listSearchAttributes({ namespace: 'capacity' }),
      );
      expect(Object.keys(customAttributes)).toEqual(
        expect.arrayContaining(['HeadroomController', 'HeadroomTarget', 'HeadroomPhase', 'HeadroomCluster', 'TestRun']),
      );
      // It is started beside the server itself, which is what a start waits for.
      const page = await eventually('the web UI answers', () => fetch(`${server.uiUrl}/namespaces/capacity/workflows`));
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('/_app/');
    } finally {
      await server.stop();
    }
  });

  it('with a database file its workflows outlive a kill and a restart, at the same address', async () => {
    const dbFile = join(await temporaryDirectory('temporal-test'), 'temporal.db');
    const server = await startTemporal({ dbFile });
    try {
      await withClient(server, (client) =>
        client.workflow.start('waitsForEver', {
          taskQueue: 'nobody-polls',
          workflowId: 'kept',
          searchAttributes: { HeadroomPhase: ['detect'] },
        }),
      );
      await server.kill();
      await expect(withClient(server, () => Promise.resolve(), 2_000)).rejects.toThrow(/Failed to connect/);
      await server.restart();
      const description = await withClient(server, (client) => client.workflow.getHandle('kept').describe());
      expect(description.status.name).toBe('RUNNING');
    } finally {
      await server.stop();
    }
  });

  it('two can start at the same time', async () => {
    const servers = await Promise.all([startTemporal(), startTemporal()]);
    try {
      expect(new Set(servers.map((server) => server.address)).size).toBe(2);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
});
