import { Webhooks } from '@octokit/webhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const SECRET = 'a secret of both sides';

const verify = (secret: string, body: string, signature: string): Promise<boolean> =>
  new Webhooks({ secret }).verify(body, signature);

let fresh: FreshForge;
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { mergeableDelayMs: 0 });
});
// Every payload was checked against GitHub's description by then: a wrong one makes stop() throw.
afterEach(async () => {
  await fresh.stop();
  await receiver.stop();
});

describe('a webhook', () => {
  it('is signed, named and numbered as GitHub does it', async () => {
    await fresh.forge.addHook({ url: receiver.url, secret: SECRET, events: ['push'] });
    const sha = await fresh.forge.pushCommit({ files: { 'a.yaml': '1\n' }, author: 'alice' });
    await fresh.forge.deliveriesSettled();
    expect(receiver.names()).toEqual(['ping', 'push']);
    const [, push] = receiver.received;
    expect(push?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^GitHub-Hookshot\/\w+$/) as string,
      'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      'x-github-hook-installation-target-type': 'repository',
    });
    expect(await verify(SECRET, push?.body ?? '', push?.signature ?? '')).toBe(true);
    expect(await verify('another', push?.body ?? '', push?.signature ?? '')).toBe(false);
    expect(push?.payload).toMatchObject({
      ref: 'refs/heads/main',
      after: sha,
      repository: { full_name: 'acme/gitops' },
      sender: { login: 'alice' },
      commits: [{ id: sha, added: ['a.yaml'], removed: [], modified: [] }],
    });
  });

  it('hears of everything that a pull request goes through, in order', async () => {
    const { forge, client, at } = fresh;
    await forge.addHook({ url: receiver.url, events: ['pull_request', 'pull_request_review', 'issue_comment'] });
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    await forge.pushCommit({ branch: 'one', files: { 'quota.yaml': 'cpu: 3\n' } });
    await client.pulls.update({ ...at, pull_number: number, title: 'Another title' });
    await client.issues.addLabels({ ...at, issue_number: number, labels: ['quota'] });
    await client.pulls.requestReviewers({ ...at, pull_number: number, reviewers: ['alice'] });
    await forge.setDraft(number, true);
    await forge.setDraft(number, false);
    await client.issues.createComment({ ...at, issue_number: number, body: 'Why?' });
    await forge.approveReview(number, 'alice');
    await forge.dismissReview(number, 'alice', 'bob');
    await forge.closePullRequest(number, 'bob');
    await forge.reopenPullRequest(number, 'bob');
    await forge.mergePullRequest(number, 'bob');
    await forge.deliveriesSettled();
    expect(receiver.names()).toEqual([
      'ping',
      'pull_request.opened',
      'pull_request.synchronize',
      'pull_request.edited',
      'pull_request.labeled',
      'pull_request.review_requested',
      'pull_request.converted_to_draft',
      'pull_request.ready_for_review',
      'issue_comment.created',
      'pull_request_review.submitted',
      'pull_request_review.dismissed',
      'pull_request.closed',
      'pull_request.reopened',
      'pull_request.closed',
    ]);
    const closed = receiver.received.filter(({ payload }) => payload?.['action'] === 'closed');
    expect(closed.map(({ payload }) => payload)).toMatchObject([
      { pull_request: { merged: false }, sender: { login: 'bob' } },
      { pull_request: { merged: true, state: 'closed', merged_by: { login: 'bob' } } },
    ]);
    expect(receiver.received[3]?.payload?.['changes']).toEqual({ title: { from: 'Change quota.yaml' } });
  });

  it('hears of check runs, of the suite once all have ended, and of statuses', async () => {
    const { forge, client, at } = fresh;
    const { headSha } = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    await forge.addHook({ url: receiver.url, events: ['check_run', 'check_suite', 'status'] });
    await forge.setCheckRun({ sha: headSha, name: 'ci', status: 'in_progress' });
    await client.checks.create({ ...at, head_sha: headSha, name: 'lint', conclusion: 'success' });
    await forge.setCheckRun({ sha: headSha, name: 'ci', status: 'completed', conclusion: 'failure' });
    await forge.setStatus({ sha: headSha, context: 'old-ci', state: 'success' });
    await forge.deliveriesSettled();
    expect(receiver.names()).toEqual([
      'ping',
      'check_run.created',
      'check_run.created',
      'check_run.completed',
      'check_run.completed',
      'check_suite.completed',
      'status',
    ]);
    expect(receiver.received.at(-2)?.payload).toMatchObject({
      check_suite: { head_sha: headSha, conclusion: 'failure', pull_requests: [{ number: 1 }] },
    });
  });

  it('hears of branches that are made, forced and deleted', async () => {
    const { forge } = fresh;
    await forge.addHook({ url: receiver.url, events: ['push'] });
    await forge.pushCommit({ branch: 'one', files: { 'a.yaml': '1\n' } });
    await forge.pushCommit({ branch: 'one', files: { 'a.yaml': '2\n' }, force: true });
    await forge.deleteBranch('one');
    await forge.deliveriesSettled();
    expect(receiver.received.slice(1).map(({ payload }) => payload)).toMatchObject([
      { created: true, forced: false, deleted: false, before: '0'.repeat(40) },
      { created: false, forced: true, deleted: false },
      { created: false, forced: false, deleted: true, after: '0'.repeat(40), head_commit: null },
    ]);
  });

  it('that fails is not tried again until somebody redelivers it, under the same GUID', async () => {
    const { forge, client, at } = fresh;
    const hook = await forge.addHook({ url: receiver.url, secret: SECRET });
    await forge.deliveriesSettled();
    receiver.answer(503);
    await forge.pushCommit({ files: { 'a.yaml': '1\n' } });
    await forge.deliveriesSettled();
    const failed = forge.deliveries(hook).at(-1);
    expect(failed).toMatchObject({ event: 'push', status: 'Invalid HTTP Response: 503', statusCode: 503 });
    expect(receiver.received).toHaveLength(2);

    receiver.answer(202);
    const again = await forge.redeliver(failed?.id ?? 0);
    expect(again).toMatchObject({ guid: failed?.guid, redelivery: true, status: 'OK', statusCode: 202 });
    expect(receiver.received[2]?.body).toBe(receiver.received[1]?.body);
    const { data: listed } = await client.repos.listWebhookDeliveries({ ...at, hook_id: hook });
    expect(listed.map(({ event, status_code, redelivery }) => [event, status_code, redelivery])).toEqual([
      ['push', 202, true],
      ['push', 503, false],
      ['ping', 200, false],
    ]);
  });

  it('that nobody answers holds up neither the API nor the forge’s end', async () => {
    await fresh.stop();
    // Longer than the test: what is under way stays so until the end.
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { webhookTimeoutMs: 600_000 });
    const { forge, client, at } = fresh;
    await forge.addHook({ url: receiver.url });
    await forge.deliveriesSettled();
    receiver.answer('never');
    await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    expect((await client.pulls.list(at)).data).toHaveLength(1);
    expect(forge.deliveries().map(({ event }) => event)).toEqual(['ping']);
  });

  it.each([
    { what: 'takes too long', url: () => receiver.url, webhookTimeoutMs: 100, status: 'timed out' },
    // However late the refusal is noticed, it comes before the time is up.
    {
      what: 'is not there',
      url: () => 'http://127.0.0.1:1/',
      webhookTimeoutMs: 600_000,
      status: 'failed to connect to host',
    },
  ])('that $what is a failed delivery', async ({ url, webhookTimeoutMs, status }) => {
    await fresh.stop();
    fresh = await startFreshForge({ 'a.yaml': '1\n' }, { webhookTimeoutMs });
    const { forge } = fresh;
    receiver.answer('never');
    await forge.addHook({ url: url() });
    await forge.deliveriesSettled();
    expect(forge.deliveries().map((delivery) => [delivery.status, delivery.statusCode])).toEqual([[status, 0]]);
  });

  it('misses what happens while it is not active', async () => {
    const { forge } = fresh;
    const hook = await forge.addHook({ url: receiver.url, events: ['push'] });
    await forge.changeHook(hook, { active: false });
    await forge.pushCommit({ files: { 'a.yaml': '1\n' } });
    await forge.changeHook(hook, { active: true });
    await forge.pushCommit({ files: { 'a.yaml': '2\n' } });
    await forge.deliveriesSettled();
    expect(receiver.names()).toEqual(['ping', 'push']);
  });

  it('may get its payload as a form', async () => {
    const { forge } = fresh;
    await forge.addHook({ url: receiver.url, secret: SECRET, contentType: 'form' });
    await forge.deliveriesSettled();
    const [ping] = receiver.received;
    expect(JSON.parse(new URLSearchParams(ping?.body).get('payload') ?? '')).toHaveProperty('zen');
    expect(await verify(SECRET, ping?.body ?? '', ping?.signature ?? '')).toBe(true);
  });
});

