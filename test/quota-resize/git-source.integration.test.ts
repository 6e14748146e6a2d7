/** Where an episode finds its quota in the repository, and what it says where it does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import {
  counted,
  createQuota,
  EPISODE_MS,
  givenQuota,
  quotaManifest,
  WatchedQuota,
} from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: {
      ...quickAutoMerge,
      'timings.holdRetry': '2s',
    },
  });
});
afterAll(async () => await stack?.stop());

/** Nothing was written anywhere on GitHub for it, and no lock is held. */
async function expectUntouched(quota: WatchedQuota): Promise<void> {
  expect(quota.writes()).toEqual([]);
  expect(await quota.branches()).toEqual([]);
  expect((await quota.lease())?.holder ?? null).toBeNull();
}

describe.concurrent('the file of a quota', SEVERAL_PHASES, () => {
  it('that holds the value already is not changed: the episode awaits the sync, and rests', async () => {
    const file = quotaManifest({ hard: { pods: '30' } });
    const quota = await givenQuota(stack, { namespace: 'in-git', hard: { pods: '10' }, file, synced: false });
    await quota.deploy('web', 9, { cpu: '10m' });
    const waiting = await quota.reaches('AwaitingSync', 'AlreadyInGit');
    expect(waiting.detail).toMatch(
      /^Git holds these values already, waiting for the cluster to follow Git since 20.*: pods is 10 and becomes 30$/,
    );
    await quota.setHard({ pods: '30' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    await expectUntouched(quota);
    expect(await quota.inGit()).toBe(file);
  });

  it('with two quotas is changed by one pull request at a time', async () => {
    const namespace = 'two-quotas';
    const file = [
      quotaManifest({ namespace, hard: { pods: '10' } }),
      quotaManifest({ namespace, quota: 'objects', hard: { 'count/pods': '10' } }),
    ].join('---\n');
    const annotations = { 'resizer.io/auto-merge': 'false' };
    const compute = await givenQuota(stack, { namespace, hard: {}, file, annotations });
    const objects = new WatchedQuota(stack, namespace, 'objects');
    // What comes in before admission knows a quota is charged to it at the next full count only, minutes later.
    await counted(objects);
    await compute.deploy('web', 9, { cpu: '10m' });

    const both = [compute, objects];
    const first = await eventually(
      'one of them has a pull request',
      () => both.find((quota) => quota.pullRequests()[0]),
      EPISODE_MS,
    );
    const second = first === compute ? objects : compute;
    const busy = await second.reaches('Blocked', 'FileBusy');
    expect(busy.detail).toMatch(
      new RegExp(
        `^${compute.path} is being changed by the pull request (of|that) ${namespace}/${first.target.quota} .*This quota has waited for the file since 20.*, alone; .*Headroom tries again at 20`,
      ),
    );
    await first.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    expect(second.pullRequests()).toEqual([]);

    await stack.forge.mergePullRequest((await first.pullRequest()).number, 'alice');
    await second.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    await stack.forge.mergePullRequest((await second.pullRequest()).number, 'alice');
    for (const quota of both) await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await compute.inGit()).toBe(file.replaceAll('"10"', '"12"'));
  });

  it('that is not found blocks with a Warning that says what would solve it, and the annotation does', async () => {
    const namespace = 'elsewhere';
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, file: null });
    // It names no namespace, and neither does its folder: nobody can tell whose it is.
    await stack.forge.pushCommit({
      files: { 'teams/red/limits/quota.yml': quotaManifest({ hard: { pods: '10' } }) },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const blocked = await quota.reaches('Blocked', 'FileNotFound');
    expect(blocked.detail).toContain('elsewhere/compute');
    expect(blocked.detail).toContain('resizer.io/git-path');
    // Tried again after the retry span, and told once.
    await eventually('it is tried again', async () => {
      const seen = await quota.status();
      return seen.reason === 'FileNotFound' && seen.until !== blocked.until;
    });
    const events = await quota.events('FileNotFound');
    expect(events).toHaveLength(1);
    expect(events[0]).toMatch(/^Warning: .*elsewhere\/compute.*resizer\.io\/git-path/);
    await expectUntouched(quota);

    await quota.annotate({ 'resizer.io/git-path': 'teams/red/limits' });
    // The file names no namespace, so only the annotation says whose it is, and a person merges it.
    const ready = await quota.reaches('AwaitingMerge', 'NotProved');
    expect(ready.detail).toMatch(
      /not proved: nothing but the annotation resizer\.io\/git-path of namespace elsewhere says/,
    );
    const { number } = await quota.pullRequest();
    expect((await quota.shown(number)).body).toContain('**Not proved:**');
    await stack.forge.mergePullRequest(number, 'alice');
    // For the same reason the syncer does not apply it.
    await quota.reaches('AwaitingSync', 'SyncPending');
    await quota.setHard({ pods: '12' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await stack.forge.readFile('main', 'teams/red/limits/quota.yml')).toContain('pods: "12" # see');
    expect(quota.pullRequests()).toHaveLength(1);
  });

  it('that is where no template says is found by a scan of the repository', async () => {
    const namespace = 'scanned';
    const path = 'teams/blue/limits/quota.yml';
    const file = quotaManifest({ namespace, hard: { pods: '10' } });
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, file: null });
    await stack.forge.pushCommit({ files: { [path]: file } });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await stack.forge.readFile('main', path)).toBe(file.replace('"10"', '"12"'));
    const [number = 0] = quota.pullRequests();
    expect((await quota.shown(number)).body).toContain('scan');
  });

  it('that a second file repeats is not guessed at', async () => {
    const namespace = 'twice';
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
    await stack.forge.pushCommit({
      files: { 'managed-resources/test/twice/old/quota.yaml': quotaManifest({ namespace, hard: { pods: '10' } }) },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('Blocked', 'FoundTwice');
    expect(await quota.events('FoundTwice')).toEqual([
      'Warning: acme/gitops at main: ResourceQuota twice/compute is in 2 places: managed-resources/test/twice/compute.yaml:5, managed-resources/test/twice/old/quota.yaml:5; keep one, or name its file or folder with the annotation resizer.io/git-path on the namespace.',
    ]);
    await expectUntouched(quota);

    await quota.annotate({ 'resizer.io/git-path': 'managed-resources/test/twice/compute.yaml' });
    await eventually(
      'the one that was named is changed',
      async () => (await quota.inGit())?.includes('"12"'),
      EPISODE_MS,
    );
    expect(await stack.forge.readFile('main', 'managed-resources/test/twice/old/quota.yaml')).toContain('"10"');
  });

  it('that is not YAML is named with its line', async () => {
    const file = 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute\nspec:\n  hard: {pods: 10}\n';
    const quota = await givenQuota(stack, { namespace: 'broken', hard: { pods: '10' }, file, synced: false });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('Blocked', 'NotYaml');
    expect(await quota.events('NotYaml')).toEqual([
      expect.stringMatching(
        /^Warning: acme\/gitops at main: no readable ResourceQuota broken\/compute: managed-resources\/test\/broken\/compute\.yaml:\d+: /,
      ),
    ]);
    await expectUntouched(quota);
  });

  it('is found beside the templates of a Helm chart', async () => {
    const namespace = 'helm';
    const template =
      'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  hard:\n{{ toYaml .Values.hard | indent 4 }}\n';
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
    await stack.forge.pushCommit({ files: { 'managed-resources/test/helm/templates/quota.yaml': template } });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    expect(await stack.forge.readFile('main', 'managed-resources/test/helm/templates/quota.yaml')).toBe(template);
  });

  it('with a value that others refer to is left to people', async () => {
    const namespace = 'anchor';
    const file = [
      'apiVersion: v1',
      'kind: ResourceQuota',
      'metadata: { name: compute }',
      'spec:',
      '  hard:',
      '    pods: &many "10"',
      '    services: *many',
      '',
    ].join('\n');
    const quota = await givenQuota(stack, { namespace, hard: { services: '10', pods: '10' }, file, synced: false });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('Blocked', 'Unplaceable');
    expect(await quota.events('Unplaceable')).toEqual([
      expect.stringMatching(/^Warning: acme\/gitops at main, managed-resources\/test\/anchor\/compute\.yaml: /),
    ]);
    await expectUntouched(quota);
  });

  it('of another quota whose name begins the same is never taken for it', async () => {
    const namespace = 'prefix';
    const file = quotaManifest({ namespace, quota: 'compute-large', hard: { pods: '10' } });
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, file: null });
    await createQuota(stack, { namespace, quota: 'compute-large', hard: { pods: '50' } });
    await stack.forge.pushCommit({ files: { [quota.path]: file.replace('"10"', '"50"') } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const blocked = await quota.reaches('Blocked', 'FileNotFound');
    expect(blocked.detail).toContain(
      'no file of the 1 there has it, only prefix/compute-large in managed-resources/test/prefix/compute.yaml:5',
    );
    await expectUntouched(quota);
  });
});
