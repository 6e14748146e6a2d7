/** The whole product where GitHub and Temporal are behind a proxy with a password, with certificates of a private authority. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueAuthority, issueServer } from '../../starter/admission/issue.ts';
import {
  type ConnectProxy,
  PROXY_PASSWORD,
  startConnectProxy,
  startTlsFront,
  type TlsFront,
} from '../kernel/servers/connect-proxy.ts';
import { logFolder } from '../kernel/stack/log-folder.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

// Names that exist nowhere: who does not ask the proxy finds no server.
const GITHUB = 'github.headroom.test';
const TEMPORAL = 'temporal.headroom.test';

let stack: Stack;
let proxy: ConnectProxy;
const fronts: TlsFront[] = [];

beforeAll(async () => {
  proxy = await startConnectProxy();
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: quickAutoMerge,
    workers: 0,
    starters: 0,
  });
  const authority = await issueAuthority(Date.now());
  const authorities = join(stack.dir, 'authorities.pem');
  await writeFile(authorities, authority.certificate);
  const put = async (host: string, port: number, upstream: number, protocol: 'h2' | 'http/1.1'): Promise<void> => {
    const front = await startTlsFront(await issueServer(host, authority, Date.now()), upstream, protocol);
    fronts.push(front);
    proxy.allow(`${host}:${port}`, front.port);
  };
  await put(GITHUB, 443, Number(new URL(stack.forge.url).port), 'http/1.1');
  await put(TEMPORAL, 7233, Number(stack.temporal.address.split(':')[1]), 'h2');
  const env = {
    HTTPS_PROXY: proxy.url,
    HEADROOM_CA_FILE: authorities,
    TEMPORAL_ADDRESS: `${TEMPORAL}:7233`,
    TEMPORAL_TLS: 'true',
    LOG_LEVEL: 'trace',
  };
  await stack.startWorker({ ...env, GITHUB_API_URL: stack.forge.url.replace(/^http:\/\/[^/]+/, `https://${GITHUB}`) });
  await stack.startStarter(env);
});
afterAll(async () => {
  await stack?.stop();
  for (const front of fronts) await front.stop();
  await proxy?.stop();
});

it('a quota is raised through the proxy alone, and nobody reads its password', SEVERAL_PHASES, async () => {
  const quota = await givenQuota(stack, { namespace: 'behind-a-proxy', hard: { pods: '4' } });
  await quota.deploy('web', 6, { cpu: '10m' });
  await quota.reaches('CoolingDown');
  expect((await quota.pullRequest()).merged).toBe(true);

  const targets = new Set(proxy.asked);
  expect(targets).toEqual(new Set([`CONNECT ${GITHUB}:443 200`, `CONNECT ${TEMPORAL}:7233 200`]));
  const { username, password } = new URL(proxy.url);
  const header = Buffer.from(`${decodeURIComponent(username)}:${PROXY_PASSWORD}`).toString('base64');
  for (const name of ['worker-0.log', 'starter-1.log']) {
    const log = await readFile(join(logFolder(stack.dir), name), 'utf8');
    expect(log).toContain('"level":"info"');
    for (const form of [password, PROXY_PASSWORD, header]) expect(log).not.toContain(form);
  }
});