describe('the endpoints of webhooks', () => {
  it('make, show, change, ping and delete a hook, without ever showing its secret', async () => {
    const { client, at, forge } = fresh;
    const config = { url: receiver.url, content_type: 'json', secret: SECRET };
    const made = await client.repos.createWebhook({ ...at, config, events: ['pull_request'] });
    expect(made.data.config).toMatchObject({ url: receiver.url, secret: '********' });
    const hook = { ...at, hook_id: made.data.id };
    expect(await refusal(client.repos.createWebhook({ ...at, config, events: ['pull_request'] }))).toMatchObject({
      status: 422,
      errors: [{ message: 'Hook already exists on this repository' }],
    });
    await client.repos.updateWebhook({ ...hook, add_events: ['push'], config: { ...config, secret: '********' } });
    expect((await client.repos.listWebhooks(at)).data.map(({ events }) => events)).toEqual([['pull_request', 'push']]);
    await client.repos.pingWebhook(hook);
    await forge.deliveriesSettled();
    expect(receiver.names()).toEqual(['ping', 'ping']);
    const [, second] = receiver.received;
    expect(await verify(SECRET, second?.body ?? '', second?.signature ?? '')).toBe(true);
    expect((await client.repos.getWebhook(hook)).data.last_response).toMatchObject({ code: 200, status: 'active' });

    const deliveries = await client.repos.listWebhookDeliveries({ ...hook, per_page: 1 });
    expect(deliveries.headers.link).toContain('rel="next"');
    const delivery_id = deliveries.data[0]?.id ?? 0;
    const whole = await client.repos.getWebhookDelivery({ ...hook, delivery_id });
    expect(whole.data).toMatchObject({
      request: { payload: { hook_id: made.data.id } },
      response: { payload: 'taken' },
    });
    await client.repos.redeliverWebhookDelivery({ ...hook, delivery_id });
    await forge.deliveriesSettled();
    expect(receiver.received[2]?.guid).toBe(second?.guid);

    await client.repos.deleteWebhook(hook);
    expect(await refusal(client.repos.getWebhook(hook))).toMatchObject({ status: 404 });
  });
});
