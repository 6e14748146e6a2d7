/** The pull request as people see it, and what they do to it, through the whole product. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untilHeld } from '../kernel/forge/until-held.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { pullRequestChanged } from '../../workflows/quota-resize/messages.ts';
import { askedBy } from '../kernel/stack/asked.ts';
import { EPISODE_MS, givenQuota, type ShownPullRequest, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { reconcile, reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { deniedWhileOptedOut } from './denied.ts';
import { openingOf } from '../kernel/forge/opening.ts';

const UI = 'https://temporal.example.com';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: {
      'README.md': '# acme/gitops\n',
      CODEOWNERS: '/managed-resources/test/owned/ @acme/quota-owners @carol\n',
    },
    forge: {
      checks: 'pass',
      checkDelayMs: 50,
      collaborators: { 'headroom-bot': 'push', alice: 'push', bob: 'push', carol: 'push' },
      teams: { 'quota-owners': { members: ['bob'] } },
    },
    env: {
      ...quickAutoMerge,
      'timings.updateInterval': '1s',
      PULL_REQUEST_LABELS: 'quota,cluster/{{cluster}}',
      TEMPORAL_UI_URL: UI,
    },
  });
  // So that each of them stays open until somebody has looked at it.
  await stack.forge.protectBranch('main', { requiredReviews: 1 });
});
afterAll(async () => await stack?.stop());

interface Seen extends ShownPullRequest {
  readonly labels: readonly { readonly name: string }[];
  readonly requested_reviewers: readonly { readonly login: string }[];
  readonly requested_teams: readonly { readonly slug: string }[];
}

/** Its pull request, once all checks are done and only a review is missing. */
async function reviewable(quota: WatchedQuota): Promise<Seen> {
  await quota.reaches('AwaitingChecks', 'ReviewRequired');
  return (await quota.pullRequest()) as Seen;
}

/** The section of a description below a heading. */
function section(body: string, heading: string): string {
  return body.split(`### ${heading}\n`)[1]?.split('\n### ')[0] ?? '';
}

