/** The whole product as a GitHub App, woken by webhooks alone. */
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openedBy } from '../kernel/forge/opening.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

const SECRET = 'webhook-secret-of-this-run';
const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

let stack: Stack;
let metrics: string;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pending' },
    workers: 0,
    starters: 0,
    // Nothing is found out by asking again: GitHub tells, or nobody knows.
    env: {
      ...quickAutoMerge,
      'timings.checksPollMin': '1h',
      'timings.checksPollMax': '1h',
      'timings.needGone': '1h',
    },
  });
  // On ports of its own choice, so that nobody takes them first.
  const { logFile } = await stack.startStarter({ GITHUB_WEBHOOKS: 'true', GITHUB_WEBHOOK_SECRET: SECRET });
  const logLines = (await readFile(logFile, 'utf8')).split('\n');
  metrics = fieldsOfLine(logLines, 'the starter is starting')['metrics'] ?? '';
  const { url = '' } = fieldsOfLine(logLines, "the starter takes GitHub's webhooks");
  const app = stack.forge.registerApp({ slug: 'headroom', publicKey });
  const installation = app.install({ account: 'acme' });
  await stack.startWorker({
    GITHUB_TOKEN: '',
    GITHUB_APP_ID: String(app.id),
    GITHUB_INSTALLATION_ID: String(installation.id),
    GITHUB_PRIVATE_KEY: privateKey.replaceAll('\n', '\\n'),
    GITHUB_WEBHOOKS: 'true',
  });
  await stack.forge.addHook({ url, secret: SECRET });
});
afterAll(async () => await stack?.stop());

/** The fields of the log line with this message. */
function fieldsOfLine(lines: readonly string[], message: string): Readonly<Record<string, string>> {
  const line = lines.find((text) => text.includes(`"msg":"${message}"`));
  return JSON.parse(line ?? '{}') as Record<string, string>;
}

it('a check that passes is told by GitHub and merged, and no secret is in any log', SEVERAL_PHASES, async () => {
  const quota = await givenQuota(stack, { namespace: 'told', hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('AwaitingChecks');
  // What is told of a pull request before the starter has seen it in the Lease is found out by asking again, later.
  await eventually('the starter knows whose pull request it is', async () => {
    const answer = await fetch(`${metrics}/metrics`, { signal: AbortSignal.timeout(10_000) });
    return /^headroom_starter_webhook_pull_requests\{.*\} 1$/m.test(await answer.text());
  });
  const opened = stack.forge.writes.find((write) => openedBy(write) !== undefined);
  expect(opened?.user).toBe('headroom[bot]');
  const sha = (await stack.forge.branchTip(opened?.branch ?? '')) ?? '';
  await stack.forge.setCheckRun({ sha, name: 'ci', status: 'completed', conclusion: 'success' });
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toEqual({ pods: '12' });

  const logs = await Promise.all(stack.processes.map(async ({ logFile }) => await readFile(logFile, 'utf8')));
  for (const log of logs) {
    expect(log).not.toContain(SECRET);
    expect(log).not.toContain(privateKey.split('\n')[3]);
    expect(log).not.toMatch(/ghs_[A-Za-z0-9]{10}/);
  }
});
