/** The operators' command line against running servers. */
import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { PAUSES } from '../../../domain/kernel/pause.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { leaseGcId } from '../../../domain/lease-gc/target.ts';
import { reserveClusterName } from '../../../platform/temporal/cluster-name.ts';
import { keepPause, readPauses } from '../../../starter/cli/kept-pauses.ts';
import { loadConfig } from '../../../starter/config.ts';
import type { Explanation } from '../../../starter/cli/quota-resize/explain/facts.ts';
import { freePort } from '../../kernel/servers/free-port.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import { untilReported } from '../../kernel/stack/worker-report.ts';
import { givenQuota, type WatchedQuota } from '../../kernel/stack/watched-quota.ts';
import { headroom as program, headroomWithTemporal, type ProgramOutcome, runProgram } from '../run-program.ts';

// A test gives up to eight commands, one after the other, beside the episodes of the tests that run at the same time: half a
// minute each where all cores are busy.
vi.setConfig({ testTimeout: 480_000 });

let stack: Stack;
const me = userInfo().username;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: {
      HEADROOM_MODE: 'propose',
      ENABLE_AUTO_MERGE: 'true',
      'timings.demandSettle': '300ms',
      'timings.checksPollMin': '200ms',
      'timings.syncPoll': '200ms',
      // Rounds are due at whole multiples of this since 1970: the default's would be at noon and at midnight, also in the middle
      // of a test that has none but its own.
      'timings.leaseGcInterval': '500h',
    },
  });
  await untilReported(stack.client, stack.cluster);
});
afterAll(async () => await stack?.stop());

function environment(): Record<string, string> {
  const { TEMPORAL_ADDRESS = '', TEMPORAL_NAMESPACE = '' } = stack.env.starter;
  // Pauses are written with the operator's own rights.
  const { adminKubeconfig } = stack.controlPlane;
  return { CLUSTER_NAME: stack.cluster, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, KUBECONFIG: adminKubeconfig };
}

async function headroom(...args: string[]): Promise<ProgramOutcome> {
  return await headroomWithTemporal(args, environment());
}

/** What a command that must succeed prints. */
async function says(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await headroom(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** What a command says that names what there is not. */
async function wrong(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await headroom(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr;
}

/** The one sentence of a command that cannot do what it is asked to. */
async function fails(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await headroom(...args);
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, stdout: '', lines: 1 });
  return stderr.trimEnd();
}

/** Of the ten pods that there may be, nine reach it and eight do not: what is decided is about all nine, however they come. */
const ALL_NINE = { 'resizer.io/threshold': '85' } as const;

/** An episode whose pull request waits for a person. */
async function waiting(namespace: string): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, {
    namespace,
    hard: { pods: '10' },
    annotations: { ...ALL_NINE, 'resizer.io/auto-merge': 'false' },
  });
  await quota.deploy('web', 9, { cpu: '10m' });
  await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
  return quota;
}

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