it('is open after four requests to GitHub, although the folder has more files', SEVERAL_PHASES, async () => {
  const folder = 'managed-resources/test/counted';
  const others = ['limits', 'network', 'roles', 'alerts'].map((name) => [
    `${folder}/${name}.yaml`,
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`,
  ]);
  await stack.forge.pushCommit({ files: Object.fromEntries(others) });
  const quota = await givenQuota(stack, { namespace: 'counted', hard: { pods: '10' } });
  const opening = stack.forge.hold({ ...openingOf('counted'), when: 'after' });
  const before = stack.forge.requests;
  const began = Date.now();
  await quota.deploy('web', 8, { cpu: '10m' });
  await untilHeld(opening, 'the pull request is opened', EPISODE_MS);
  const requests = stack.forge.requests - before;
  // What is known of the base is asked again after ten seconds, and a decision of thirty is not surely new: a machine under
  // load may take as long.
  const expected = Date.now() - began < 10_000 ? [4] : [4, 5, 6];
  opening.release();
  expect(expected).toContain(requests);
  const { labels } = await reviewable(quota);
  expect(
    labels.map(({ name }) => name),
    'with one request more',
  ).toEqual(['quota', 'cluster/test']);
});

it('is read again where the forge told of a change while it was being opened', SEVERAL_PHASES, async () => {
  const quota = await givenQuota(stack, { namespace: 'told-early', hard: { pods: '10' } });
  const opening = stack.forge.hold({ ...openingOf('told-early'), when: 'after' });
  await quota.deploy('web', 8, { cpu: '10m' });
  await untilHeld(opening, 'the pull request is opened', EPISODE_MS);
  const episode = stack.client.workflow.getHandle(quota.workflowId);
  await episode.signal(pullRequestChanged, { cause: 'a test', delivery: '' });
  const asked = async (): Promise<readonly (string | null)[]> =>
    ((await episode.fetchHistory()).events ?? []).map((event) => askedBy(event)).filter((name) => name !== null);
  const before = await asked();
  opening.release();
  await reviewable(quota);
  // The first look is the opening's own, and may be older than the change.
  const after = (await asked()).slice(before.length);
  const watch = after.indexOf('awaitPullRequestChange');
  expect(watch < 0 ? after : after.slice(0, watch)).toContain('observePullRequest');
});

describe.concurrent('a pull request', SEVERAL_PHASES, () => {
  it('says what is raised, why, by which policy, and what people can do', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'shown-in-full',
      hard: { 'requests.cpu': '2' },
      annotations: { 'resizer.io/cooldown-minutes': '15', 'resizer.io/rejection-cooldown': '3h' },
    });
    await quota.annotateQuota({ 'resizer.io/cpu-increment': '10' });
    await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 6, { cpu: '500m' }));
    const { title, body, labels, number, user } = await reviewable(quota);

    expect(title).toMatch(/^Raise quota shown-in-full\/compute: requests\.cpu 2 → \S+$/);
    const to = title.split(' → ')[1];
    expect(user.login).toBe('headroom-bot');
    expect(labels.map(({ name }) => name)).toEqual(['quota', 'cluster/test']);
    expect(body).toContain(
      'Headroom proposes to raise quota `compute` of namespace `shown-in-full` in cluster `test`.',
    );
    expect(body).toContain(
      `| \`requests.cpu\` | \`2\` | \`2\` | **\`${to}\`** | Workloads still need 1 CPU that the quota denied. Usage is 2 of 2 CPU (100 %), and the threshold is 80 %. |`,
    );
    const evidence = section(body, 'Evidence');
    expect(evidence).toMatch(
      /^- ReplicaSet web-\w+ still needs .*1 CPU \(requests\.cpu\) for 2 replicas that the quota denied\. The last denial was at 20/m,
    );
    expect(body).toContain(
      `\n- Quota \`compute\` is in acme/gitops at main, found in \`${quota.path}:5\` by the path template \`managed-resources/{{ .Cluster }}/{{ .Namespace }}\`.`,
    );
    expect(body).not.toContain('What the policy changed');
    expect(body).not.toContain('An approval is needed');

    const next = section(body, 'What happens next');
    expect(next).toContain(
      '- Headroom merges this (squash) when every check has passed and the rules of the base branch are met.\n',
    );
    expect(next).toContain('the cooldown of 15 min');
    expect(next).toContain('Headroom does not ask for these values again for 3 h.');

    expect(body).toContain('| `cpu-increment` | 10 % | an annotation of the quota |');
    expect(body).toContain('| `cooldown-minutes` | 15 | an annotation of the namespace |');
    expect(body).toContain('| `threshold` | 80 % | the installation |');

    const todo = section(body, 'What you can do');
    for (const command of [
      'headroom reject shown-in-full/compute --reason "…"',
      'headroom pause shown-in-full/compute',
      'headroom resume shown-in-full/compute',
      'headroom explain quota-resize shown-in-full/compute',
    ]) {
      expect(todo).toContain(`\`${command}\``);
    }
    expect(todo).not.toContain('headroom approve');
    expect(body).toContain(
      `[\`quota-resize/test/shown-in-full/compute\`](${UI}/namespaces/${stack.temporal.namespace}/workflows/quota-resize%2Ftest%2Fshown-in-full%2Fcompute)`,
    );
    expect(await stack.forge.readFile((await quota.shown(number)).head.ref, quota.path)).toContain(`"${to}" # see`);
  });

  it('says what a maximum made of the requirement', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'capped',
      hard: { pods: '10' },
      annotations: { 'resizer.io/pods-max': '11' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const { title, body } = await reviewable(quota);
    expect(title).toBe('Raise quota capped/compute: pods 10 → 11');
    expect(section(body, 'What the policy changed')).toMatch(
      /^\n- pods is raised only to its maximum of 11 pods \(.*pods-max.*\)\. /,
    );
    expect(body).toMatch(/\| `pods-max` \| 11 \| an annotation of the namespace \|/);
  });

  it('asks for the approval that it needs, with the command that gives it', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'asking',
      hard: { pods: '10' },
      annotations: { 'resizer.io/approval': 'before-merge' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const { body } = await quota.pullRequest();
    expect(body).toContain('**An approval is needed** before Headroom merges this: ');
    expect(body).toContain('| approve this | run `headroom approve asking/compute`,');
  });

  it('asks the people and teams of the annotation to review', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'reviewed',
      hard: { pods: '10' },
      annotations: { 'resizer.io/reviewers': 'alice, acme/quota-owners' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const seen = await reviewable(quota);
    expect(seen.requested_reviewers.map(({ login }) => login)).toEqual(['alice']);
    expect(seen.requested_teams.map(({ slug }) => slug)).toEqual(['quota-owners']);
    expect(seen.body).toContain('| `reviewers` | alice, acme/quota-owners | an annotation of the namespace |');
  });

  it('has the owners of the file as reviewers without being told', async () => {
    const quota = await givenQuota(stack, { namespace: 'owned', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const seen = await reviewable(quota);
    expect(seen.requested_reviewers.map(({ login }) => login)).toEqual(['carol']);
    expect(seen.requested_teams.map(({ slug }) => slug)).toEqual(['quota-owners']);
    expect(quota.writes().filter(({ path }) => path.endsWith('/requested_reviewers'))).toEqual([]);
  });

  it('waits for the review that the branch requires, and is merged when it is given', async () => {
    const quota = await givenQuota(stack, { namespace: 'blocked', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const { number } = await reviewable(quota);
    expect((await quota.status()).detail).toBe(
      `pull request #${number} is blocked by a rule of main: a review or a required check that has not started`,
    );
    await stack.forge.requestChanges(number, 'alice', 'Is this really needed?');
    await reconcileCompletely(quota);
    await quota.reaches('AwaitingMerge', 'ChangesRequested');
    expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(false);

    await stack.forge.approveReview(number, 'alice');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.shown(number)).toMatchObject({ merged: true, commits: 1 });
    expect(await quota.hard()).toEqual({ pods: '12' });
  });

  it('gets a comment when it changes, and none before', async () => {
    const quota = await givenQuota(stack, { namespace: 'quiet-pull', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const { number, head } = await reviewable(quota);
    const writes = quota.writes().length;
    // Everything that wakes an episode without a reason to change anything.
    await stack.forge.reviewComment(number, 'alice', 'Looking.');
    await stack.forge.addLabel(number, 'seen', 'alice');
    for (let round = 0; round < 3; round += 1) await reconcile(quota);
    await reviewable(quota);
    expect(await quota.comments(number)).toEqual([]);
    expect(quota.writes()).toHaveLength(writes);

    await quota.scale('web', 14);
    const rebuilt = await quota.rebuilt({ number, head });
    const comments = await quota.comments(number);
    expect(comments).toEqual([expect.stringMatching(/^Rebuilt on main at [0-9a-f]{7}: /)]);
    expect(rebuilt.title).not.toBe('Raise quota quiet-pull/compute: pods 10 → 12');
    expect(rebuilt.commits).toBe(1);
  });
});
