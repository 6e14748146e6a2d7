import { describe, expect, it } from 'vitest';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import { createReceiver, type ReceiverOptions } from '../../../../starter/quota-resize/webhooks/receive.ts';
import { SeenDeliveries } from '../../../../starter/quota-resize/webhooks/seen-deliveries.ts';
import { bodyOf, NOW, payloads, SECRET, signed } from './payloads.ts';

const target: QuotaTarget = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };

/** A receiver for which every event is about one quota, and the reconcile requests that it made. */
function receiver(options: Partial<ReceiverOptions> = {}) {
  const requests: string[] = [];
  const receive = createReceiver({
    cluster: 'prod',
    secrets: () => [SECRET],
    find: () => [{ target, isFileChanged: false }],
    request: ({ coalescingKey, cause, starts }) =>
      requests.push(`${coalescingKey}: ${cause}${starts ? ', starting' : ''}`),
    now: () => NOW,
    ...options,
  });
  return { receive, requests };
}

describe('a webhook', () => {
  it('that GitHub signed wakes the workflow of the pull request, and starts none', async () => {
    const { receive, requests } = receiver();
    expect(await receive(await signed('pull_request', payloads.pull_request()))).toMatchObject({
      status: 202,
      outcome: 'requested',
    });
    expect(requests).toEqual(['quota-resize/prod/team-a/compute (pull request): GitHub: pull_request']);
  });

  it('about one that was reopened asks for a search too, because no Lease may know it any more', async () => {
    const { receive, requests } = receiver({ find: () => [] });
    for (const action of ['reopened', 'opened', 'closed']) {
      const delivery = await signed('pull_request', { ...payloads.pull_request(), action });
      expect(await receive(delivery)).toMatchObject({ outcome: 'unmatched' });
    }
    expect(requests).toEqual(['orphan-search/prod: GitHub: pull_request, starting']);
  });

  it('without a signature, or with one of another secret or body, has no effect', async () => {
    const { receive, requests } = receiver();
    const good = await signed('pull_request', payloads.pull_request());
    const forged = [
      { ...good, signature: '' },
      { ...good, signature: 'sha256=' },
      { ...good, signature: good.signature.replace('sha256=', 'sha1=') },
      { ...good, ...bodyOf(Buffer.concat([...good.body, Buffer.from(' ')])) },
      { ...good, ...bodyOf(Buffer.alloc(0)) },
      { ...good, length: good.length - 1 },
      { ...good, length: good.length + 1 },
      await signed('pull_request', payloads.pull_request(), { secret: 'another secret' }),
    ];
    for (const delivery of forged) {
      expect(await receive(delivery)).toMatchObject({ status: 401, outcome: 'unsigned' });
    }
    expect(requests).toEqual([]);
    expect(await receive(good), 'what failed before does not count as seen').toMatchObject({ status: 202 });
  });

  it('whose connection ends before its body does has no effect', async () => {
    const { receive, requests } = receiver();
    const good = await signed('pull_request', payloads.pull_request());
    async function* cut(): AsyncGenerator<Buffer> {
      yield* good.body.slice(0, 1);
      throw new Error('aborted');
    }
    expect(await receive({ ...good, body: cut() })).toMatchObject({ status: 400, outcome: 'malformed' });
    expect(requests).toEqual([]);
  });

  it('may be signed with the old secret or the new one while it is being replaced', async () => {
    let secrets = ['old secret', 'new secret'];
    const { receive } = receiver({ secrets: () => secrets });
    const status = async (secret: string, number: number) =>
      (await receive(await signed('pull_request', payloads.pull_request(number), { secret }))).status;
    expect([await status('old secret', 1), await status('new secret', 2)]).toEqual([202, 202]);
    secrets = ['new secret'];
    expect([await status('old secret', 3), await status('new secret', 4)]).toEqual([401, 202]);
  });

  it('has an effect once, also under another delivery id, which nobody signed', async () => {
    const { receive, requests } = receiver();
    const delivery = await signed('pull_request', payloads.pull_request());
    await receive(delivery);
    expect(await receive(delivery)).toMatchObject({ status: 409, outcome: 'replayed' });
    expect(await receive({ ...delivery, id: crypto.randomUUID() })).toMatchObject({ status: 409, outcome: 'replayed' });
    expect(requests).toHaveLength(1);
  });

  it('that is older than an hour is refused, by the newest time of its payload', async () => {
    const { receive, requests } = receiver();
    const at = (ms: number) => new Date(NOW - ms).toISOString();
    const old = await receive(await signed('pull_request', payloads.pull_request(7, at(3_601_000))));
    expect(old).toMatchObject({ status: 410, outcome: 'stale', message: expect.stringContaining('60 min old') });
    expect(requests).toEqual([]);
    expect(await receive(await signed('pull_request', payloads.pull_request(7, at(3_599_000))))).toMatchObject({
      status: 202,
    });
    const run = payloads.check_run({ started_at: at(7_200_000), completed_at: at(1000) });
    expect(await receive(await signed('check_run', run)), 'a check that ran for two hours').toMatchObject({
      status: 202,
    });
    expect(await receive(await signed('push', payloads.push()))).toMatchObject({ status: 202 });
    const pushed = { ...payloads.push(), repository: { full_name: 'acme/gitops', pushed_at: NOW / 1000 - 3_601 } };
    expect(await receive(await signed('push', pushed))).toMatchObject({ status: 410 });
  });

  it('of an unknown kind is taken and ignored, and one that is not as GitHub describes it is refused', async () => {
    const { receive, requests } = receiver();
    expect(await receive(await signed('ping', { zen: 'Keep it logically awesome.' }))).toMatchObject({
      status: 202,
      outcome: 'ignored',
    });
    expect(await receive(await signed('constructor', {}))).toMatchObject({ status: 202, outcome: 'ignored' });
    const wrong = [{}, [], 'text', { repository: { full_name: 'acme/gitops' }, pull_request: { number: 'seven' } }];
    for (const payload of wrong) {
      expect(await receive(await signed('pull_request', payload))).toMatchObject({ status: 400, outcome: 'malformed' });
    }
    expect(requests).toEqual([]);
  });

  it('that comes before the Leases are known is refused and may be sent again', async () => {
    let existing: ReturnType<ReceiverOptions['find']> = null;
    const { receive, requests } = receiver({ find: () => existing });
    const delivery = await signed('pull_request', payloads.pull_request());
    expect(await receive(delivery)).toMatchObject({ status: 503, outcome: 'not-ready' });
    existing = [{ target, isFileChanged: false }];
    expect(await receive(delivery)).toMatchObject({ status: 202, outcome: 'requested' });
    expect(requests).toHaveLength(1);
  });
});

describe('a push to a base branch', () => {
  it('is looked at once in some minutes, and at once where it changed the file of the pull request', async () => {
    const gaps: (number | undefined)[] = [];
    const request: ReceiverOptions['request'] = ({ gapMs }) => gaps.push(gapMs);
    const isFileChanged = [false, true];
    const { receive } = receiver({
      request,
      find: () => [{ target, isFileChanged: isFileChanged.shift() === true }],
    });
    await receive(await signed('push', payloads.push('main')));
    await receive(await signed('push', payloads.push('main', ['quota.yaml'])));
    expect(gaps).toEqual([expect.any(Number), undefined]);
  });
});

describe('the memory of deliveries', () => {
  it('is a day and so many long', () => {
    const seen = new SeenDeliveries(3);
    expect(['a', 'b', 'a'].map((id) => seen.add(id, NOW))).toEqual([true, true, false]);
    expect(seen.add('a', NOW + 86_400_001), 'a day later').toBe(true);
    for (const id of ['c', 'd', 'e']) seen.add(id, NOW + 86_400_002);
    expect(seen.add('a', NOW + 86_400_003), 'three later').toBe(true);
    expect(seen.add('e', NOW + 86_400_003)).toBe(false);
  });
});
