/**
 * `npm run bench:webhooks`: by how much a starter grows while 200 connections send it webhooks of 5 MB at once, signed
 * and not. `--connections 100 --megabytes 1` makes it smaller. It ends with 1 where the starter grows by more than 32 MB.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startHeadroomPlane } from '../test/kernel/stack/headroom-plane.ts';
import { eventually } from '../test/kernel/stack/eventually.ts';
import { flood } from '../test/starter/quota-resize/webhooks/flood.ts';

/** What docs/security.md says. */
const MOST_BYTES = 32 * 1024 * 1024;
const ROUNDS = 3;
const SECRET = 'the-secret-of-the-hook';

const { values } = parseArgs({
  options: { connections: { type: 'string', default: '200' }, megabytes: { type: 'string', default: '5' } },
});
const connections = Number(values.connections);
const bytes = Number(values.megabytes) * 1_000_000;

const plane = await startHeadroomPlane({ ownServers: true });
try {
  const starter = await plane.startStarter({ GITHUB_WEBHOOKS: 'true', GITHUB_WEBHOOK_SECRET: SECRET });
  const [, url = ''] = /"url":"([^"]+)","msg":"the starter takes/.exec(await readFile(starter.logFile, 'utf8')) ?? [];
  console.log(`a starter that gets ${connections} webhooks of ${values.megabytes} MB at once`);
  for (const [name, secret] of [
    ['not signed', 'another secret'],
    ['signed', SECRET],
  ] as const) {
    for (let round = 1; round <= ROUNDS; round += 1) {
      await eventually('the port listens again', async () => await fetch(url, { method: 'POST' }));
      const { grownBy, statuses } = await flood({ url, pid: starter.pid, connections, bytes, secret });
      const answers = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
      console.log(`  ${name.padEnd(10)}  ${(grownBy / 1024 / 1024).toFixed(1).padStart(5)} MB  ${answers.join(', ')}`);
      if (grownBy > MOST_BYTES) process.exitCode = 1;
    }
  }
} finally {
  await plane.stop();
}