describe.concurrent('headroom', () => {
  it('shows an episode that runs, in words and as JSON, and lists it', async () => {
    const quota = await waiting('shown');
    const { number } = await quota.pullRequest();
    const text = await says('status', 'shown/compute');
    expect(text).toMatch(/^shown\/compute: AwaitingMerge \(NamespaceAutoMergeOff\) since \d{4}-/);
    expect(text).toContain(
      `Pull request #${number} is ready and waits for a person to merge it: auto-merge is off for this namespace`,
    );
    expect(text).toContain('  pods 10 -> 12. Usage is 9 of 10 pods (90 %), and the threshold is 85 %.\n');
    expect(text).toContain(`  Pull request #${number}: ${stack.forge.url}/acme/gitops/pull/${number}\n`);
    expect(JSON.parse(await says('status', 'shown/compute', '--output', 'json'))).toMatchObject({
      target: { cluster: 'test', namespace: 'shown', quota: 'compute' },
      phase: 'AwaitingMerge',
      reason: 'NamespaceAutoMergeOff',
      decision: { pullRequest: { number } },
    });

    // The list comes from an index that follows within moments, the phase as well.
    const listed = await eventually('the episode is listed', async () => {
      const rows = JSON.parse(await says('--output', 'json', 'list')) as { target: string; phase: string }[];
      return rows.find(({ target, phase }) => target === 'shown/compute' && phase === 'AwaitingMerge');
    });
    expect(listed).toMatchObject({ workflow: quota.workflowId });
    expect(await says('list')).toMatch(
      /^quota-resize +shown\/compute +AwaitingMerge +since \d{4}-\S+:\d\dZ \(\d+ \w+ ago\)$/m,
    );
  });

  it('pauses and resumes in the name of the user, and says what it did', async () => {
    await waiting('paused');
    expect(await says('pause', 'paused/compute', '--reason', 'a freeze')).toBe(
      `Paused by ${me}: quota-resize of paused/compute. Nothing is written for it until resume.\n`,
    );
    await eventually('the status shows the pause', async () => {
      const text = await says('status', 'paused/compute');
      return text.includes('paused/compute: Paused (Paused)') && text.includes(`aused by ${me} since `);
    });
    expect(await fails('pause', 'paused/compute')).toBe(
      `Paused already by ${me}: quota-resize of paused/compute. headroom pauses shows since when.`,
    );
    expect(await says('pauses')).toMatch(/^target_quota-resize_paused_compute +by \S+ +since \d{4}-\S+Z +a freeze$/m);
    expect(await says('resume', 'paused/compute', '--by', 'bob')).toBe(
      'Resumed by bob: quota-resize of paused/compute.\n',
    );
    expect(await fails('resume', 'paused/compute')).toBe(
      'Not paused: quota-resize of paused/compute. headroom pauses shows what is.',
    );
  });

  it('pauses what does not run, a namespace and a controller, and says what is not right', async () => {
    await givenQuota(stack, { namespace: 'idle', hard: { pods: '10' } });
    expect(await wrong('pause', 'idle/compte')).toBe(
      'there is no ResourceQuota "compte" in idle: did you mean compute?\n',
    );
    expect(await wrong('pause', '--namespace', 'idel')).toContain('there is no namespace "idel" in ');
    expect(await wrong('pause', 'idel/compute')).toContain('there is no namespace "idel" in ');
    expect(await says('pause', 'idle/compute')).toContain('quota-resize of idle/compute');
    expect(await says('pause', 'idle/later', '--ignore-not-found')).toContain('quota-resize of idle/later');
    expect(await says('pause', '--namespace', 'idle', '--by', 'ann')).toContain('Paused by ann: the namespace idle.');
    expect(await says('pause', '--controller', 'lease-gc')).toContain('the controller lease-gc');
    const rows = JSON.parse(await says('pauses', '--output', 'json')) as { key: string; by: string }[];
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'target_quota-resize_idle_compute', by: me }),
        expect.objectContaining({ key: 'namespace_idle', by: 'ann' }),
        expect.objectContaining({ key: 'controller_lease-gc', by: me }),
      ]),
    );
    expect(await says('resume', '--controller', 'lease-gc')).toBe(`Resumed by ${me}: the controller lease-gc.\n`);
  });

  it('pauses where the workers read, whatever the settings of the command say', async () => {
    await givenQuota(stack, { namespace: 'elsewhere', hard: { pods: '10' } });
    const env = { ...environment(), SYSTEM_NAMESPACE: 'elsewhere' };
    const paused = await headroomWithTemporal(['pause', 'elsewhere/compute'], env);
    expect(paused).toMatchObject({ code: 0, stderr: '' });
    expect(await says('pauses')).toMatch(/^target_quota-resize_elsewhere_compute /m);
    const { items } = await stack.core.listNamespacedConfigMap({ namespace: 'elsewhere' });
    expect(items.map(({ metadata }) => metadata?.name)).not.toContain(PAUSES);

    const without = { ...environment(), TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const { code, stdout, stderr } = await program(['pauses'], without);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('elsewhere_compute') });
    expect(stderr).toContain('Temporal cannot be reached');
    expect(stderr).toContain(`Pauses are looked for in the namespace ${SYSTEM_NAMESPACE}`);
  });

  it('pauses nothing in another cluster than the one that is named', async () => {
    const scheduleId = leaseGcId('other');
    const of = { cluster: 'other', id: scheduleId, workflowType: 'leaseGc', everyMs: 1e9 };
    await reserveClusterName(stack.client, of, 'another-uid');
    const env = { ...environment(), CLUSTER_NAME: 'other' };
    for (const args of [['pause', '--controller', 'lease-gc'], ['resume', '--controller', 'lease-gc'], ['pauses']]) {
      const { code, stdout, stderr } = await headroomWithTemporal(args, env);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^The kubeconfig leads to another cluster than other: .* recorded with another-uid\./);
    }
    await stack.client.schedule.getHandle(scheduleId).delete();
  });

  it('ends a pause of whatever form, and marks the keys that stop nothing', async () => {
    const binaryData = { 'namespace_idle-binary': Buffer.from([0xff, 0x31]).toString('base64') };
    const body = { data: { controller_quotaresize: '{"by":"bob"}' }, binaryData };
    await stack.core.patchNamespacedConfigMap({ name: PAUSES, namespace: SYSTEM_NAMESPACE, body }, mergePatch);
    const rows = JSON.parse(await says('pauses', '--output', 'json')) as { key: string }[];
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'namespace_idle-binary', by: 'unknown', isKnown: true }),
        expect.objectContaining({ key: 'controller_quotaresize', by: 'bob', isKnown: false }),
      ]),
    );
    expect(await says('pauses')).toMatch(/^controller_quotaresize +by bob .* STOPS NOTHING/m);
    await says('resume', '--namespace', 'idle-binary');
    expect(await says('pauses')).not.toContain('idle-binary');
  });

  it('keeps the pauses of all who pause at once where there is no ConfigMap yet', async () => {
    const systemNamespace = 'first-pauses';
    await stack.core.createNamespace({ body: { metadata: { name: systemNamespace } } });
    const env = { ...environment(), SYSTEM_NAMESPACE: systemNamespace };
    const sources = { env, argv: [], program: 'command line' } as const;
    const loaded = { config: loadConfig(sources), sources };
    expect(loaded.config.kubernetes.systemNamespace).toBe(systemNamespace);
    const people = ['ann', 'bob', 'carol', 'dan'];
    const kept = await Promise.all(
      people.map(
        async (by) =>
          await keepPause(loaded, { kind: 'namespace', namespace: `of-${by}` }, { by, reason: '', at: Date.now() }),
      ),
    );
    expect(kept).toEqual(people.map(() => null));
    const { pauses } = await readPauses(loaded);
    expect(Object.keys(pauses ?? {}).toSorted()).toEqual(people.map((by) => `namespace_of-${by}`));
  });

  it('approves what waits for it, and the episode merges', async () => {
    const annotations = { ...ALL_NINE, 'resizer.io/max-step': '1' };
    const quota = await givenQuota(stack, { namespace: 'approved', hard: { pods: '10' }, annotations });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingApproval');
    const { number, head } = await quota.pullRequest();
    expect(await fails('approve', 'approved/compute', '--head', 'deadbeef')).toContain('Check the pull request again');
    const before = await quota.status();
    const asNobody = { ...environment(), KUBECONFIG: stack.controlPlane.kubeconfigFor('headroom-starter') };
    const claim = await headroomWithTemporal(
      ['approve', 'approved/compute', '--by', 'alice', '--head', 'dead'],
      asNobody,
    );
    expect(claim).toMatchObject({ code: 1, stderr: expect.stringContaining('Check the pull request again') as string });
    expect((await quota.status()).approval, 'nothing was written').toEqual(before.approval);
    const answer = JSON.parse(
      await says('approve', 'approved/compute', '--reason', 'month end', '--head', head.sha, '--output', 'json'),
    ) as unknown;
    const approved = String.raw`approved by \S+ \(verified by the API server\)`;
    expect(answer).toEqual({
      command: 'approve',
      answer: expect.stringMatching(
        new RegExp(`^${approved}: decision [0-9a-f]{8} at ${head.sha.slice(0, 12)}`),
      ) as string,
    });
    await quota.reaches('CoolingDown');
    expect((await quota.events('QuotaResizeApproved'))[0]).toMatch(new RegExp(`${approved} at 20.*: month end`));
    expect((await quota.comments(number)).join()).toMatch(new RegExp(`Approved in Headroom: ${approved}`));
    expect(await fails('approve', 'approved/compute')).toBe('There is no open pull request to approve.');
    // Nothing is needed any more: the next look ends the episode.
    expect(await says('skip-cooldown', 'approved/compute')).toContain(`Cooldown skipped by ${me}`);
    await quota.ends('BelowThreshold');
    expect(await fails('reconcile-now', 'approved/compute')).toBe(
      'Nothing runs for approved/compute in test. Either the quota needs nothing, or the names are wrong: headroom list shows what runs.',
    );
  });

  it('approves with a claimed name where the cluster gives no right to a verified one, and says so', async () => {
    const annotations = { ...ALL_NINE, 'resizer.io/max-step': '1' };
    const quota = await givenQuota(stack, { namespace: 'claimed', hard: { pods: '10' }, annotations });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingApproval');
    const asNobody = { ...environment(), KUBECONFIG: stack.controlPlane.kubeconfigFor('headroom-starter') };
    const { code, stdout, stderr } = await headroomWithTemporal(
      ['approve', 'claimed/compute', '--by', 'alice'],
      asNobody,
    );
    expect(stderr).toMatch(
      /^This approval is only a claimed name: .*User "headroom-starter" cannot get resource "leases"/,
    );
    expect(stdout).toMatch(/^Approved by "alice" \(a claimed name\): pull request #/);
    expect(code).toBe(0);
    await quota.reaches('CoolingDown');
    expect((await quota.events('QuotaResizeApproved'))[0]).toContain('approved by "alice" (a claimed name)');
  });

  it('rejects, and the pull request is closed', async () => {
    const quota = await waiting('rejected');
    const { number } = await quota.pullRequest();
    expect(await fails('approve', 'rejected/compute')).toBe(
      `Pull request #${number} needs no approval: its steps are within the policy. Where something else holds it, a person may merge it.`,
    );
    expect(await says('reject', 'rejected/compute', '--reason', 'too expensive')).toBe(
      `Rejected by ${me}: pull request #${number} is closed.\n`,
    );
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
    expect(await says('reconcile-now', 'rejected/compute')).toBe(`Checking again now, as asked by ${me}.\n`);
  });

  it('explains a quota with the episode that runs, and what a greater requirement would do to its pull request', async () => {
    const quota = await waiting('explained');
    const { number } = await quota.pullRequest();
    // The worker's own user: what it may read is enough.
    const { KUBECONFIG = '' } = stack.env.worker;
    const explain = async (...args: string[]): Promise<Explanation> => {
      const asked = ['explain', 'quota-resize', 'explained/compute', '--kubeconfig', KUBECONFIG];
      return JSON.parse(await says(...asked, '--output', 'json', ...args)) as Explanation;
    };
    const now = await explain();
    expect(now).toMatchObject({
      episode: { phase: 'AwaitingMerge', reason: 'NamespaceAutoMergeOff' },
      episodeUnknown: null,
      resources: [{ resource: 'pods', used: '9', hard: '10', share: '90', proposed: '12' }],
      next: [{ phase: 'AwaitingMerge', detail: expect.stringContaining(`pull request #${number} is ready`) }],
    });
    expect(now.next[0]?.detail).not.toContain('would be updated');
    // The command has none of the worker's settings itself: it says what the worker reported, and from where it has that.
    const from = (name: string) => ({ layer: 'environment', name, reportedBy: 'worker' });
    expect(now.settings).toMatchObject({ from: 'running worker', differences: [] });
    expect(now.settings.notes).toEqual([
      expect.stringMatching(
        /^The settings are those of the worker headroom-worker@test\/[^ ]+, which has run since \d{4}-/,
      ),
    ]);
    expect(now.policy).toContainEqual({ setting: 'mode', value: 'propose', from: from('HEADROOM_MODE') });
    expect(now.policy).toContainEqual({
      setting: 'auto-merge',
      value: 'false',
      from: { layer: 'namespace', name: 'resizer.io/auto-merge' },
    });
    expect(await says('status', 'explained/compute')).toContain(
      '\n  The mode is propose (worker: environment HEADROOM_MODE).\n  Auto-merge is off (namespace annotation resizer.io/auto-merge).\n',
    );
    const more = await explain('--what-if', 'replicas=web=30');
    expect(more.next[0]?.detail).toContain('more is required than its values, so it would be updated (pods 10 → ');
  });

  it('says that no episode runs for a quota that nobody knows', async () => {
    expect(await fails('status', 'nowhere/compute')).toMatch(/^Nothing runs for nowhere\/compute in test\. /);
  });

  it('says what Temporal answers when its namespace does not exist', async () => {
    const { code, stderr } = await program(['status', 'a/b'], { ...environment(), TEMPORAL_NAMESPACE: 'elsewhere' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]*elsewhere[^\n]*\n$/);
  });

  it('collects the Lease of a deleted namespace once its cooldown is over, and shows when the next round is due', async () => {
    const quota = await waiting('collected');
    expect(await quota.lease()).not.toBeNull();
    await quota.terminate();
    await stack.core.deleteNamespace({ name: 'collected' });
    await eventually('the namespace is gone', async () => {
      const { items } = await stack.core.listNamespace();
      return items.every(({ metadata }) => metadata?.name !== 'collected');
    });
    // That the namespace changed began another episode, and while that runs its Lease is kept. What it gave up then binds a
    // namespace that is made again, for a day.
    const body = { metadata: { annotations: { 'resizer.io/last-withdrawal': '2026-01-01T00:00:00Z' } } };
    const text = await eventually('its Lease is collected', async () => {
      const lease = { namespace: SYSTEM_NAMESPACE, name: 'state-collected-compute', body };
      await stack.coordination.patchNamespacedLease(lease, mergePatch);
      const output = await says('gc', '--now');
      return output.includes('deleted  state-collected-compute\n') ? output : undefined;
    });
    expect(text).toMatch(/^Leases: \d+ kept, \d+ deleted, \d+ unlocked\.\n/);
    expect(await quota.lease()).toBeNull();
    expect(JSON.parse(await says('gc', '--now', '--output', 'json'))).toMatchObject({
      deleted: [],
      kept: expect.any(Number),
    });

    const { last, next } = JSON.parse(await says('gc', '--output', 'json')) as { last: string | null; next: string };
    expect(last).toBeNull();
    expect(Date.parse(next) - Date.now()).toBeLessThanOrEqual(500 * 3_600_000);
    expect(await says('gc')).toMatch(
      new RegExp(
        `^Last round: none yet\nNext round: ${next.replace(/\.\d+Z$/, 'Z')} \\(in .*\\)\nTo run a round now: headroom gc --now\n$`,
      ),
    );
    const other = await program(['gc'], { ...environment(), CLUSTER_NAME: 'other' });
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no Schedule lease-gc/other. Start a worker'),
    });
  });

  it('says that no worker answers, where none runs', async () => {
    await stack.client.workflow.start('quotaResize', {
      workflowId: 'quota-resize/idle/a/b',
      taskQueue: taskQueue('idle'),
      args: [{ target: { cluster: 'idle', namespace: 'a', quota: 'b' } }],
    });
    const { code, stderr } = await program(['status', 'a/b'], { ...environment(), CLUSTER_NAME: 'idle' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^No worker of idle answered within 10 s\. Is one running\?[^\n]*\n$/);
  });

  it('does the same as a program of its own, which ends by itself', async () => {
    await givenQuota(stack, { namespace: 'shipped', hard: { pods: '10' } });
    const commands: readonly (readonly [args: readonly string[], answer: string])[] = [
      [['usage', 'shipped'], 'compute'],
      [['explain', 'shipped/compute'], 'shipped/compute'],
      [['pause', 'shipped/compute', '--by', 'alice'], 'Paused by alice: quota-resize of shipped/compute.'],
      [['pauses'], 'quota-resize_shipped_compute'],
      [['gc'], 'Next round: '],
    ];
    for (const [args, answer] of commands) {
      const { code, stdout, stderr } = await runProgram('headroom', args, environment());
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      expect(stdout).toContain(answer);
    }
  });

  it('runs by its name in npm', async () => {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['run', '--silent', 'headroom', '--', 'list', '--output', 'json'],
      {
        cwd: fileURLToPath(new URL('../../../', import.meta.url)),
        env: { ...process.env, ...environment() },
        // One that does not end is told as that, with what it has said.
        timeout: 120_000,
      },
    );
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
  });
});
